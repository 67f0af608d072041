import { describe, expect, test } from 'bun:test'
import { notFound, validation } from '../errors.ts'
import { forFile, type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { HUNDRED, NOON, PAYOUTS, type PublishedEvent } from '../records.ts'
import { Connection, listening } from '../socket.ts'
import { hook } from '../webhooks/webhooks.ts'
import { control, succeed } from './surface.ts'

/** Lists that wait for their first item (contract C15). */

const server = forFile(await startServer('--rate-limit', 'off'))
const inWorld = testIn(() => server.world())

const COUNTRY = '/api/v1/countries/1'
const LONG = 'wait=30s'

const list = <Item>(world: string, what: string, query: string): Promise<Item[]> =>
  succeed<Item[]>(server, 'GET', `/${what}?world=${world}&${query}`)

/** A request that waits, once it does: the server has answered a request that came after it. */
const waiting = async <Item>(world: string, what: string, query: string): Promise<{ items: Promise<Item[]> }> => {
  const items = list<Item>(world, what, query)
  await server.request('/status')
  return { items }
}

interface Recorded {
  id: number
  method: string
  path: string
}

interface Message {
  id: number
  name: string
  body: string
}

const inboxUrl = ({ url }: Server, world: TestWorld, name = 'hooks') =>
  `${url}/_sandbox/inbox/${name}?world=${world.name}`

describe('GET /_sandbox/requests?wait', () => {
  inWorld('returns at once what is there already', async (world) => {
    await world.get(COUNTRY)
    expect(await list<Recorded>(world.name, 'requests', `path=${COUNTRY}&${LONG}`)).toMatchObject([
      { id: 2, path: COUNTRY },
    ])
  })

  inWorld('responds with the first request that fits, and passes over the others', async (world) => {
    const { items } = await waiting<Recorded>(world.name, 'requests', `method=POST&search=bonus-7&${LONG}`)
    await world.get('/api/v1/countries?bonus-7')
    await world.post(PAYOUTS, { ...HUNDRED, reference_id: 'other' })
    await world.post(PAYOUTS, { ...HUNDRED, reference_id: 'bonus-7' })
    expect(await items).toMatchObject([{ id: 4, method: 'POST', path: PAYOUTS }])
  })

  inWorld('takes only requests after the one that the test has seen', async (world) => {
    await world.get(COUNTRY)
    const { items } = await waiting<Recorded>(world.name, 'requests', `after=2&${LONG}`)
    await world.get('/api/v1/countries/2')
    expect(await items).toMatchObject([{ id: 3, path: '/api/v1/countries/2' }])
  })

  test('waits in all worlds, those that do not exist yet among them', async () => {
    const { items } = await waiting<Recorded & { world: string }>('*', 'requests', `search=nowhere-else&${LONG}`)
    const world = await server.world()
    await world.get(`${COUNTRY}?nowhere-else`)
    expect(await items).toMatchObject([{ world: world.name, path: `${COUNTRY}?nowhere-else` }])
  })

  test('is empty when the time is up', async () => {
    const world = await server.world()
    expect(await list(world.name, 'requests', 'status=5xx&wait=1s')).toEqual([])
  })

  test.each([
    ['/requests?wait=0s', validation('wait', 'format', 'must be a time from 1s to 30s, such as 5s')],
    ['/requests?wait=31s', validation('wait', 'format', 'must be a time from 1s to 30s, such as 5s')],
    ['/inbox?wait=5', validation('wait', 'format', 'must be a time from 1s to 30s, such as 5s')],
    ['/events?wait=5m', validation('wait', 'format', 'must be a time from 1s to 30s, such as 5s')],
    ['/inbox?after=evt_1', validation('after', 'integer', 'must be an id')],
    ['/requests?after=-1', validation('after', 'integer', 'must be an id')],
    [
      '/requests?world=*&after=1',
      validation('after', 'format', 'must come with one world: each numbers its own requests'),
    ],
  ])('%s is refused', async (path, body) => {
    expect(await control(server, 'GET', path)).toMatchObject({ status: 400, body })
  })
})

describe('GET /_sandbox/events?wait', () => {
  test('404 for `after` with the id of no event of this world', async () => {
    expect(await control(server, 'GET', '/events?after=evt_1')).toMatchObject({
      status: 404,
      body: notFound('Event not found'),
    })
  })

  inWorld('responds once the clock has moved a payout so far, without a request of anybody', async (world) => {
    const payout = await world.make<{ id: string }>(PAYOUTS, { ...HUNDRED, reference_id: 'bonus-1' })
    await world.clock({ advance: 'PT4S' })
    const [event] = await list<PublishedEvent>(world.name, 'events', `type=payout.completed&search=BONUS-1&${LONG}`)
    expect(event).toMatchObject({ type: 'payout.completed', data: { id: payout.id, status: 'completed' } })
  })

  inWorld('takes only events after the one that the test has seen', async (world) => {
    await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 1 })
    const [seen] = await list<PublishedEvent>(world.name, 'events', 'limit=1')
    const { items } = await waiting<PublishedEvent>(world.name, 'events', `type=wallet.*&after=${seen?.id}&${LONG}`)
    await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 2 })
    expect(await items).toMatchObject([{ type: 'wallet.credited', data: { amount: 100_003 } }])
  })
})

describe('GET /_sandbox/events?since', () => {
  inWorld('lists what was written in that real time, whatever the clock of the world says', async (world) => {
    await world.clock({ now: NOON, frozen: true })
    await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 1 })
    expect(await list<PublishedEvent>(world.name, 'events', 'since=10m')).toMatchObject([{ created_at: NOON }])
    expect(await control(server, 'GET', `/events?world=${world.name}&since=10`)).toMatchObject({
      status: 400,
      body: validation('since', 'format', 'must be a time like 30s, 10m or 2h'),
    })
  })

  test('is empty for a world that has written nothing', async () => {
    const world = await server.world()
    expect(await list(world.name, 'events', 'since=1d')).toEqual([])
  })
})

describe('GET /_sandbox/inbox?wait', () => {
  inWorld('responds with the first delivery of a type, to a name, with a text', async (world) => {
    await hook(world, inboxUrl(server, world))
    await hook(world, inboxUrl(server, world, 'other'))
    const query = `name=hooks&type=payout.*&search=bonus-1&${LONG}`
    const { items } = await waiting<Message>(world.name, 'inbox', query)
    await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 1 })
    await world.post(PAYOUTS, { ...HUNDRED, reference_id: 'bonus-1' })
    const [message, ...others] = await items
    expect(others).toEqual([])
    expect(message).toMatchObject({ name: 'hooks' })
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ type: 'payout.created', data: { reference_id: 'bonus-1' } })
  })

  inWorld('lists without waiting what fits each filter', async (world) => {
    const at = `/inbox/a?world=${world.name}`
    for (const body of ['{"type":"payout.created"}', 'a text', '[1]']) await control(server, 'POST', at, body)
    await control(server, 'POST', `/inbox/b?world=${world.name}`, '{"type":"order.created"}')
    const idsFor = async (query: string) => (await list<Message>(world.name, 'inbox', query)).map(({ id }) => id)
    expect(await idsFor('name=a')).toEqual([1, 2, 3])
    expect(await idsFor('type=payout.created')).toEqual([1])
    expect(await idsFor('type=order.*')).toEqual([4])
    expect(await idsFor('search=A%20TEXT')).toEqual([2])
    expect(await idsFor('after=2')).toEqual([3, 4])
  })
})

describe('Those who wait', () => {
  test.each([
    ['reset', (world: string) => succeed(server, 'POST', `/reset?world=${world}`)],
    ['dropped', (world: string) => succeed(server, 'DELETE', `/worlds/${world}`)],
  ])('get what there is when their world is %s', async (_, end) => {
    const world = await server.world(NOON)
    const lists = await Promise.all(
      ['requests?status=5xx', 'events?type=ping', 'inbox?name=a'].map(async (path) => {
        const [what = '', query] = path.split('?')
        return waiting(world.name, what, `${query}&${LONG}`)
      }),
    )
    await end(world.name)
    expect(await Promise.all(lists.map(({ items }) => items))).toEqual([[], [], []])
  })

  test('are a thousand at once, and all get the event', async () => {
    await using wire = await listening('--rate-limit', 'off')
    const lines = 'GET /_sandbox/events?type=wallet.credited&wait=30s HTTP/1.1\r\nhost: localhost\r\n\r\n'
    const connections = await Promise.all(Array.from({ length: 1_000 }, () => Connection.open(wire.url)))
    for (const connection of connections) connection.send(lines)
    await fetch(`${wire.url}/_sandbox/wallets/1/fund`, { method: 'POST', body: '{"amount":1}' })
    const bodies = await Promise.all(connections.map(async (connection) => (await connection.response()).body))
    for (const connection of connections) connection.destroy()
    expect(new Set(bodies).size).toBe(1)
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject([{ type: 'wallet.credited', data: { amount: 100_001 } }])
  })
})
