import { describe, expect } from 'bun:test'
import { eventsOf } from '../events/events.ts'
import { forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import { INSTANT, NOON, ORDERS, place } from '../records.ts'
import { type AttemptBody, attemptsOf, hook, receiversOfFile, settle } from './webhooks.ts'

/** Events and deliveries beside the request that has caused them. */

const server = forFile(await startServer('--rate-limit', 'off'))

const openReceiver = receiversOfFile()
const atNoon = testIn(() => server.world(NOON))

interface Entry {
  id: number
  path: string
  events: string[]
  deliveries: (AttemptBody & { webhook_id: string; error: string | null; verifies: boolean | null })[]
}

const entriesOf = async (world: TestWorld): Promise<Entry[]> =>
  (await (await server.request(`/_sandbox/requests?world=${world.name}`)).json()) as Entry[]
/** The last request of a path. */
const entryOf = async (world: TestWorld, path: string): Promise<Entry> => {
  const id = (await entriesOf(world)).find((entry) => entry.path === path)?.id
  return (await (await server.request(`/_sandbox/requests/${id}?world=${world.name}`)).json()) as Entry
}
const typesOf = async (world: TestWorld, { events }: Entry): Promise<string[]> => {
  const all = await eventsOf(world)
  return events.map((id) => all.find((event) => event.id === id)?.type ?? 'none')
}
const inboxUrl = (world: TestWorld) => `${server.url}/_sandbox/inbox/hooks?world=${world.name}`
const tell = (world: TestWorld, status: number) =>
  server.request(`/_sandbox/inbox/hooks?world=${world.name}`, { method: 'PUT', body: JSON.stringify({ status }) })

describe('GET /_sandbox/requests/{id}', () => {
  atNoon('shows the events of a request, and each attempt to deliver them', async (world) => {
    const { id } = await hook(world, inboxUrl(world))
    await tell(world, 503)
    await place(world, INSTANT)
    await settle(world)
    await tell(world, 200)
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    const entry = await entryOf(world, ORDERS)
    const again = await world.again()
    expect(await typesOf(again, entry)).toEqual(['wallet.debited', 'order.created', 'order.delivered'])
    const attempts = await attemptsOf(again, id)
    expect(entry.deliveries).toEqual(
      attempts.map((attempt) => ({ webhook_id: id, ...attempt, error: null, verifies: true })),
    )
    expect(attempts.map(({ status }) => status).sort()).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'retrying',
      'retrying',
    ])
  })

  atNoon('says why an attempt got no response', async (world) => {
    using wordless = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket) => void socket.end('hello\n') },
    })
    using shut = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const urls = [`http://127.0.0.1:${wordless.port}/`, `http://127.0.0.1:${shut.port}/`, inboxUrl(world)]
    shut.stop()
    const ids = await Promise.all(urls.map(async (url) => (await hook(world, url, { events: ['order.created'] })).id))
    await tell(world, 500)
    await place(world, INSTANT)
    await settle(world)
    const { deliveries } = await entryOf(world, ORDERS)
    const said = ids.map((id) => deliveries.find(({ webhook_id }) => webhook_id === id))
    expect(said).toMatchObject([
      { response_status: null, error: 'no HTTP response' },
      { response_status: null, error: 'ECONNREFUSED' },
      { response_status: 500, error: null },
    ])
  })

  atNoon('says of each delivery to an inbox whether its signature verifies, of each kind', async (world) => {
    const receiver = openReceiver()
    const wrong = { webhook: 'bad_signature', match: { type: 'order.created' }, times: 4 }
    expect((await world.control('/faults', wrong)).status).toBe(201)
    const inboxes = ['standard', 'timestamped', 'body', 'standard'].map((signing) => ({
      url: inboxUrl(world),
      signing,
    }))
    for (const { url, signing } of [...inboxes, { url: receiver.url, signing: 'body' }])
      await hook(world, url, { signing, events: ['order.*'] })
    await place(world, INSTANT)
    await settle(world)
    const { deliveries } = await entryOf(world, ORDERS)
    const said = deliveries.map(({ event_type, verifies }) => `${event_type} ${verifies}`).sort()
    const expected = [...inboxes.flatMap(() => ['created false', 'delivered true']), 'created null', 'delivered null']
    expect(said).toEqual(expected.map((each) => `order.${each}`).sort())
  })

  atNoon('the list and HAR have the ids of the events', async (world) => {
    await place(world, INSTANT)
    const { events } = await entryOf(world, ORDERS)
    const [listed] = await entriesOf(world)
    expect(listed).toMatchObject({ path: ORDERS, events })
    expect(listed).not.toHaveProperty('deliveries')
    const har = await server.request(`/_sandbox/requests?world=${world.name}&format=har&path=${ORDERS}`)
    expect(await har.json()).toMatchObject({ log: { entries: [{ _world: world.name, _events: events }] } })
  })
})
