import { describe, expect, test } from 'bun:test'
import { listen } from '../../src/http/listen.ts'
import { expectResponse, sharedServer } from '../harness.ts'
import { errorIn, named, ROUTES } from './routes.ts'

/** The 500 of each operation (contract C4). Faults inject it. */

const server = await sharedServer()

/** The records that are read, one and all. */
const READ: Record<string, string> = {
  beneficiary: 'beneficiaries',
  product: 'products',
  category: 'categories',
  subcategory: 'subcategories',
  country: 'countries',
  currency: 'currencies',
  wallet: 'wallets',
  transaction: 'transactions',
  order: 'orders',
  payout: 'payouts',
}

/** The request, in the words of the message; the id stands for one record. */
const WORDS: Record<string, string> = {
  ...Object.fromEntries(Object.values(READ).map((all) => [`GET /api/v1/${all}`, `retrieve ${all}`])),
  ...Object.fromEntries(Object.entries(READ).map(([one, all]) => [`GET /api/v1/${all}/{id}`, `retrieve ${one}`])),
  'POST /api/v1/beneficiaries': 'create beneficiary',
  'DELETE /api/v1/beneficiaries/{id}': 'delete beneficiary',
  'POST /api/v1/products/{id}/availability': 'check availability',
  'POST /api/v1/products/{id}/charges': 'calculate charges',
  'POST /api/v1/products/{id}/discount': 'calculate discount',
  'POST /api/v1/orders': 'create order',
  'GET /api/v1/orders/{id}/vouchers': 'retrieve vouchers',
  'POST /api/v1/orders/{id}/cancel': 'cancel order',
  'POST /api/v1/payouts': 'create payout',
  'POST /api/v1/payouts/{id}/cancel': 'cancel payout',
}

describe('An internal error names the operation', () => {
  test.each(ROUTES.map(named))('%s', async (name, { method, path, shape }) => {
    const world = await server.world()
    const response = await world.request(path, { method, headers: { 'x-sandbox-fault': 'internal' } })
    const message = name === 'POST /auth/logout' ? 'Internal server error' : `Failed to ${WORDS[name]}`
    await expectResponse(response, 500, errorIn(shape, 'InternalServer', message))
  })
})

describe('listen()', () => {
  test("responds with 503 until something serves, and to escaped errors with its handler, never with the runtime's page", async () => {
    const escaped: string[] = []
    const listening = listen({
      host: '127.0.0.1',
      port: 0,
      onEscape: ({ message }) => {
        escaped.push(message)
        return new Response('sorry', { status: 500 })
      },
    })
    const early = await fetch(`http://127.0.0.1:${listening.port}/now`)
    expect([early.status, early.headers.get('retry-after'), await early.text()]).toEqual([503, '1', ''])
    listening.serve(({ url }) => {
      if (url.endsWith('/later')) return Promise.reject(new Error('a secret'))
      throw new Error('a secret')
    })
    for (const path of ['/now', '/later']) {
      const response = await fetch(`http://127.0.0.1:${listening.port}${path}`)
      expect(response.status).toBe(500)
      expect(await response.text()).toBe('sorry')
    }
    expect(escaped).toEqual(['a secret', 'a secret'])
    await listening.stop(0)
  })
})
