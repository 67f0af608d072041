import type { ApiDocument } from '../document.ts'
import { type CollectionRequest, givesTokens, requestsOf } from './requests.ts'

/** The files of a Bruno collection by their paths. Optional parameters are there, and switched off. */
export const brunoCollection = (document: ApiDocument, baseUrl: string): Record<string, string> => {
  const requests = requestsOf(document)
  const folders = [...new Set(requests.map(({ folder }) => folder))]
  return {
    'bruno.json': `${JSON.stringify({ version: '1', name: document.info.title, type: 'collection' }, null, 2)}\n`,
    'environments/local.bru': block('vars', [`base_url: ${baseUrl}`]),
    ...Object.fromEntries(
      folders.map((name, index) => [`${name}/folder.bru`, block('meta', [`name: ${name}`, `seq: ${index + 1}`])]),
    ),
    ...Object.fromEntries(
      requests.map((request, index) => [
        `${request.folder}/${fileName(request.name)}.bru`,
        requestFile(request, index + 1),
      ]),
    ),
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
