import { type ApiDocument, bodyExampleOf, entriesOf, exampleValues, targetOf } from './document.ts'

/** Collections of requests, for tools that send them by hand: made from the OpenAPI document, with its examples. */

interface CollectionRequest {
  name: string
  folder: string
  method: string
  /** The path, with the examples of its parameters. */
  path: string
  query: [name: string, example: string][]
  headers: [name: string, example: string][]
  body: string | undefined
  statuses: number[]
  isPublic: boolean
}

/** The tool keeps the tokens of its response as variables. */
const givesTokens = ({ path }: CollectionRequest): boolean => path === '/auth/login' || path === '/auth/refresh'

/** All operations by their tags but those of the control API, which work on the sandbox and not with the API. */
const foldersOf = (document: ApiDocument): Map<string, CollectionRequest[]> => {
  const requests = entriesOf(document)
    .filter(({ path }) => !path.startsWith('/_sandbox') && path !== '/')
    .map((entry): CollectionRequest => {
      const { method, operation } = entry
      const examples = (place: string): [string, string][] =>
        operation.parameters
          .filter((each) => each.in === place)
          .map(({ name, example }) => [name, String(example ?? '')])
      const body = bodyExampleOf(operation)
      return {
        name: operation.summary,
        folder: operation.tags[0] ?? 'API',
        method,
        path: targetOf(entry, exampleValues(entry)),
        query: examples('query'),
        headers: examples('header').filter(([name]) => !name.startsWith('X-Sandbox-')),
        body: body === undefined ? undefined : JSON.stringify(withVariables(body), null, 2),
        statuses: Object.keys(operation.responses).map(Number),
        isPublic: operation.security.length === 0,
      }
    })
    // Everything else needs the token of a login.
    .sort((a, b) => Number(givesTokens(b)) - Number(givesTokens(a)))
  return Map.groupBy(requests, ({ folder }) => folder)
}

/** The example of a refresh token belongs to no login. */
const withVariables = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'refresh_token' in body ? { refresh_token: '{{refresh_token}}' } : body

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** A Postman collection, format 2.1. Optional parameters are there, and switched off. */
export const postmanCollection = (document: ApiDocument, baseUrl: string): object => {
  return {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: baseUrl },
      { key: 'token', value: '' },
      { key: 'refresh_token', value: '' },
    ],
    item: [...foldersOf(document)].map(([name, requests]) => ({ name, item: requests.map(itemOf) })),
  }
}

const itemOf = (request: CollectionRequest) => {
  const { name, method, path, query, headers, body, isPublic } = request
  const off = ([key, value]: [string, string]) => ({ key, value, disabled: true })
  return {
    name,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: testOf(request) } }],
    request: {
      method,
      ...(isPublic && { auth: { type: 'noauth' } }),
      header: [
        ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
        ...headers.map(off),
      ],
      url: {
        raw: `{{base_url}}${path}`,
        host: ['{{base_url}}'],
        path: path.split('/').slice(1),
        query: query.map(off),
      },
      ...(body !== undefined && { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
    },
  }
}

const testOf = (request: CollectionRequest): string[] => [
  `pm.test('the status is documented', () => pm.expect(${JSON.stringify(request.statuses)}).to.include(pm.response.code))`,
  ...(givesTokens(request)
    ? [
        "pm.collectionVariables.set('token', pm.response.json().access_token)",
        "pm.collectionVariables.set('refresh_token', pm.response.json().refresh_token)",
      ]
    : []),
]

/** The files of a Bruno collection by their paths. Optional parameters are there, and switched off. */
export const brunoCollection = (document: ApiDocument, baseUrl: string): Record<string, string> => {
  const files = [...foldersOf(document)].flatMap(([folder, requests], index) => [
    [`${folder}/folder.bru`, block('meta', [`name: ${folder}`, `seq: ${index + 1}`])],
    ...requests.map((request, at) => [`${folder}/${fileName(request.name)}.bru`, requestFile(request, at + 1)]),
  ])
  return {
    'bruno.json': `${JSON.stringify({ version: '1', name: document.info.title, type: 'collection' }, null, 2)}\n`,
    'environments/local.bru': block('vars', [`base_url: ${baseUrl}`]),
    ...Object.fromEntries(files),
  }
}

/** Names of files hold no characters that a system refuses. */
const fileName = (name: string): string => name.replaceAll(/[^\w ,-]+/g, ' ').trim()

const block = (name: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${name} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}\n`

const off = ([name, value]: [string, string]): string => `~${name}: ${value}`

const requestFile = (request: CollectionRequest, seq: number): string => {
  const { name, method, path, query, headers, body, statuses, isPublic } = request
  const blocks = [
    block('meta', [`name: ${name}`, 'type: http', `seq: ${seq}`]),
    block(method.toLowerCase(), [
      `url: {{base_url}}${path}`,
      `body: ${body === undefined ? 'none' : 'json'}`,
      `auth: ${isPublic ? 'none' : 'bearer'}`,
    ]),
    block('params:query', query.map(off)),
    block('headers', headers.map(off)),
    isPublic ? '' : block('auth:bearer', ['token: {{token}}']),
    body === undefined ? '' : block('body:json', body.split('\n')),
    givesTokens(request)
      ? block('script:post-response', [
          "bru.setVar('token', res.body.access_token)",
          "bru.setVar('refresh_token', res.body.refresh_token)",
        ])
      : '',
    block('tests', [
      `test('the status is documented', () => expect(${JSON.stringify(statuses)}).to.include(res.status))`,
    ]),
  ]
  return blocks.filter((text) => text !== '').join('\n')
}
