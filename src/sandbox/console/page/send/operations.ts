import { bodyExampleOf, type Entry, entriesOf, type Parameter } from '../../../../docs/document.ts'
import { withoutReferences } from '../../../../docs/references.ts'

/** The operations of the API, as its document describes them. */

export interface Operation {
  id: string
  method: string
  path: string
  summary: string
  tag: string
  parameters: Parameter[]
  /** An example of the body, as text. */
  body: string | undefined
}

let reading: Promise<Operation[]> | undefined

export const readOperations = (): Promise<Operation[]> => {
  reading ??= fetch('/openapi.json', { headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .then((served: object) => entriesOf(withoutReferences(served)).flatMap(operationOf))
  return reading
}

const operationOf = ({ method, path, operation }: Entry): Operation[] => {
  if (!path.startsWith('/api/')) return []
  const { operationId, summary, tags, parameters } = operation
  const example = bodyExampleOf(operation)
  return [
    {
      id: operationId,
      method,
      path,
      summary,
      tag: tags[0] ?? '',
      // Faults have their own page.
      parameters: parameters.filter(({ name }) => !name.startsWith('X-Sandbox-')),
      body: example === undefined ? undefined : exampleOf(example),
    },
  ]
}

/** Without the optional name of an order, which would make a second request a duplicate. */
const exampleOf = (example: unknown): string =>
  JSON.stringify(example, (name, value) => (name === 'client_reference' ? undefined : value), 2)

/** The request to send, with its values filled in. */
export interface FilledRequest {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

export const requestOf = (
  { method, path, parameters }: Operation,
  values: Record<string, string>,
  body: string | undefined,
): FilledRequest => {
  const filled = parameters.filter(({ name }) => (values[name] ?? '') !== '')
  const target = filled
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name }) => text.replace(`{${name}}`, encodeURIComponent(values[name] ?? '')), path)
  const named = (place: Parameter['in']): [string, string][] =>
    filled.filter((parameter) => parameter.in === place).map(({ name }) => [name, values[name] ?? ''])
  const query = new URLSearchParams(named('query')).toString()
  return {
    method,
    path: target + (query === '' ? '' : `?${query}`),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(named('header')),
    },
    ...(body !== undefined && { body }),
  }
}

/** A path parameter needs a value; others are left out unless somebody fills them in. */
export const firstValues = ({ parameters }: Operation): Record<string, string> =>
  Object.fromEntries(
    parameters.filter((parameter) => parameter.in === 'path').map(({ name, example }) => [name, String(example ?? '')]),
  )

/** The values with which an operation sends a request that is in the log. */
export const valuesIn = ({ path, parameters }: Operation, target: string): Record<string, string> | undefined => {
  const [base = '', search = ''] = target.split(/\?(.*)/s)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const match = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(base)
  if (!match) return undefined
  const known = new Set(parameters.map(({ name }) => name))
  return {
    ...Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')])),
    ...Object.fromEntries([...new URLSearchParams(search)].filter(([name]) => known.has(name))),
  }
}
