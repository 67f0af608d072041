import type { ApiDocument } from '../document.ts'
import { type CollectionRequest, givesTokens, requestsOf } from './requests.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** A Postman collection, format 2.1. Optional parameters are there, and switched off. */
export const postmanCollection = (document: ApiDocument, baseUrl: string): object => {
  const requests = requestsOf(document)
  const folders = [...new Set(requests.map(({ folder }) => folder))]
  return {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: baseUrl },
      { key: 'token', value: '' },
      { key: 'refresh_token', value: '' },
    ],
    item: folders.map((name) => ({
      name,
      item: requests.filter(({ folder }) => folder === name).map(itemOf),
    })),
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
