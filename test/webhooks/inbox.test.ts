import { describe, expect, test } from 'bun:test'
import { EVENT_TYPES } from '../../src/events/types.ts'
import type { InboxEntry } from '../../src/sandbox/webhooks/inbox.ts'
import { notFound } from '../errors.ts'
import { eventsOf } from '../events/events.ts'
import { forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import type { PublishedEvent } from '../records.ts'
import { NOON } from '../records.ts'
import { attemptsOf, fund, hook, settle } from './webhooks.ts'

const server = forFile(await startServer('--rate-limit', 'off'))

const atNoon = testIn(() => server.world(NOON))

const inboxUrl = (world: TestWorld, name = 'hooks') => `${server.url}/_sandbox/inbox/${name}?world=${world.name}`
const inboxOf = async (world: TestWorld): Promise<InboxEntry[]> =>
  (await (await server.request(`/_sandbox/inbox?world=${world.name}`)).json()) as InboxEntry[]
const tell = async (world: TestWorld, name: string, reply: object): Promise<unknown> => {
  const path = `/_sandbox/inbox/${name}?world=${world.name}`
  const response = await server.request(path, { method: 'PUT', body: JSON.stringify(reply) })
  return [response.status, await response.json()]
}
const make = async (world: TestWorld, body: object): Promise<[number, unknown]> => {
  const response = await world.control('/events', body)
  return [response.status, await response.json()]
}

describe('The inbox of a world', () => {
  atNoon('receives deliveries, and lists them with their headers and bodies, the oldest first', async (world) => {
    await hook(world, inboxUrl(world))
    await fund(world, 1)
    await fund(world, 2)
    await settle(world)
    const events = await eventsOf(world)
    const entries = await inboxOf(world)
    expect(entries.map(({ id, name, received_at, method }) => [id, name, received_at, method])).toEqual([
      [1, 'hooks', NOON, 'POST'],
      [2, 'hooks', NOON, 'POST'],
    ])
    expect(entries.map(({ body }) => JSON.parse(body) as PublishedEvent)).toEqual(events)
    expect(entries[0]?.headers['webhook-id']).toBe(events[0]?.id)
  })

  atNoon('responds as PUT tells it to, each name for itself, and 200 at first', async (world) => {
    const [mine, other] = [await hook(world, inboxUrl(world, 'mine')), await hook(world, inboxUrl(world, 'other'))]
    expect(await tell(world, 'mine', { status: 503 })).toEqual([200, { status: 503, delay_ms: 0 }])
    await fund(world)
    await settle(world)
    expect(await attemptsOf(world, mine.id)).toMatchObject([{ status: 'retrying', response_status: 503 }])
    expect(await attemptsOf(world, other.id)).toMatchObject([{ status: 'delivered', response_status: 200 }])
    expect(await tell(world, 'mine', {})).toEqual([200, { status: 200, delay_ms: 0 }])
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    expect((await attemptsOf(world, mine.id)).at(-1)).toMatchObject({ attempt: 2, status: 'delivered' })
  })

  test('is emptied by DELETE, and goes with its world alone', async () => {
    const [world, other] = [await server.world(NOON), await server.world(NOON)]
    await hook(world, inboxUrl(world))
    await hook(other, inboxUrl(other))
    for (const each of [world, other]) {
      await fund(each)
      await settle(each)
    }
    const path = `/_sandbox/inbox?world=${world.name}`
    expect((await server.request(path, { method: 'DELETE' })).status).toBe(204)
    expect([await inboxOf(world), (await inboxOf(other)).length]).toEqual([[], 1])
  })

  test.each([{ status: 100 }, { status: 600 }, { delay_ms: 60_001 }, { delay_ms: -1 }, { other: 1 }])(
    'refuses %p as a response',
    async (reply) => {
      const world = await server.world(NOON)
      expect(await tell(world, 'hooks', reply)).toMatchObject([400, { error: { code: 'VALIDATION_FAILURE' } }])
    },
  )

  test('404 for an unknown world', async () => {
    const response = await server.request('/_sandbox/inbox/hooks?world=nowhere', { method: 'POST', body: '{}' })
    expect(response.status).toBe(404)
  })
})

test('Sending to an inbox needs no token of the sandbox, and reading it does', async () => {
  await using closed = await startServer('--sandbox-token', 'open sesame')
  const responses = [
    await closed.request('/_sandbox/inbox/hooks', { method: 'POST', body: '{}' }),
    await closed.request('/_sandbox/inbox'),
    await closed.request('/_sandbox/inbox/hooks', { method: 'PUT', body: '{}' }),
    await closed.request('/_sandbox/inbox', { headers: { 'x-sandbox-token': 'open sesame' } }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([200, 401, 401, 200])
})

describe('POST /_sandbox/events', () => {
  atNoon('201 is an event that changes no record, listed and delivered like any other', async (world) => {
    await hook(world, inboxUrl(world))
    const wallet = await (await world.get('/api/v1/wallets/1')).json()
    const [status, event] = await make(world, { type: 'payout.failed', data: { anything: [1, 'two'] } })
    expect([status, event]).toEqual([
      201,
      { id: expect.any(String), type: 'payout.failed', created_at: NOON, data: { anything: [1, 'two'] } },
    ])
    await settle(world)
    expect((await inboxOf(world)).map(({ body }) => JSON.parse(body) as unknown)).toEqual([event])
    expect(await eventsOf(world)).toEqual([event as PublishedEvent])
    expect(await (await world.get('/api/v1/wallets/1')).json()).toEqual(wallet)
  })

  test.each([...EVENT_TYPES])('%s has an example of its data', async (type) => {
    const world = await server.world(NOON)
    const [status, event] = await make(world, { type })
    expect([status, event]).toMatchObject([201, { type, data: expect.any(Object) }])
  })

  test.each(['limited', '2'])('is of the client %p', async (client) => {
    const world = await server.world(NOON)
    await make(world, { type: 'ping', client })
    expect(await eventsOf(world)).toEqual([])
    expect(await eventsOf(await world.limited())).toHaveLength(1)
  })

  atNoon('404 for an unknown client, 400 for an unknown type', async (world) => {
    expect(await make(world, { type: 'ping', client: 'nobody' })).toEqual([404, notFound('Client not found')])
    expect(await make(world, { type: 'order.lost' })).toMatchObject([400, { error: { messages: { type: [{}] } } }])
  })
})

describe('POST /_sandbox/events/{id}/redeliver', () => {
  const again = async (world: TestWorld, eventId: string, body?: object) =>
    (await world.control(`/events/${eventId}/redeliver`, body)).json()

  test('202 delivers the event again to every webhook, or to one alone', async () => {
    const world = await server.world(NOON)
    await hook(world, inboxUrl(world))
    const { id } = await hook(world, inboxUrl(world, 'alone'))
    const [, event] = await make(world, { type: 'wallet.low' })
    const eventId = (event as PublishedEvent).id
    await settle(world)
    expect(await again(world, eventId, {})).toEqual({ webhooks: 2 })
    await settle(world)
    expect(await again(world, eventId, { webhook_id: id })).toEqual({ webhooks: 1 })
    expect(await again(world, eventId, { webhook_id: 'whk_of_nobody' })).toEqual({ webhooks: 0 })
    await settle(world)
    const names = (await inboxOf(world)).map(({ name }) => name)
    expect(names.filter((name) => name === 'alone')).toHaveLength(3)
    expect(names).toHaveLength(5)
  })
})
