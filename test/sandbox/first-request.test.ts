import { describe, expect, test } from 'bun:test'
import { operationsOf, readDocument, type Served } from '../docs/document.ts'
import { againstBinary, type Server, startServer } from '../harness.ts'
import { loggedIn } from '../sessions/requests.ts'

/** The control API is asked first, before anything of the API was read. */

interface Asked {
  method: string
  path: string
  body?: unknown
}

const document = await (async () => {
  await using server = await startServer()
  return operationsOf(await readDocument(server))
})()

/** Where the example of the document changes what is read. */
const HARMLESS: Record<string, object> = {
  'POST /_sandbox/faults': { delay_ms: 1, times: 1 },
  'PATCH /_sandbox/products/{id}': { max_quantity: 9 },
  'PATCH /_sandbox/clients/{id}': { max_quantity: 9 },
}

/** As the document shows an operation. An open feed would not end, and an id of a record leads nowhere. */
const exampleOf = ({ method, path, parameters, requestBody }: Served): Asked => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example ?? 1),
  )
  return {
    method,
    path: path === '/_sandbox/feed' ? `${filled}?world=nowhere` : filled,
    body: HARMLESS[`${method} ${path}`] ?? requestBody?.content['application/json']?.example,
  }
}

const ask = async (server: Server, { method, path, body }: Asked, headers = {}): Promise<number> => {
  const response = await server.request(path, { method, headers, ...(body != null && { body: JSON.stringify(body) }) })
  await response.arrayBuffer()
  return response.status
}

/** What an operation needs to be more than a 404. */
const preparing = ({ path }: Asked): Asked[] => {
  const [, kept] = /^(\/_sandbox\/(?:snapshots|worlds)\/[^/]+)/.exec(path) ?? []
  return kept === undefined ? [] : [{ method: 'PUT', path: kept }]
}

/** Every operation of the API that reads, and the prices, which are made of all that is shared. */
const READS: Asked[] = [
  { method: 'GET', path: '/' },
  ...document
    .filter(({ method, path }) => method === 'GET' && !path.startsWith('/_sandbox') && !path.includes('{'))
    .map(exampleOf),
  ...['products/1', 'categories/1', 'subcategories/1', 'countries/105', 'wallets/1', 'transactions/1'].map((path) => ({
    method: 'GET',
    path: `/api/v1/${path}`,
  })),
  ...['availability', 'discount', 'charges'].map((price) => ({
    method: 'POST',
    path: `/api/v1/products/1/${price}`,
    body: { denomination: 100, ...(price !== 'discount' && { quantity: 1 }) },
  })),
]

const FIRST = document
  .filter(({ path }) => path.startsWith('/_sandbox'))
  .map(exampleOf)
  // The executable is started for those that make or replace a world.
  .filter(
    ({ method, path }) =>
      !againstBinary || /reset|restore|^(?:PUT|DELETE) .*(?:worlds|scenario)/.test(`${method} ${path}`),
  )

describe('Every read works if the first request of a server was', () => {
  test.each(FIRST.map((first) => [`${first.method} ${first.path}`, first] as const))('%s', async (_, first) => {
    await using server = await startServer()
    for (const asked of [...preparing(first), first]) expect(await ask(server, asked)).toBeLessThan(500)
    const { access_token } = await loggedIn(server, 'sandbox', 'sandbox')
    for (const read of READS) {
      const status = await ask(server, read, { authorization: `Bearer ${access_token}` })
      expect([read.path, status]).toEqual([read.path, 200])
    }
  })
})
