import { describe, expect, test } from 'bun:test'
import { forFile, startServer, type TestWorld } from '../harness.ts'
import { NOON } from '../records.ts'
import { attemptsOf, fund, hook, patchHook, type Receiver, receiversOfFile, settle, WEBHOOKS } from './webhooks.ts'

/** Many deliveries at once, and in an unusual order. */

const server = forFile(await startServer('--rate-limit', 'off'))

const receiving = receiversOfFile()
const failing = () => new Response('', { status: 503 })
const make = (world: TestWorld, data: object) => world.control('/events', { type: 'payout.completed', data })
const makeMany = async (world: TestWorld, count: number): Promise<void> => {
  for (let id = 1; id <= count; id++) await make(world, { id })
}

describe('A webhook with hundreds of events that wait', () => {
  test('is switched off, on and off again: nothing of it is delivered later', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(failing)]
    const { id } = await hook(world, receiver.url)
    await makeMany(world, 300)
    await patchHook(world, id, { active: false })
    await patchHook(world, id, { active: true })
    await make(world, { id: 0 })
    await patchHook(world, id, { active: false })
    // Dropped events are deleted in steps between writes.
    for (let write = 0; write < 60; write++) await fund(world)
    await settle(world)
    receiver.reply = () => new Response()
    receiver.received.length = 0
    await patchHook(world, id, { active: true })
    await world.clock({ advance: 'PT1M' })
    await settle(world)
    expect(receiver.received).toEqual([])
    await fund(world)
    await settle(world)
    expect(receiver.types()).toEqual(['wallet.credited'])
  })
})

describe('While a delivery is on its way', () => {
  /** A world with one event at a receiver that has not responded yet. */
  const delivering = async () => {
    const [world, { promise, resolve }] = [await server.world(NOON), Promise.withResolvers<Response>()]
    const receiver = receiving(() => promise)
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await receiver.until(1)
    /** Ends the delivery with a failure, and moves the clock to the next attempt. */
    const fail = async (): Promise<void> => {
      resolve(failing())
      await settle(world)
      await world.clock({ advance: 'PT1M' })
      await settle(world)
    }
    return { world, receiver, id, respond: resolve, fail }
  }

  test('its webhook is deleted: nothing is sent again', async () => {
    const { world, receiver, id, fail } = await delivering()
    expect((await world.delete(`${WEBHOOKS}/${id}`)).status).toBe(204)
    expect((await world.get(`${WEBHOOKS}/${id}`)).status).toBe(404)
    await fail()
    expect(receiver.received).toHaveLength(1)
  })

  test('its webhook is switched off and on: it has failed, and is not sent again', async () => {
    const { world, receiver, id, fail } = await delivering()
    await patchHook(world, id, { active: false })
    await patchHook(world, id, { active: true })
    await fail()
    expect(receiver.received).toHaveLength(1)
    expect(await attemptsOf(await world.again(), id)).toMatchObject([{ status: 'failed', next_attempt_at: null }])
  })

  test('its secret is rotated: the next attempt is signed with both', async () => {
    const { world, receiver, id, fail } = await delivering()
    await world.post(`${WEBHOOKS}/${id}/rotate`)
    receiver.reply = () => new Response()
    await fail()
    const signatures = receiver.received.map(({ headers }) => headers.get('webhook-signature')?.split(' ').length)
    expect(signatures).toEqual([1, 2])
  })

  test('its URL is changed: the next attempt goes to the new one', async () => {
    const { world, receiver, id, fail } = await delivering()
    const other = receiving()
    await patchHook(world, id, { url: other.url })
    await fail()
    expect([receiver.received.length, other.types()]).toEqual([1, ['wallet.credited']])
  })

  test('its world is reset: the new world delivers its own events alone', async () => {
    const { world, receiver, respond } = await delivering()
    expect((await world.control('/reset')).status).toBe(200)
    respond(failing())
    const fresh = await world.again()
    const { id } = await hook(fresh, receiver.url)
    receiver.reply = () => new Response()
    await fund(fresh)
    await settle(fresh)
    expect(receiver.received).toHaveLength(2)
    expect(await attemptsOf(fresh, id)).toMatchObject([{ attempt: 1, status: 'delivered' }])
  })

  test('it is redelivered: a failure counts as the first of a new series', async () => {
    const { world, receiver, id, fail } = await delivering()
    const [{ event }] = receiver.received as [Receiver['received'][0]]
    expect((await world.post(`/api/v1/events/${event.id}/redeliver`)).status).toBe(202)
    await fail()
    const attempts = await attemptsOf(await world.again(), id)
    expect(attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'retrying'],
      [2, 'retrying'],
    ])
  })
})
