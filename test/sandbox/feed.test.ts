import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { validation, worldNotFound } from '../errors.ts'
import { forFile, startServer } from '../harness.ts'
import { HUNDRED, NOON, saveAda } from '../records.ts'
import { listening } from '../socket.ts'
import { FeedReader } from './feed-reader.ts'
import { control, succeed } from './surface.ts'

const server = forFile(await startServer('--rate-limit', 'off'))

const SANDBOX = { username: 'sandbox', password: 'sandbox' }
const country = (id: number) => `/api/v1/countries/${id}`
const ofWorld = (name: string) => `?world=${name}`

describe('GET /_sandbox/feed', () => {
  test('sends each request as it is recorded, without bodies and secrets', async () => {
    const world = await server.world(NOON)
    const feed = await FeedReader.open(server, ofWorld(world.name))
    const response = await world.post('/api/v1/products/1/charges', { denomination: 100, quantity: 2 })
    await response.text()
    const message = await feed.next()
    const [recorded] = await succeed<[{ request: object; response: object }]>(
      server,
      'GET',
      `/requests?world=${world.name}&limit=1`,
    )
    const { body: sent, ...request } = recorded.request as { body: string }
    const { body: received, ...rest } = recorded.response as { body: string }
    expect([sent, received].every((body) => body.length > 10)).toBe(true)
    expect(message).toEqual({
      id: expect.stringMatching(/^\d+$/),
      event: 'request',
      data: { ...recorded, request, response: rest } as never,
    })
    expect(message?.data).toMatchObject({
      world: world.name,
      id: 3,
      method: 'POST',
      route: '/api/v1/products/:id/charges',
      request: { headers: { authorization: '[redacted]' } },
      response: { status: 200 },
      outcome: 'success',
      message: null,
    })
    await feed.close()
  })

  test('sends the events of orders, payouts and wallets by their type, before the request that caused them', async () => {
    const world = await server.world(NOON)
    const feed = await FeedReader.open(server, ofWorld(world.name))
    const order = { product_id: 1, denomination: 100, quantity: 1 }
    const placed = (await (await world.post('/api/v1/orders', order)).json()) as { id: number }
    const messages = await feed.take(4)
    expect(messages.map(({ event }) => event)).toEqual([
      'wallet.debited',
      'order.created',
      'order.delivered',
      'request',
    ])
    const [event] = await world.read<[{ id: string }]>('/api/v1/events?type=order.delivered')
    expect(messages[2]?.data).toEqual({ world: world.name, ...event })
    expect(messages[2]?.data).toMatchObject({ type: 'order.delivered', data: { id: placed.id, status: 'DELIVERED' } })
    await feed.close()
  })

  test('sends due work when the clock is moved, and acts of operators', async () => {
    const world = await server.world(NOON)
    await saveAda(world)
    const payout = await world.post('/api/v1/payouts', { ...HUNDRED, reference_id: 'one', amount: 10 })
    expect(payout.status).toBe(201)
    const feed = await FeedReader.open(server, ofWorld(world.name))
    await world.clock({ advance: 'PT5S' })
    const moved = ['payout.queued', 'payout.processing', 'payout.submitted', 'payout.settling', 'payout.completed']
    expect((await feed.take(5)).map(({ event }) => event)).toEqual(moved)
    await succeed(server, 'POST', `/wallets/1/fund?world=${world.name}`, { amount: 5 })
    expect((await feed.next())?.event).toBe('wallet.credited')
    await feed.close()
  })

  test('sends nothing of other worlds, and nothing of an event whose transaction was undone', async () => {
    const [world, other] = [await server.world(), await server.world()]
    const feed = await FeedReader.open(server, ofWorld(world.name))
    await (await other.get(country(1))).text()
    await (await world.post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 9_999 })).text()
    await (await world.get(country(2))).text()
    const messages = await feed.take(2)
    expect(messages.map(({ event, data }) => `${event} ${data.world} ${data.path}`)).toEqual([
      `request ${world.name} /api/v1/orders`,
      `request ${world.name} ${country(2)}`,
    ])
    await feed.close()
  })

  test('?world=* sends all worlds, also those that are made, copied or reset later', async () => {
    const feed = await FeedReader.open(server, '?world=*')
    const world = await server.world()
    await succeed(server, 'PUT', `/worlds/copied-${world.name}`, { from: world.name })
    await succeed(server, 'POST', `/reset?world=${world.name}`)
    for (const name of [`copied-${world.name}`, world.name, 'default'])
      await succeed(server, 'POST', `/wallets/1/fund?world=${name}`, { amount: 5 })
    const messages = await feed.take(4)
    expect(messages.map(({ event, data }) => `${event} ${data.world}`)).toEqual([
      `request ${world.name}`,
      `wallet.credited copied-${world.name}`,
      `wallet.credited ${world.name}`,
      'wallet.credited default',
    ])
    await feed.close()
  })
})

describe('Last-Event-ID', () => {
  test('resumes after that message', async () => {
    const world = await server.world()
    const feed = await FeedReader.open(server, ofWorld(world.name))
    for (const id of [1, 2]) await (await world.get(country(id))).text()
    const [first] = await feed.take(2)
    await feed.close()
    await (await world.get(country(3))).text()
    const again = await FeedReader.open(server, ofWorld(world.name), { 'last-event-id': first?.id ?? '' })
    expect((await again.take(2)).map(({ data }) => data.path)).toEqual([country(2), country(3)])
    await again.close()
  })

  test('resumes a feed that has sent no message yet', async () => {
    const world = await server.world()
    const feed = await FeedReader.open(server, ofWorld(world.name))
    await feed.close()
    await (await world.get(country(4))).text()
    const again = await FeedReader.open(server, ofWorld(world.name), { 'last-event-id': feed.lastId })
    expect((await again.next())?.data.path).toBe(country(4))
    await again.close()
  })

  test.each(['999999999', 'evt_unknown'])('%s, which is unknown, resumes with the oldest message kept', async (id) => {
    const world = await server.world()
    const feed = await FeedReader.open(server, ofWorld(world.name))
    for (const each of [5, 6]) await (await world.get(country(each))).text()
    await feed.close()
    const again = await FeedReader.open(server, ofWorld(world.name), { 'last-event-id': id })
    const messages = await again.take(3)
    expect(messages.map(({ data }) => data.path)).toEqual(['/auth/login', country(5), country(6)])
    await again.close()
  })
})

describe('a reader', () => {
  test('gets the number of messages that it has missed', async () => {
    await using fresh = await startServer('--rate-limit', 'off')
    const world = await fresh.world()
    const feed = await FeedReader.open(fresh, ofWorld(world.name))
    await feed.close()
    const large = JSON.stringify({ text: 'x'.repeat(1_000_000) })
    for (let sent = 0; sent < 10; sent += 1) await (await world.post('/api/v1/products/1/charges', large)).text()
    const again = await FeedReader.open(fresh, ofWorld(world.name), { 'last-event-id': feed.lastId })
    const [skipped, ...requests] = await again.take(9)
    expect(skipped).toEqual({ id: '2', event: 'skipped', data: { count: 2 } as never })
    expect(requests.map(({ id }) => id)).toEqual(['3', '4', '5', '6', '7', '8', '9', '10'])
    await again.close()
  })

  test('that is too slow is disconnected, and the others continue', async () => {
    const { url, stop } = await listening('--rate-limit', 'off', '--log-level', 'error')
    const request = (path: string, init?: BunFetchRequestInit) => fetch(url + path, init)
    const login = await request('/auth/login', { method: 'POST', body: JSON.stringify(SANDBOX) })
    const { access_token } = (await login.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}`, 'x-padding': 'x'.repeat(14_000) }
    const ask = async (path: string, init: RequestInit = {}) => (await request(path, { headers, ...init })).text()
    const slow = connect(Number(new URL(url).port), '127.0.0.1')
    slow.write('GET /_sandbox/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await new Promise((resolve) => slow.once('data', resolve))
    slow.pause()
    const quick = await FeedReader.open({ request })
    // More than the buffers of a connection hold, and then more than is kept.
    for (let sent = 0; sent < 800; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => ask(country(1))))
      await quick.take(50)
    }
    const body = JSON.stringify({ text: 'x'.repeat(1_000_000) })
    for (let sent = 0; sent < 12; sent += 1) await ask('/api/v1/products/1/charges', { method: 'POST', body })
    await quick.take(1)
    const ended = new Promise<string>((resolve) => {
      let tail = ''
      slow.on('data', (chunk) => {
        tail = (tail + chunk.toString()).slice(-100)
        if (tail.endsWith('\r\n0\r\n\r\n')) resolve(tail)
      })
    })
    slow.resume()
    expect(await ended).toEndWith('\n\n\r\n0\r\n\r\n')
    await ask(country(2))
    while ((await quick.next())?.data.path !== country(2));
    slow.destroy()
    await quick.close()
    await stop()
  })
})

test('a server that stops ends its feeds instead of waiting for them', async () => {
  const fresh = await listening('--log-level', 'error')
  const response = await fetch(`${fresh.url}/_sandbox/feed`)
  const [text] = await Promise.all([response.text(), fresh.stop()])
  expect(text).toStartWith('retry: 1000\nid: 0\n\n')
})

describe('access to the feed', () => {
  test('404 for an unknown world, 400 for an unknown parameter', async () => {
    expect(await control(server, 'GET', '/feed?world=nowhere')).toMatchObject({
      status: 404,
      body: worldNotFound('nowhere'),
    })
    expect(await control(server, 'GET', '/feed?form=*')).toMatchObject({
      status: 400,
      body: validation('form', 'enum', 'is not a known parameter; known are world'),
    })
  })
})
