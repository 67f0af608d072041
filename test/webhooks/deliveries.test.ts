import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook as Stranger } from 'standardwebhooks'
import { badRequest } from '../errors.ts'
import { eventsOf } from '../events/events.ts'
import { againstBinary, forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import { HUNDRED, INSTANT, NOON, pay, place } from '../records.ts'
import {
  attemptsOf,
  fund,
  hook,
  patchHook,
  type Receiver,
  readHook,
  receiversOfFile,
  settle,
  WEBHOOKS,
} from './webhooks.ts'

const server = forFile(await startServer('--rate-limit', 'off'))

const atNoon = testIn(() => server.world(NOON))
const receiving = receiversOfFile()
const failing = () => new Response('not today', { status: 503 })
const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64')
const hex = (secret: string, text: string): string => createHmac('sha256', keyOf(secret)).update(text).digest('hex')
const later = async (world: TestWorld, advance: string): Promise<TestWorld> => {
  await world.clock({ advance })
  return world.again()
}

describe('A delivery', () => {
  test('is a POST of the event as JSON, as GET /api/v1/events has it', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const { id } = await hook(world, `${receiver.url}?key=1`)
    await place(world, { ...INSTANT, quantity: 2 })
    await settle(world)
    const events = await eventsOf(world)
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual(events.map(({ type }) => type).sort())
    for (const { body, headers } of receiver.received) {
      expect(events).toContainEqual(JSON.parse(body))
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('user-agent')).toMatch(/^Scrip\/\d/)
    }
    const attempts = await attemptsOf(world, id)
    expect(attempts).toHaveLength(3)
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({
        attempt: 1,
        status: 'delivered',
        response_status: 200,
        response_body: 'ok',
        next_attempt_at: null,
        created_at: NOON,
      })
    }
  })

  test('goes to each webhook whose filter fits, and to nobody else', async () => {
    const [world, all, orders, others] = [await server.world(NOON), receiving(), receiving(), receiving()]
    await hook(world, all.url)
    await hook(world, orders.url, { events: ['order.*'] })
    await hook(world, others.url, { events: ['payout.*', 'wallet.credited'] })
    await hook(await world.limited(), others.url)
    await place(world, INSTANT)
    await settle(world)
    expect(all.types().sort()).toEqual(['order.created', 'order.delivered', 'wallet.debited'])
    expect(orders.types()).toEqual(['order.created', 'order.delivered'])
    expect(others.types()).toEqual([])
  })

  test('is not made for events from before the webhook was created', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    await fund(world)
    await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    expect(receiver.received).toHaveLength(1)
  })

  test('is sent without a request that waits for it', async () => {
    const [world, receiver] = [await server.world(), receiving()]
    await hook(world, receiver.url)
    await fund(world)
    await receiver.until(1)
  })
})

test.skipIf(againstBinary)('An event that is missing holds up none of those behind it', async () => {
  const world = await server.world(NOON)
  const receiver = receiving(failing)
  await hook(world, receiver.url)
  const wallets = [1, 2, 3, 1, 2, 3]
  for (const wallet of wallets) await fund(world, 1, wallet)
  await settle(world)
  const sent = receiver.received.length
  expect(sent).toBe(3)
  const sqlite = server.database(world.name)
  sqlite?.run('PRAGMA foreign_keys = OFF')
  sqlite?.run('DELETE FROM events WHERE id IN (SELECT min(event_id) FROM webhook_queue GROUP BY record)')
  sqlite?.run('PRAGMA foreign_keys = ON')
  receiver.reply = () => new Response('ok')
  const after = await later(world, 'PT30S')
  await settle(after)
  expect(receiver.types().slice(sent)).toEqual(Array(3).fill('wallet.credited'))
  expect(server.errors()).toContain('is missing, and its delivery to')
})

test.skipIf(againstBinary)(
  'The response to an event that was changed meanwhile, as by an erasure, is not kept',
  async () => {
    const world = await server.world(NOON)
    const sqlite = server.database(world.name)
    const receiver = receiving(({ body }) => {
      sqlite?.run("UPDATE events SET data = json_set(data, '$.amount', 0)")
      return new Response(body)
    })
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    expect(await attemptsOf(world, id)).toMatchObject([
      { status: 'delivered', response_status: 200, response_body: null },
    ])
  },
)

describe('A signature', () => {
  test('of the kind standard is verified by the library of the Standard Webhooks', async () => {
    const [world, receiver] = [await server.world(), receiving()]
    const { secret } = await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    const [{ body, headers, event }] = receiver.received as [Receiver['received'][0]]
    expect(headers.get('webhook-id')).toBe(event.id)
    expect(new Stranger(secret).verify(body, Object.fromEntries(headers))).toEqual(event)
    expect(() => new Stranger(secret).verify(`${body} `, Object.fromEntries(headers))).toThrow('No matching signature')
  })

  test('of the kind timestamped is a digest of time and body', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const { secret } = await hook(world, receiver.url, { signing: 'timestamped' })
    await fund(world)
    await settle(world)
    const [{ body, headers }] = receiver.received as [Receiver['received'][0]]
    expect(headers.get('x-timestamp')).toBe('1893499200')
    expect(headers.get('x-signature')).toBe(hex(secret, `1893499200.${body}`))
    expect(headers.get('webhook-signature')).toBeNull()
  })

  test('of the kind body is a digest of the body, beside the ids of webhook and event', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const { id, secret } = await hook(world, receiver.url, { signing: 'body' })
    await fund(world)
    await settle(world)
    const [{ body, headers, event }] = receiver.received as [Receiver['received'][0]]
    const names = ['x-webhook-id', 'x-event-id', 'x-event-type', 'x-timestamp', 'x-signature']
    expect(names.map((name) => headers.get(name))).toEqual([
      id,
      event.id,
      'wallet.credited',
      '1893499200',
      hex(secret, body),
    ])
  })

  test('is made with both secrets for 24 hours after a rotation, the new one first', async () => {
    let world = await server.world(NOON)
    const receiver = receiving()
    const hooks = [await hook(world, receiver.url), await hook(world, receiver.url, { signing: 'body' })]
    const secrets: [string, string][] = []
    for (const { id, secret } of hooks) {
      const rotated = (await (await world.post(`${WEBHOOKS}/${id}/rotate`)).json()) as { secret: string }
      secrets.push([rotated.secret, secret])
    }
    const [[newest, before], [newestOfBody, beforeOfBody]] = secrets as [[string, string], [string, string]]
    const sent = async (kind: 'webhook-signature' | 'x-signature') => {
      receiver.received.length = 0
      await fund(world)
      await settle(world)
      const found = receiver.received.find(({ headers }) => headers.has(kind))
      if (!found) throw new Error(`no ${kind}`)
      return found
    }
    const standard = await sent('webhook-signature')
    const signed = (secret: string) => new Stranger(secret).sign(standard.event.id, new Date(NOON), standard.body)
    expect(standard.headers.get('webhook-signature')).toBe(`${signed(newest)} ${signed(before)}`)
    const both = await sent('x-signature')
    expect(both.headers.get('x-signature')).toBe(`${hex(newestOfBody, both.body)},${hex(beforeOfBody, both.body)}`)
    world = await later(world, 'PT24H')
    const one = await sent('x-signature')
    expect(one.headers.get('x-signature')).toBe(hex(newestOfBody, one.body))
  })

  test('is no longer made with a secret that was rotated twice', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const { id, secret } = await hook(world, receiver.url, { signing: 'body' })
    for (let time = 0; time < 2; time++) await world.post(`${WEBHOOKS}/${id}/rotate`)
    await fund(world)
    await settle(world)
    const [{ body, headers }] = receiver.received as [Receiver['received'][0]]
    expect(headers.get('x-signature')?.split(',')).toHaveLength(2)
    expect(headers.get('x-signature')).not.toContain(hex(secret, body))
  })
})

describe('A delivery that fails', () => {
  test('is tried again 30 s, 2 min, 10 min, 1 h and 6 h after the previous failure, and has then failed', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(failing)
    const { id } = await hook(world, receiver.url, { events: ['wallet.credited'] })
    await fund(world)
    await settle(world)
    const times = [NOON]
    for (const pause of ['PT30S', 'PT2M', 'PT10M', 'PT1H', 'PT6H']) {
      const attempts = await attemptsOf(world, id)
      expect(attempts).toHaveLength(times.length)
      expect(attempts.at(-1)).toMatchObject({
        attempt: times.length,
        status: 'retrying',
        response_status: 503,
        response_body: 'not today',
      })
      times.push(attempts.at(-1)?.next_attempt_at ?? 'never')
      world = await later(world, pause)
      await settle(world)
    }
    expect(times.slice(1)).toEqual([
      '2030-01-01T12:00:30.000Z',
      '2030-01-01T12:02:30.000Z',
      '2030-01-01T12:12:30.000Z',
      '2030-01-01T13:12:30.000Z',
      '2030-01-01T19:12:30.000Z',
    ])
    expect((await attemptsOf(world, id)).at(-1)).toMatchObject({ attempt: 6, status: 'failed', next_attempt_at: null })
    world = await later(world, 'P1D')
    await settle(world)
    expect(receiver.received).toHaveLength(6)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  test.each([
    ['a status of the 300s, which is not followed', () => Response.redirect('http://127.0.0.1:1/', 302), 302],
    ['a status of the 400s', () => new Response('', { status: 404 }), 404],
    ['a status of the 500s', () => new Response('', { status: 500 }), 500],
  ])('is one with %s', async (_, reply, status) => {
    const [world, receiver] = [await server.world(NOON), receiving(reply)]
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    expect(await attemptsOf(world, id)).toMatchObject([{ status: 'retrying', response_status: status }])
  })

  test('is one without a response', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    receiver.stop()
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    expect(await attemptsOf(world, id)).toMatchObject([
      { status: 'retrying', response_status: null, response_body: null, next_attempt_at: '2030-01-01T12:00:30.000Z' },
    ])
  })

  test('holds back the next event of its record, and no other', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const broken = new Set(['payout.queued'])
    receiver.reply = ({ event }) => (broken.has(event.type) ? failing() : new Response())
    await hook(world, receiver.url, { events: ['payout.*', 'wallet.credited'] })
    await pay(world)
    await world.clock({ advance: 'PT5S' })
    await settle(world)
    expect(receiver.types()).toEqual(['payout.created', 'payout.queued'])
    await fund(world)
    await settle(world)
    expect(receiver.types().at(-1)).toBe('wallet.credited')
    broken.clear()
    receiver.received.length = 0
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    expect(receiver.types()).toEqual([
      'payout.queued',
      'payout.processing',
      'payout.submitted',
      'payout.settling',
      'payout.completed',
    ])
  })

  test('for the last time lets the next event of its record follow', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(({ event }) => (event.type === 'payout.created' ? failing() : new Response()))
    const { id } = await hook(world, receiver.url, { events: ['payout.created', 'payout.cancelled'] })
    const payout = await pay(world)
    await world.post(`/api/v1/payouts/${payout.id}/cancel`)
    for (const pause of ['PT30S', 'PT2M', 'PT10M', 'PT1H', 'PT6H']) {
      await settle(world)
      world = await later(world, pause)
    }
    await settle(world)
    expect(receiver.types()).toEqual([...Array(6).fill('payout.created'), 'payout.cancelled'])
    expect((await attemptsOf(world, id)).at(-1)).toMatchObject({ event_type: 'payout.cancelled', status: 'delivered' })
  })
})

describe('A webhook is switched off', () => {
  test('by a 410, with all events that wait', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(() => new Response('', { status: 410 }))]
    const { id } = await hook(world, receiver.url)
    await pay(world)
    await settle(world)
    expect(await readHook(world, id)).toMatchObject({ active: false, disabled_reason: 'gone' })
    const count = receiver.received.length
    await world.clock({ advance: 'PT10M' })
    await settle(world)
    expect(receiver.received).toHaveLength(count)
    expect((await attemptsOf(world, id)).at(-1)).toMatchObject({ status: 'failed', response_status: 410 })
  })

  test('by 3 days of failures since the last success', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(failing)
    const { id } = await hook(world, receiver.url)
    for (let day = 0; day < 3; day++) {
      await fund(world)
      await settle(world)
      expect(await readHook(world, id)).toMatchObject({ active: true })
      world = await later(world, 'P1D')
    }
    await settle(world)
    expect(await readHook(world, id)).toMatchObject({ active: false, disabled_reason: 'failing' })
  })

  test('not by 3 days with a success between them', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(failing)
    const { id } = await hook(world, receiver.url)
    for (let day = 0; day < 4; day++) {
      receiver.reply = day === 2 ? () => new Response() : failing
      await fund(world)
      await settle(world)
      world = await later(world, 'P1D')
      // Deliveries that become due on the new day still count towards the old one.
      await settle(world)
    }
    const attempts = await attemptsOf(world, id)
    const statuses = ['retrying', 'retrying', 'retrying', 'delivered', 'delivered', 'delivered', 'retrying', 'retrying']
    expect(attempts.map(({ status }) => status)).toEqual(statuses)
    expect(await readHook(world, id)).toMatchObject({ active: true, disabled_reason: null })
  })
})

describe('POST /api/v1/webhooks/{id}/ping', () => {
  test('202 sends a ping to this webhook alone, whatever its filter', async () => {
    const [world, mine, other] = [await server.world(NOON), receiving(), receiving()]
    const { id } = await hook(world, mine.url, { events: ['order.*'] })
    await hook(world, other.url)
    const response = await world.post(`${WEBHOOKS}/${id}/ping`)
    const event = (await response.json()) as Receiver['received'][0]['event']
    expect([response.status, event]).toEqual([
      202,
      { id: expect.any(String), type: 'ping', created_at: NOON, data: { webhook_id: id } },
    ])
    await settle(world)
    expect(mine.received.map((received) => received.event)).toEqual([event])
    expect(other.received).toEqual([])
  })

  atNoon('400 for a webhook that is off', async (world) => {
    const { id } = await hook(world, 'http://127.0.0.1:9/')
    await patchHook(world, id, { active: false })
    const response = await world.post(`${WEBHOOKS}/${id}/ping`)
    expect([response.status, await response.json()]).toEqual([400, badRequest('Webhook is not active')])
    expect(await eventsOf(world)).toEqual([])
  })
})

describe('POST /api/v1/events/{id}/redeliver', () => {
  test('202 sends an event again, with the same id and body, to each active webhook whose filter fits', async () => {
    const [world, early, late, off, unfit] = [
      await server.world(NOON),
      receiving(),
      receiving(),
      receiving(),
      receiving(),
    ]
    await hook(world, early.url)
    await fund(world)
    await settle(world)
    await hook(world, late.url, { events: ['wallet.*'] })
    await patchHook(world, (await hook(world, off.url)).id, { active: false })
    await hook(world, unfit.url, { events: ['order.*'] })
    const [event] = await eventsOf(world)
    const response = await world.post(`/api/v1/events/${event?.id}/redeliver`)
    expect([response.status, await response.json()]).toEqual([202, event])
    await settle(world)
    expect(early.received.map(({ body }) => body)).toEqual(Array(2).fill(early.received[0]?.body))
    expect(late.received.map((received) => received.event)).toEqual([event as never])
    expect([off.received, unfit.received]).toEqual([[], []])
  })

  test('begins a fresh series of attempts', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(failing)
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    world = await later(world, 'PT30S')
    await settle(world)
    const [event] = await eventsOf(world)
    await world.post(`/api/v1/events/${event?.id}/redeliver`)
    await settle(world)
    expect((await attemptsOf(world, id)).map(({ attempt }) => attempt)).toEqual([1, 2, 1])
  })

  test('sends a ping to its own webhook alone', async () => {
    const [world, mine, other] = [await server.world(NOON), receiving(), receiving()]
    const { id } = await hook(world, mine.url, { events: ['order.*'] })
    await hook(world, other.url)
    const { id: eventId } = (await (await world.post(`${WEBHOOKS}/${id}/ping`)).json()) as { id: string }
    await world.post(`/api/v1/events/${eventId}/redeliver`)
    await settle(world)
    expect([mine.types().every((type) => type === 'ping'), other.types()]).toEqual([true, []])
  })
})

describe('A receiver', () => {
  atNoon('is asked 4 times at once, and in the order of a record', async (world) => {
    let open = 0
    let openMax = 0
    const four = Promise.withResolvers<void>()
    const receiver = receiving(async () => {
      open += 1
      openMax = Math.max(openMax, open)
      if (open === 4) four.resolve()
      await four.promise
      await Bun.sleep(5)
      open -= 1
      return new Response()
    })
    await hook(world, receiver.url)
    for (let count = 0; count < 5; count++) await pay(world, { ...HUNDRED, reference_id: `no. ${count}` })
    await world.clock({ advance: 'PT5S' })
    await settle(world)
    expect(openMax).toBe(4)
    const byRecord = Map.groupBy(receiver.received, ({ event }) => event.data.reference_id)
    byRecord.delete(undefined)
    const WAY = ['created', 'queued', 'processing', 'submitted', 'settling', 'completed']
    expect([...byRecord.values()].map((all) => all.map(({ event }) => event.type))).toEqual(
      Array(5).fill(WAY.map((step) => `payout.${step}`)),
    )
  })

  test('never responds: 48 of them together leave places to those that have not failed', async () => {
    const worlds = await Promise.all(Array.from({ length: 4 }, () => server.world(NOON)))
    const silent = receiving(failing)
    for (const world of worlds) {
      for (let count = 0; count < 16; count++) await hook(world, silent.url)
      await fund(world)
      await settle(world)
    }
    const failed = silent.received.length
    expect(failed).toBe(64)
    const release = Promise.withResolvers<void>()
    silent.reply = async () => {
      await release.promise
      return failing()
    }
    for (const world of worlds) await world.clock({ advance: 'PT30S' })
    await silent.until(failed + 48)
    const [other, healthy] = [await server.world(NOON), receiving()]
    await hook(other, healthy.url)
    for (const wallet of [1, 2, 3, 4]) await fund(other, 1, wallet)
    await settle(other)
    expect(healthy.received).toHaveLength(4)
    expect(silent.received).toHaveLength(failed + 48)
    release.resolve()
    for (const world of worlds) await settle(await world.again())
    expect(silent.received).toHaveLength(failed + 64)
  })

  atNoon('that failed last is asked once at a time', async (world) => {
    let open = 0
    let openMax = 0
    const receiver = receiving(failing)
    await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    receiver.reply = async () => {
      open += 1
      openMax = Math.max(openMax, open)
      await Bun.sleep(20)
      open -= 1
      return failing()
    }
    for (const wallet of [2, 3, 4]) await fund(world, 1, wallet)
    await settle(world)
    expect(openMax).toBe(1)
  })
})
