import { describe, expect, test } from 'bun:test'
import { whileServing } from '../../src/replication/while-serving.ts'

/** The server chooses the response when its lease has run out since the request began (contract C4, C18). */

const responseOf = async (method: string, path: string, status: number): Promise<number> => {
  const server = { isServing: true, state: 'active' }
  const app = async () => {
    server.isServing = false
    return new Response(null, { status })
  }
  const respond = whileServing(server, app, () => 'req_1')
  return (await respond(new Request(`http://one${path}`, { method }))).status
}

describe('when the lease runs out during a request', () => {
  test.each([
    ['POST', '/api/v1/payouts', 201, 201],
    ['POST', '/api/v1/orders', 200, 200],
    ['DELETE', '/api/v1/beneficiaries/ben_1', 204, 204],
    ['PATCH', '/api/v1/webhooks/whk_1', 200, 200],
    ['POST', '/auth/login', 200, 200],
    ['POST', '/api/v1/payouts', 500, 500],
    ['POST', '/api/v1/payouts', 400, 503],
    ['GET', '/api/v1/payouts', 200, 503],
    ['HEAD', '/api/v1/payouts', 200, 503],
    ['GET', '/api/v1/payouts', 500, 503],
    ['POST', '/api/v1/products/1/charges', 200, 503],
    ['POST', '/api/v1/products/1/discount?a=1', 200, 503],
    ['POST', '/api/v1/products/1/availability', 200, 503],
  ])('%s %s with %i is answered %i', async (method, path, status, expected) => {
    expect(await responseOf(method, path, status)).toBe(expected)
  })
})
