import { describe, expect, test } from 'bun:test'
import { notFound } from '../errors.ts'
import { sharedServer, TestWorld } from '../harness.ts'
import { BENEFICIARIES, INSTANT, NOON, ORDERS, PAYOUTS, pay, place, save } from '../records.ts'

/** Records of another client are not listed, and an operation on one gets the response for a missing record. */

const server = await sharedServer()
const WEBHOOKS = '/api/v1/webhooks'
const EVENTS = '/api/v1/events'
const WALLETS = '/api/v1/wallets'
const TRANSACTIONS = '/api/v1/transactions'

const flat = (message: string) => ({ error: 'NotFound', message })
const NO_WEBHOOK = notFound('Webhook not found')

/** An operation: its path before and after the id, and its response. */
const OPERATIONS: [method: string, list: string, action: string, body: object][] = [
  ['GET', BENEFICIARIES, '', flat('Beneficiary not found')],
  ['DELETE', BENEFICIARIES, '', flat('Beneficiary not found')],
  ['GET', ORDERS, '', notFound('Order not found')],
  ['GET', ORDERS, '/vouchers', notFound('Order not found')],
  ['POST', ORDERS, '/cancel', notFound('Order not found')],
  ['GET', PAYOUTS, '', flat('Payout not found')],
  ['POST', PAYOUTS, '/cancel', flat('Payout not found')],
  ['GET', WALLETS, '', notFound('Wallet not found')],
  ['GET', TRANSACTIONS, '', notFound('Transaction not found')],
  ['GET', EVENTS, '', notFound('Event not found')],
  ['POST', EVENTS, '/redeliver', notFound('Event not found')],
  ['GET', WEBHOOKS, '', NO_WEBHOOK],
  ['PATCH', WEBHOOKS, '', NO_WEBHOOK],
  ['DELETE', WEBHOOKS, '', NO_WEBHOOK],
  ['GET', WEBHOOKS, '/deliveries', NO_WEBHOOK],
  ['POST', WEBHOOKS, '/rotate', NO_WEBHOOK],
  ['POST', WEBHOOKS, '/ping', NO_WEBHOOK],
]
const LISTS = [...new Set(OPERATIONS.map(([, list]) => list))]
/** Well-formed ids of no record, and malformed ones where ids are texts. */
const NOBODY: Record<string, string[]> = {
  [BENEFICIARIES]: ['ben_00000000000000000000'],
  [PAYOUTS]: ['pyt_00000000000000000000', '1'],
  [EVENTS]: ['evt_nothing'],
  [WEBHOOKS]: ['whk_nothing', '%00'],
}

/** A world with a record in each list, and another client in it that has the vouchers feature and no records. */
const opened = async () => {
  const world = await server.world(NOON)
  await save(world)
  await place(world, INSTANT)
  await pay(world)
  await world.make(WEBHOOKS, { name: 'mine', url: 'http://127.0.0.1:9/', events: ['order.failed'] })
  expect((await world.control('/clients', { name: 'other', password: 'p' })).status).toBe(201)
  const login = { method: 'POST', body: JSON.stringify({ username: `sbx_${world.name}.other`, password: 'p' }) }
  const { access_token } = (await (await server.request('/auth/login', login)).json()) as { access_token: string }
  const state = () => Promise.all(LISTS.map((list) => world.read<{ id: string | number }[]>(list)))
  return { world, other: TestWorld.of(server, world.name, access_token), state }
}

describe('The records of another client', () => {
  test('are in no list', async () => {
    const { other, state } = await opened()
    expect((await state()).filter(({ length }) => length === 0)).toEqual([])
    for (const list of LISTS) expect([list, await other.read<object[]>(list)]).toEqual([list, []])
  })

  test('are 404 like unknown ones, in another world too, and stay unchanged', async () => {
    const { world, other, state } = await opened()
    const elsewhere = await server.world()
    const before = await state()
    for (const [method, list, action, body] of OPERATIONS) {
      const ownId = String(before[LISTS.indexOf(list)]?.[0]?.id)
      const nobody = NOBODY[list] ?? ['2147483647']
      for (const [client, ids] of [
        [other, [ownId, ownId.toUpperCase(), ...nobody]],
        [world, nobody],
        [elsewhere, list === WALLETS ? nobody : [ownId, ...nobody]],
      ] as const) {
        for (const id of ids) {
          const init = method === 'PATCH' ? { method, body: '{"name":"x"}' } : { method }
          const response = await client.request(`${list}/${id}${action}`, init)
          expect([method, list, action, id, response.status]).toEqual([method, list, action, id, 404])
          expect(await response.json()).toEqual(body)
        }
      }
    }
    expect(await state()).toEqual(before)
  })
})
