import { describe, expect, test } from 'bun:test'
import { eventsOf } from '../events/events.ts'
import { sharedServer, type TestWorld } from '../harness.ts'
import { HUNDRED, INSTANT, NOON, PAYOUTS, pay } from '../records.ts'
import { hook, type Receiver, receiversOfFile, settle } from './webhooks.ts'

/** Deliveries belong to the trace of the request that has caused them (W3C Trace Context). */

const server = await sharedServer()

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const receiving = receiversOfFile()
const send = (world: TestWorld, path: string, body: object, traceparent: string) =>
  world.request(path, { method: 'POST', body: JSON.stringify(body), headers: { traceparent } })
const tracesOf = ({ received }: Receiver) =>
  received.map(({ event, headers }) => [event.type, headers.get('traceparent')])

describe('The header traceparent of a request', () => {
  test('is that of the deliveries of all events that it causes, and not in their bodies', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    await hook(world, receiver.url)
    expect((await send(world, '/api/v1/orders', INSTANT, TRACE)).ok).toBe(true)
    await settle(world)
    expect(tracesOf(receiver).sort()).toEqual([
      ['order.created', TRACE],
      ['order.delivered', TRACE],
      ['wallet.debited', TRACE],
    ])
    expect(JSON.stringify(await eventsOf(world))).not.toContain('traceparent')
    for (const { body } of receiver.received) expect(body).not.toContain(TRACE)
  })

  test('is that of each further attempt, and of a redelivery that belongs to another trace', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(() => new Response('', { status: 503 }))]
    const { id } = await hook(world, receiver.url)
    const { id: event } = (await (await send(world, `/api/v1/webhooks/${id}/ping`, {}, TRACE)).json()) as { id: string }
    await settle(world)
    receiver.reply = () => new Response()
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    await send(world, `/api/v1/events/${event}/redeliver`, {}, TRACE.replace('0af', '1af'))
    await settle(world)
    expect(tracesOf(receiver)).toEqual(Array(3).fill(['ping', TRACE]))
  })

  test('is not that of later due work, or of another request', async () => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    await hook(world, receiver.url, { events: ['payout.*'] })
    expect((await send(world, PAYOUTS, HUNDRED, TRACE)).status).toBe(201)
    await world.clock({ advance: 'PT1S' })
    await pay(world, { ...HUNDRED, reference_id: 'another' })
    await settle(world)
    expect(tracesOf(receiver).sort()).toEqual([
      ['payout.created', null],
      ['payout.created', TRACE],
      ['payout.queued', null],
    ])
  })

  test.each([
    '',
    'mine',
    TRACE.toUpperCase(),
    TRACE.replace(/^00/, 'ff'),
    `${TRACE}-00`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    `${TRACE}, ${TRACE}`,
  ])('is left out when it is not valid: %p', async (traceparent) => {
    const [world, receiver] = [await server.world(NOON), receiving()]
    const { id } = await hook(world, receiver.url)
    expect((await send(world, `/api/v1/webhooks/${id}/ping`, {}, traceparent)).status).toBe(202)
    await settle(world)
    expect(tracesOf(receiver)).toEqual([['ping', null]])
  })
})
