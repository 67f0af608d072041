import { type ApiDocument, bodyExampleOf, entriesOf } from '../document.ts'

/** The requests of a collection, for tools that send them by hand: made from the OpenAPI document, with its examples. */

export interface CollectionRequest {
  name: string
  folder: string
  method: string
  /** With the examples of its parameters. */
  path: string
  query: [name: string, example: string][]
  headers: [name: string, example: string][]
  body: string | undefined
  statuses: number[]
  isPublic: boolean
}

/** Variables that the tool keeps from one request to the next. */
const TOKEN_PATHS = ['/auth/login', '/auth/refresh']
const LOGOUT = { path: '/auth/logout', folder: 'Log out' }

export const givesTokens = ({ path }: CollectionRequest): boolean => TOKEN_PATHS.includes(path)

/** Everything else needs the token of a login, and a logout ends it. */
const orderOf = ({ path }: CollectionRequest): number => {
  const place = TOKEN_PATHS.indexOf(path)
  return place !== -1 ? place : path === LOGOUT.path ? Number.POSITIVE_INFINITY : TOKEN_PATHS.length
}

/** All operations but those of the control API, which work on the sandbox and not with the API. */
export const requestsOf = (document: ApiDocument): CollectionRequest[] =>
  entriesOf(document)
    .filter(({ path }) => !path.startsWith('/_sandbox') && path !== '/')
    .map(({ method, path, operation }): CollectionRequest => {
      const parameters = operation.parameters
      const examples = (place: string): [string, string][] =>
        parameters.filter((each) => each.in === place).map(({ name, example }) => [name, String(example ?? '')])
      const body = bodyExampleOf(operation)
      return {
        name: operation.summary,
        folder: path === LOGOUT.path ? LOGOUT.folder : (operation.tags[0] ?? 'API'),
        method,
        path: examples('path').reduce((text, [name, example]) => text.replace(`{${name}}`, example), path),
        query: examples('query'),
        headers: examples('header').filter(([name]) => !name.startsWith('X-Sandbox-')),
        body: body === undefined ? undefined : JSON.stringify(withVariables(body), null, 2),
        statuses: Object.keys(operation.responses).map(Number),
        isPublic: operation.security.length === 0,
      }
    })
    .sort((a, b) => (orderOf(a) === orderOf(b) ? 0 : orderOf(a) - orderOf(b)))

/** The example of a refresh token is nobody's. */
const withVariables = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'refresh_token' in body ? { refresh_token: '{{refresh_token}}' } : body
