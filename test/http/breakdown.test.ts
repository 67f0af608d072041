import { describe, expect, test } from 'bun:test'
import { listen } from '../../src/http/listen.ts'
import { expectResponse, sharedServer } from '../harness.ts'
import { errorIn, named, ROUTES } from './routes.ts'

/** 500: what is said when Scrip itself breaks down (contract C4). Each is asked for by a fault. */

const server = await sharedServer()

/** What was asked, in the words of the message; the id of a record stands for one of them. */
const WORDS: Record<string, string> = {
  'GET /api/v1/beneficiaries': 'retrieve beneficiaries',
  'POST /api/v1/beneficiaries': 'create beneficiary',
  'GET /api/v1/beneficiaries/{id}': 'retrieve beneficiary',
  'DELETE /api/v1/beneficiaries/{id}': 'delete beneficiary',
  'GET /api/v1/products': 'retrieve products',
  'GET /api/v1/products/{id}': 'retrieve product',
  'POST /api/v1/products/{id}/availability': 'check availability',
  'POST /api/v1/products/{id}/charges': 'calculate charges',
  'POST /api/v1/products/{id}/discount': 'calculate discount',
  'GET /api/v1/categories': 'retrieve categories',
  'GET /api/v1/categories/{id}': 'retrieve category',
  'GET /api/v1/subcategories': 'retrieve subcategories',
  'GET /api/v1/subcategories/{id}': 'retrieve subcategory',
  'GET /api/v1/countries': 'retrieve countries',
  'GET /api/v1/countries/{id}': 'retrieve country',
  'GET /api/v1/currencies': 'retrieve currencies',
  'GET /api/v1/currencies/{id}': 'retrieve currency',
  'GET /api/v1/wallets': 'retrieve wallets',
  'GET /api/v1/wallets/{id}': 'retrieve wallet',
  'GET /api/v1/transactions': 'retrieve transactions',
  'GET /api/v1/transactions/{id}': 'retrieve transaction',
  'GET /api/v1/orders': 'retrieve orders',
  'POST /api/v1/orders': 'create order',
  'GET /api/v1/orders/{id}': 'retrieve order',
  'GET /api/v1/orders/{id}/vouchers': 'retrieve vouchers',
  'POST /api/v1/orders/{id}/cancel': 'cancel order',
  'GET /api/v1/payouts': 'retrieve payouts',
  'POST /api/v1/payouts': 'create payout',
  'GET /api/v1/payouts/{id}': 'retrieve payout',
  'POST /api/v1/payouts/{id}/cancel': 'cancel payout',
}

describe('An internal error names the operation', () => {
  test.each(ROUTES.map(named))('%s', async (name, { method, path, shape }) => {
    const world = await server.world()
    const response = await world.request(path, { method, headers: { 'x-sandbox-fault': 'internal' } })
    const message = name === 'POST /auth/logout' ? 'Internal server error' : `Failed to ${WORDS[name]}`
    await expectResponse(response, 500, errorIn(shape, 'InternalServer', message))
  })

  test('is "Internal server error" for auth and status', async () => {
    for (const [method, path] of [
      ['POST', '/auth/login'],
      ['POST', '/auth/refresh'],
      ['GET', '/status'],
    ] as const) {
      const response = await server.request(path, { method, headers: { 'x-sandbox-fault': 'internal' } })
      expect(await response.json()).toEqual(errorIn('structured', 'InternalServer', 'Internal server error'))
    }
  })
})

describe('listen()', () => {
  test("responds to escaped errors with its handler, never with the runtime's page", async () => {
    const escaped: string[] = []
    const listening = listen({
      host: '127.0.0.1',
      port: 0,
      respond: ({ url }) => {
        if (url.endsWith('/later')) return Promise.reject(new Error('a secret'))
        throw new Error('a secret')
      },
      onEscape: ({ message }) => {
        escaped.push(message)
        return new Response('sorry', { status: 500 })
      },
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
