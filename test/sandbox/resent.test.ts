import { describe, expect, test } from 'bun:test'
import { forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, BENEFICIARIES, INSTANT, ORDERS } from '../records.ts'
import { succeed } from './surface.ts'

/** A write that repeats one whose response was lost is marked (contract C15). */

const server = forFile(await startServer('--rate-limit', 'off'))
const inWorld = testIn(() => server.world())

interface Marked {
  id: number
  resent: boolean
  resent_of: number | null
  resent_after_ms: number | null
}

/** The marks of the last requests, the oldest first. */
const marksOf = async ({ name }: TestWorld, count: number): Promise<Omit<Marked, 'resent_after_ms'>[]> => {
  const log = await succeed<Marked[]>(server, 'GET', `/requests?world=${name}&limit=${count}`)
  for (const { resent, resent_after_ms } of log) expect(resent_after_ms).toEqual(resent ? expect.any(Number) : null)
  return log.toReversed().map(({ id, resent, resent_of }) => ({ id, resent, resent_of }))
}

const losing = (world: TestWorld, fault: object): Promise<unknown> =>
  succeed(server, 'POST', `/faults?world=${world.name}`, { match: { path: ORDERS }, times: 1, ...fault })

const buy = (world: TestWorld, change: object = {}, headers: Record<string, string> = {}): Promise<unknown> =>
  world
    .post(ORDERS, { ...INSTANT, ...change }, headers)
    .then((response) => response.text())
    .catch(() => undefined)

const UNMARKED = { resent: false, resent_of: null }

describe('A write without an Idempotency-Key', () => {
  test.each([
    ['was lost after its work', { drop: true, when: 'after' }],
    ['was lost before its work', { drop: true }],
    ['was cut', { cut_after_bytes: 10 }],
    ['was the page of a gateway', { status: 503, when: 'after' }],
    ['was a 500', { error: 'internal', when: 'after' }],
  ])('is marked if the response to an equal one %s', async (_, fault) => {
    const world = await server.world()
    await losing(world, fault)
    await buy(world)
    await buy(world)
    await buy(world)
    expect(await marksOf(world, 3)).toEqual([
      { id: 2, ...UNMARKED },
      { id: 3, resent: true, resent_of: 2 },
      { id: 4, resent: true, resent_of: 2 },
    ])
  })

  inWorld('names the newest of those that it repeats', async (world) => {
    await losing(world, { drop: true, times: 2 })
    for (let count = 0; count < 3; count++) await buy(world)
    expect(await marksOf(world, 3)).toEqual([
      { id: 2, ...UNMARKED },
      { id: 3, resent: true, resent_of: 2 },
      { id: 4, resent: true, resent_of: 3 },
    ])
  })

  inWorld('is not marked if body, path, method or client differ', async (world) => {
    const limited = await world.limited()
    await losing(world, { drop: true, match: {} })
    await world.post(BENEFICIARIES, ADA).catch(() => undefined)
    await world.post(BENEFICIARIES, { ...ADA, first_name: 'Grace' })
    await world.post(`${BENEFICIARIES}?again`, ADA)
    await limited.post(BENEFICIARIES, ADA)
    await world.get(BENEFICIARIES)
    expect((await marksOf(world, 5)).map(({ resent }) => resent)).toEqual([false, false, false, false, false])
  })

  inWorld('is not marked after a response that came whole: a refusal, or a success', async (world) => {
    await buy(world, { quantity: 0 })
    await buy(world, { quantity: 0 })
    await buy(world)
    await buy(world)
    expect((await marksOf(world, 4)).map(({ resent }) => resent)).toEqual([false, false, false, false])
  })
})

test('A write with an Idempotency-Key is not marked: it is safe to repeat', async () => {
  const world = await server.world()
  const key = { 'Idempotency-Key': 'the-same-order' }
  await losing(world, { drop: true, when: 'after' })
  await buy(world, {}, key)
  await buy(world, {}, key)
  expect((await marksOf(world, 2)).map(({ resent }) => resent)).toEqual([false, false])
})
