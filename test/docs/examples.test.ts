import { afterAll, expect, test } from 'bun:test'
import { startServer } from '../harness.ts'
import { operationsOf, readDocument, type Served } from './document.ts'

/**
 * Tools make requests from the document: each operation with the examples of its path, parameters and body. In the order of
 * the document, on a new sandbox, they succeed.
 */

const server = await startServer('--rate-limit', 'off')
afterAll(() => server.stop())

/** Records that clients create have random ids, which no document can name. */
const MADE_UP_ID = /(?:\/|after=)(?:ben|pyt|evt|whk)_/
/** The results of the earlier operations. */
const LATER: Record<string, number> = {
  // No token is issued twice.
  refresh: 401,
  // The order of the example is delivered at once.
  cancelOrder: 400,
  deliverOrder: 404,
  failOrder: 404,
  refundOrder: 404,
  // After a reset, and a removal.
  restoreSnapshot: 404,
  removeFault: 404,
}

const logIn = async (): Promise<string> => {
  const body = '{"username":"sandbox","password":"sandbox"}'
  const response = await server.request('/auth/login', { method: 'POST', body })
  return ((await response.json()) as { access_token: string }).access_token
}

const requestOf = ({ method, path, parameters, requestBody }: Served, token: string) => {
  const query = parameters.filter((one) => one.in === 'query')
  const target = parameters
    .filter((one) => one.in === 'path')
    .reduce((filled, { name, example }) => filled.replace(`{${name}}`, encodeURIComponent(String(example))), path)
  const headers = {
    ...Object.fromEntries(parameters.filter((one) => one.in === 'header').map((one) => [one.name, `${one.example}`])),
    authorization: `Bearer ${token}`,
  }
  const body = requestBody?.content['application/json']?.example
  const sent = query
    .filter(({ example }) => example !== undefined)
    .map((one): [string, string] => [one.name, `${one.example}`])
  return {
    target: `${target}?${new URLSearchParams(sent)}`,
    init: { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) },
  }
}

test('every operation succeeds with the examples of its path, its parameters and its body', async () => {
  const operations = operationsOf(await readDocument(server))
  const refused: Record<string, number> = {}
  let token = await logIn()
  for (const operation of operations) {
    const { target, init } = requestOf(operation, token)
    const response = await server.request(target, init)
    await response.body?.cancel()
    if (MADE_UP_ID.test(target)) expect({ target, status: response.status }).toEqual({ target, status: 404 })
    else if (response.status >= 300) refused[operation.operationId] = response.status
    if (/\/(?:logout|reset)$/.test(operation.path)) token = await logIn()
  }
  expect(refused).toEqual(LATER)
})
