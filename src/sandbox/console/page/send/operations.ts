import { type ApiDocument, bodyExampleOf, type Entry, entriesOf, targetOf } from '../../../../docs/document.ts'

/** The operations of the API, as its document describes them, and the requests made from them. */

let reading: Promise<Entry[]> | undefined

export const readOperations = (): Promise<Entry[]> => {
  reading ??= fetch('/openapi.json', { headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .then((document: ApiDocument) => entriesOf(document).filter(({ path }) => path.startsWith('/api/')))
  return reading
}

/** The example of a body, without the optional name of an order, which would make a second request a duplicate. */
export const exampleOf = ({ operation }: Entry): string | undefined =>
  JSON.stringify(bodyExampleOf(operation), (name, value) => (name === 'client_reference' ? undefined : value), 2)

/** The request to send, with its values filled in. */
interface FilledRequest {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

export const requestOf = (entry: Entry, values: Record<string, string>, body: string | undefined): FilledRequest => {
  const headers = entry.operation.parameters.filter(({ in: place, name }) => place === 'header' && values[name])
  return {
    method: entry.method,
    path: targetOf(entry, values),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(headers.map(({ name }) => [name, values[name] ?? ''])),
    },
    ...(body !== undefined && { body }),
  }
}

/** The values with which an operation sends a request that is in the log. */
export const valuesIn = (path: string, target: string): Record<string, string> | undefined => {
  const [base = '', search = ''] = target.split(/\?(.*)/s)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const match = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(base)
  if (!match) return undefined
  return {
    ...Object.fromEntries(new URLSearchParams(search)),
    ...Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')])),
  }
}
