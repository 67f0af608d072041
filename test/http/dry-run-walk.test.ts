import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { operationsOf, readDocument, type Served } from '../docs/document.ts'
import { type StartedServer, startServer, type TestWorld } from '../harness.ts'
import { openLive } from '../orders/live.ts'
import { type Call, callsOf, DRY_RUN, openParts, prepare, send, withoutCounters, writingIn } from './dry-runs.ts'

/**
 * Every operation that writes has a dry run (contract C19): the response equals that of the real request after it, and
 * until then nothing at all has changed.
 */

const server: StartedServer = await startServer('--rate-limit', 'off')
afterAll(() => server.stop())
const operations: Served[] = operationsOf(await readDocument(server))
const WRITING = writingIn(operations)

const RECEIVER = 'http://127.0.0.1:1/nobody'
const SANDBOX = { product: 2, denomination: 50, receiver: RECEIVER }

/** A world whose clock stands still and moves nothing. */
const preparedWorld = async (): Promise<{ world: TestWorld; calls: Record<string, Call> }> => {
  const world = await server.world('2030-01-01T00:00:00Z')
  await world.request(`/_sandbox/pace?world=${world.name}`, {
    method: 'PUT',
    body: '{"orders":"manual","payouts":"manual"}',
  })
  // Lost deliveries leave no work behind that could change the data during a test.
  await world.control('/faults', { webhook: 'lose' })
  const pending = { product_id: 5, denomination: 25, quantity: 1 }
  const records = await prepare((path, init) => world.request(path, init), pending, RECEIVER)
  await world.control('/webhooks/settle')
  return { world, calls: callsOf(records, SANDBOX) }
}

/** The whole world: its data byte for byte, its clock, and the positions of its ids and randomness. */
const snapshotOf = async (world: TestWorld): Promise<string> => {
  const path = `/_sandbox/snapshots/of-${world.name}?world=${world.name}`
  expect((await server.request(path, { method: 'PUT' })).status).toBeLessThan(300)
  const response = await server.request(path)
  expect(response.status).toBe(200)
  const { database, ...state } = (await response.json()) as { database: string }
  return JSON.stringify({ ...state, database: comparable(gunzipSync(Buffer.from(database, 'base64'))) })
}

const comparable = (image: Uint8Array): string => Buffer.from(withoutCounters(image)).toString('base64')

/** State outside of the data: events that were delivered or wait, and the outcomes covered. */
const besideData = async (world: TestWorld) => {
  await world.control('/webhooks/settle')
  const [coverage, due] = await Promise.all(
    ['coverage', 'due'].map(async (name) => (await server.request(`/_sandbox/${name}?world=${world.name}`)).json()),
  )
  return { coverage, due }
}

test('each operation that writes is called', () => {
  expect(
    Object.keys(callsOf({ beneficiary: '', pendingOrder: 1, payout: '', webhook: '', event: '' }, SANDBOX)).sort(),
  ).toEqual(WRITING.toSorted())
})

describe.each(WRITING)('%s in the sandbox', (id) => {
  test('responds as it would, and leaves the world as it was', async () => {
    const { world, calls } = await preparedWorld()
    const call = calls[id] as Call
    const [before, beside] = [await snapshotOf(world), await besideData(world)]
    const dryRun = await send((...request) => world.request(...request), call, DRY_RUN)
    const body = await dryRun.text()
    expect(await snapshotOf(world)).toBe(before)
    expect(await besideData(world)).toEqual(beside)
    const real = await send((...request) => world.request(...request), call)
    const { status } = real
    expect({ id, status: dryRun.status, marked: dryRun.headers.get('x-dry-run') }).toEqual({
      id,
      status,
      marked: 'true',
    })
    expect(openParts(body)).toEqual(openParts(await real.text()))
    expect(real.headers.get('x-dry-run')).toBeNull()
    expect(dryRun.headers.get('location')).toBeNull()
  })
})

describe('in live mode', () => {
  const LIVE = { product: 1, denomination: 10, receiver: 'https://192.0.2.1/hooks' }
  // Attempts that are recorded beside the requests would change the bytes: none ends.
  const live = openLive(undefined, { send: () => new Promise(() => undefined) })
  let calls: Record<string, Call>
  const ask = async (path: string, init: RequestInit = {}) => (await live).request(path.replace('/api/v1', ''), init)

  beforeAll(async () => {
    const { stock } = await live
    await stock(1, 'CARD-1', 'CARD-2')
    await stock(2, 'BOX-1')
    calls = callsOf(
      await prepare(ask as never, { product_id: 2, denomination: 10, quantity: 1 }, 'https://8.8.8.8/hooks'),
      { ...LIVE, receiver: 'https://8.8.4.4/hooks' },
    )
  })
  afterAll(async () => (await live)[Symbol.asyncDispose]())

  test.each(WRITING)('%s leaves every byte of the database as it was', async (id) => {
    const { database } = await live
    const image = () => comparable(database.image())
    const before = image()
    const response = await send(ask as never, calls[id] as Call, DRY_RUN)
    const body = await response.text()
    expect({ id, body, isOk: response.ok }).toEqual({ id, body, isOk: true })
    expect(body).not.toMatch(/CARD-|"pin_code":"1"/)
    expect(image()).toBe(before)
  })
})
