import { describe, expect, test } from 'bun:test'
import { isPublic, operationsOf, readDocument } from '../docs/document.ts'
import { againstBinary, found, openProgram, sharedServer, type TestWorld } from '../harness.ts'
import { ADA, BENEFICIARIES, DELAYED, HUNDRED, INSTANT, ORDERS, PAYOUTS, pay, place } from '../records.ts'
import { WEBHOOKS } from '../webhooks/webhooks.ts'

/** The key counts on every POST that writes: clients and proxies repeat a request that has one (contract C14). */

const server = await sharedServer()
const KEY = 'one request alone'
const HOOK = { name: 'orders', url: `${server.url}/_sandbox/inbox/orders`, events: ['*'] }

interface Sent {
  path: string
  body?: object
}
/** The operations, each with what makes its record first. */
const WRITES: [id: string, status: number, prepare: (world: TestWorld) => Promise<Sent>][] = [
  ['createBeneficiary', 201, async () => ({ path: BENEFICIARIES, body: ADA })],
  ['placeOrder', 200, async () => ({ path: ORDERS, body: INSTANT })],
  ['cancelOrder', 200, async (world) => ({ path: `${ORDERS}/${(await place(world, DELAYED)).id}/cancel` })],
  ['createPayout', 201, async () => ({ path: PAYOUTS, body: HUNDRED })],
  ['cancelPayout', 200, async (world) => ({ path: `${PAYOUTS}/${(await pay(world)).id}/cancel` })],
  ['createWebhook', 201, async () => ({ path: WEBHOOKS, body: { ...HOOK, name: 'second' } })],
  ['rotateWebhookSecret', 200, async (world) => ({ path: `${WEBHOOKS}/${await idIn(world)}/rotate` })],
  ['pingWebhook', 202, async (world) => ({ path: `${WEBHOOKS}/${await idIn(world)}/ping` })],
  [
    'redeliverEvent',
    202,
    async (world) => {
      await place(world, INSTANT)
      const [event] = await world.read<{ id: string }[]>('/api/v1/events')
      return { path: `/api/v1/events/${event?.id}/redeliver` }
    },
  ],
]

const idIn = async (world: TestWorld): Promise<string> => {
  const [hook] = await world.read<{ id: string }[]>(WEBHOOKS)
  return String(hook?.id)
}

/** A world with a webhook, whose clock stands still. */
const opened = async (): Promise<TestWorld> => {
  const world = await server.world('2030-01-01T00:00:00Z')
  await world.make(WEBHOOKS, { ...HOOK, url: `${HOOK.url}?world=${world.name}` })
  return world
}

/** The records of a world, and what its webhook has received. */
const stateOf = async (world: TestWorld): Promise<unknown> => {
  await world.control('/webhooks/settle')
  const lists = [BENEFICIARIES, ORDERS, PAYOUTS, WEBHOOKS, '/api/v1/wallets', '/api/v1/transactions', '/api/v1/events']
  const inbox = `/_sandbox/inbox?world=${world.name}`
  return Promise.all([...lists, inbox].map((path) => world.read(path)))
}

const sentTo = async (world: TestWorld, { path, body }: Sent, key = KEY) => {
  const response = await world.post(path, body, { 'idempotency-key': key })
  const { status, headers } = response
  const [replayed, location] = [headers.get('idempotent-replayed'), headers.get('location')]
  return { status, replayed, location, text: await response.text() }
}

test('The document names the key on every POST of /api/v1 that writes, and on nothing else', async () => {
  const computing = ['checkAvailability', 'getDiscounts', 'calculateCharges']
  const operations = operationsOf(await readDocument(server)).filter((one) => !isPublic(one))
  const taking = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))
  const writing = operations.filter(({ method, path }) => method === 'POST' && path !== '/auth/logout')
  expect(taking.map(({ operationId }) => operationId).sort()).toEqual(WRITES.map(([id]) => id).sort())
  const others = writing.filter(({ operationId }) => !WRITES.some(([id]) => id === operationId))
  expect(others.map(({ operationId }) => operationId).sort()).toEqual(computing.sort())
})

describe.each(WRITES)('%s', (_, status, prepare) => {
  test('with the key of an earlier request returns its response, and does nothing', async () => {
    const world = await opened()
    const sent = await prepare(world)
    const first = await sentTo(world, sent)
    expect([first.status, first.replayed, first.location !== null]).toEqual([status, null, status === 201])
    const after = await stateOf(world)
    expect(await sentTo(world, sent)).toEqual({ ...first, replayed: 'true' })
    expect(await sentTo(world, sent)).toEqual({ ...first, replayed: 'true' })
    expect(await stateOf(world)).toEqual(after)
  })

  test('with the key of another request is 400, and does nothing', async () => {
    const world = await opened()
    const sent = await prepare(world)
    await sentTo(world, { path: BENEFICIARIES, body: { ...ADA, first_name: 'Augusta' } })
    const before = await stateOf(world)
    const refused = await sentTo(world, sent)
    expect(refused).toMatchObject({ status: 400, replayed: null, location: null })
    expect(refused.text).toContain('Idempotency-Key was used with a different request')
    const malformed = await sentTo(world, sent, 'short')
    expect(malformed).toMatchObject({ status: 400, replayed: null })
    expect(malformed.text).toContain('Idempotency-Key must be 8 to 256 printable characters')
    expect(await stateOf(world)).toEqual(before)
  })

  test('refuses a dry run with a key', async () => {
    const world = await opened()
    const { path, body } = await prepare(world)
    const response = await world.post(path, body, { 'idempotency-key': KEY, 'x-dry-run': 'true' })
    expect([response.status, response.headers.get('x-dry-run')]).toEqual([400, 'true'])
    expect(await response.text()).toContain('X-Dry-Run cannot be combined with Idempotency-Key.')
  })
})

test('A refusal of a write without a body is stored for its key, too', async () => {
  const world = await opened()
  const { id } = await place(world, DELAYED)
  const cancel = { path: `${ORDERS}/${id}/cancel` }
  expect((await world.post(cancel.path)).status).toBe(200)
  const refused = await sentTo(world, cancel)
  expect(refused).toMatchObject({ status: 400, replayed: null })
  expect(await sentTo(world, cancel)).toEqual({ ...refused, replayed: 'true' })
  const unknown = { path: `${WEBHOOKS}/whk_nothing/rotate` }
  const missing = await sentTo(world, unknown, 'another key')
  expect(missing).toMatchObject({ status: 404, replayed: null })
  expect(await sentTo(world, unknown, 'another key')).toEqual({ ...missing, replayed: 'true' })
})

test.skipIf(againstBinary)('A stored response with a secret or with codes is encrypted', async () => {
  await using program = openProgram()
  const { client, world } = await program.open()
  await client.make(WEBHOOKS, HOOK, { 'idempotency-key': 'the webhook' })
  const created = JSON.stringify(await client.read(WEBHOOKS))
  await client.make(`${WEBHOOKS}/${await idIn(client)}/rotate`, undefined, { 'idempotency-key': 'the rotation' })
  await client.make(ORDERS, INSTANT, { 'idempotency-key': 'the order' })
  const { id } = await place(client, DELAYED)
  await client.make(`${ORDERS}/${id}/cancel`, undefined, { 'idempotency-key': 'the cancellation' })
  await client.make(BENEFICIARIES, ADA, { 'idempotency-key': 'the beneficiary' })
  const rows = world.db.sqlite.query('SELECT key, body FROM idempotency_keys').all() as { key: string; body: string }[]
  const inPlain = rows.filter(({ body }) => body.startsWith('{')).map(({ key }) => key)
  expect([rows.length, inPlain]).toEqual([5, ['the beneficiary']])
  expect(created).not.toContain('whsec_')
  expect(found(rows[0]).body).not.toContain('whsec_')
})
