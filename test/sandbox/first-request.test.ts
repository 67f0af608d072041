import { describe, expect, test } from 'bun:test'
import { againstBinary, type Server, startServer } from '../harness.ts'
import { NOON } from '../records.ts'
import { loggedIn } from '../sessions/requests.ts'
import { control } from './surface.ts'

/** What the surface is asked first, before anything of the API was read. */
const FIRST: Record<string, readonly (readonly [method: string, path: string, body?: unknown])[]> = {
  'GET /_sandbox': [['GET', '']],
  'GET /_sandbox/clock': [['GET', '/clock']],
  'POST /_sandbox/clock': [['POST', '/clock', { now: NOON, frozen: true }]],
  'POST /_sandbox/reset': [['POST', '/reset']],
  'GET /_sandbox/worlds': [['GET', '/worlds']],
  'PUT /_sandbox/worlds/{name}': [['PUT', '/worlds/other', { from: 'default' }]],
  'DELETE /_sandbox/worlds/{name}': [
    ['PUT', '/worlds/other'],
    ['DELETE', '/worlds/other'],
  ],
  'GET /_sandbox/snapshots': [['GET', '/snapshots']],
  'PUT /_sandbox/snapshots/{name}': [['PUT', '/snapshots/kept']],
  'GET /_sandbox/snapshots/{name}': [
    ['PUT', '/snapshots/kept'],
    ['GET', '/snapshots/kept'],
  ],
  'DELETE /_sandbox/snapshots/{name}': [
    ['PUT', '/snapshots/kept'],
    ['DELETE', '/snapshots/kept'],
  ],
  'POST /_sandbox/snapshots/{name}/restore': [
    ['PUT', '/snapshots/kept'],
    ['POST', '/snapshots/kept/restore'],
  ],
  'POST /_sandbox/snapshots/{name}/restore of a named world': [
    ['PUT', '/worlds/other'],
    ['PUT', '/snapshots/kept?world=other'],
    ['POST', '/snapshots/kept/restore'],
  ],
  'POST /_sandbox/requests': [['POST', '/requests', { method: 'GET', path: '/api/v1/countries/1' }]],
  'GET /_sandbox/errors': [['GET', '/errors']],
  'GET /_sandbox/faults': [['GET', '/faults']],
  'POST /_sandbox/faults': [['POST', '/faults', { delay_ms: 1, times: 1 }]],
  'DELETE /_sandbox/faults': [['DELETE', '/faults']],
  'PATCH /_sandbox/products/{id}': [['PATCH', '/products/1', { max_quantity: 9 }]],
  'GET /_sandbox/rates': [['GET', '/rates']],
  'PUT /_sandbox/rates': [['PUT', '/rates', { base: 'USD', rates: { INR: '80' } }]],
  'GET /_sandbox/clients': [['GET', '/clients']],
  'POST /_sandbox/clients': [['POST', '/clients', { name: 'shop', discounts: { '1': 5 } }]],
  'PATCH /_sandbox/clients/{id}': [['PATCH', '/clients/1', { max_quantity: 9 }]],
  'PUT /_sandbox/scenario': [['PUT', '/scenario', { steps: [{ method: 'GET', path: '/api/v1/wallets' }] }]],
  'POST /_sandbox/wallets': [['POST', '/wallets', { currency: 'KWD' }]],
  'POST /_sandbox/wallets/{id}/fund': [['POST', '/wallets/1/fund', { amount: 1 }]],
  'PATCH /_sandbox/wallets/{id}': [['PATCH', '/wallets/1', { threshold: 1 }]],
  'GET /_sandbox/inbox': [['GET', '/inbox']],
  'DELETE /_sandbox/inbox': [['DELETE', '/inbox']],
  'POST /_sandbox/inbox/{name}': [['POST', '/inbox/hooks', {}]],
  'PUT /_sandbox/inbox/{name}': [['PUT', '/inbox/hooks', { status: 500 }]],
  'POST /_sandbox/reconcile': [['POST', '/reconcile', { reference: 'one', type: 'order', amount: 1, currency: 'USD' }]],
  'POST /_sandbox/events': [['POST', '/events', { type: 'ping' }]],
  'POST /_sandbox/webhooks/settle': [['POST', '/webhooks/settle']],
  'GET /_sandbox/pace': [['GET', '/pace']],
  'PUT /_sandbox/pace': [['PUT', '/pace', { payouts: 'manual' }]],
  'POST /_sandbox/payouts/{id}/advance': [['POST', '/payouts/pyt_none/advance']],
  'POST /_sandbox/payouts/{id}/fail': [['POST', '/payouts/pyt_none/fail']],
  'POST /_sandbox/payouts/{id}/return': [['POST', '/payouts/pyt_none/return']],
  'POST /_sandbox/orders/{id}/deliver': [['POST', '/orders/1/deliver']],
  'POST /_sandbox/orders/{id}/fail': [['POST', '/orders/1/fail']],
  'POST /_sandbox/orders/{id}/refund': [['POST', '/orders/1/refund']],
  'GET /_sandbox/requests': [['GET', '/requests']],
  'GET /_sandbox/requests/{id}': [['GET', '/requests/1']],
  'POST /_sandbox/requests/{id}/replay': [['POST', '/requests/1/replay']],
  'GET /_sandbox/orders': [['GET', '/orders']],
  'GET /_sandbox/payouts': [['GET', '/payouts']],
  'GET /_sandbox/wallets': [['GET', '/wallets']],
  'GET /_sandbox/events': [['GET', '/events']],
  'POST /_sandbox/events/{id}/redeliver': [['POST', '/events/evt_none/redeliver']],
  'GET /_sandbox/webhooks': [['GET', '/webhooks']],
  // A feed that is open does not end.
  'GET /_sandbox/feed': [['GET', '/feed?world=nowhere']],
  'DELETE /_sandbox/faults/{id}': [['DELETE', '/faults/1']],
  'GET /_sandbox/due': [['GET', '/due']],
  'GET /_sandbox/ledger': [['GET', '/ledger']],
  'GET /_sandbox/test-values': [['GET', '/test-values']],
  'GET /_sandbox/coverage': [['GET', '/coverage?format=table']],
}

/** Every operation of the API that reads, and the prices, which are made of all that is shared. */
const READS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/'],
  ['GET', '/status'],
  ['GET', '/api/v1/beneficiaries'],
  ['GET', '/api/v1/products'],
  ['GET', '/api/v1/products/1'],
  ['GET', '/cards/1'],
  ['POST', '/api/v1/products/1/availability', { denomination: 100, quantity: 1 }],
  ['POST', '/api/v1/products/1/discount', { denomination: 100 }],
  ['POST', '/api/v1/products/1/charges', { denomination: 100, quantity: 1 }],
  ['GET', '/api/v1/categories'],
  ['GET', '/api/v1/categories/1'],
  ['GET', '/api/v1/subcategories'],
  ['GET', '/api/v1/subcategories/1'],
  ['GET', '/api/v1/countries'],
  ['GET', '/api/v1/countries/105'],
  ['GET', '/api/v1/currencies'],
  ['GET', '/api/v1/currencies/64'],
  ['GET', '/api/v1/wallets'],
  ['GET', '/api/v1/wallets/1'],
  ['GET', '/api/v1/transactions'],
  ['GET', '/api/v1/transactions/1'],
  ['GET', '/api/v1/orders'],
  ['GET', '/api/v1/payouts'],
]

const readAll = async (server: Server): Promise<Record<string, number>> => {
  const { access_token } = await loggedIn(server, 'sandbox', 'sandbox')
  const statuses: Record<string, number> = {}
  for (const [method, path, body] of READS) {
    const { status } = await server.request(path, {
      method,
      headers: { authorization: `Bearer ${access_token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    statuses[`${method} ${path}`] = status
  }
  return statuses
}

/** In process every operation comes first once; the executable is started for those that make or replace a world. */
const isStarted = ([operation]: [string, unknown]): boolean =>
  !againstBinary || /reset|restore|^PUT .*(?:worlds|scenario)|^DELETE .*worlds/.test(operation)

const ALL_READ = Object.fromEntries(READS.map(([method, path]) => [`${method} ${path}`, 200]))

describe('Every read works if the first request of a server was', () => {
  test.each(Object.entries(FIRST).filter(isStarted))('%s', async (_, requests) => {
    const server = await startServer()
    try {
      for (const [method, path, body] of requests) {
        expect((await control(server, method, path, body)).status).toBeLessThan(500)
      }
      expect(await readAll(server)).toEqual(ALL_READ)
    } finally {
      await server.stop()
    }
  })

  test('and no operation of the control API is missing here', async () => {
    const server = await startServer()
    const { paths } = (await (await server.request('/openapi.json')).json()) as {
      paths: Record<string, Record<string, unknown>>
    }
    await server.stop()
    const documented = Object.entries(paths)
      .filter(([path]) => path.startsWith('/_sandbox'))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`))
    expect(documented.filter((operation) => !(operation in FIRST))).toEqual([])
  })
})
