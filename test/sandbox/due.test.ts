import { describe, expect, test } from 'bun:test'
import { validation } from '../errors.ts'
import { forFile, startServer, type TestWorld } from '../harness.ts'
import { DELAYED, NOON, pay, place } from '../records.ts'
import { control, succeed } from './surface.ts'

const server = forFile(await startServer('--rate-limit', 'off'))

interface Due {
  at: string
  kind: string
  id: string
  next: string
  webhook: string | null
  attempt: number | null
}
const dueIn = ({ name }: TestWorld, query = '') => succeed<Due[]>(server, 'GET', `/due?world=${name}${query}`)
const after = (seconds: number): string => new Date(Date.parse(NOON) + seconds * 1_000).toISOString()
const STEP = { webhook: null, attempt: null }

describe('GET /_sandbox/due', () => {
  test('200 returns an empty list for a world without due work', async () => {
    expect(await dueIn(await server.world(NOON))).toEqual([])
  })

  test('has the next step of each order and payout, the earliest first', async () => {
    const world = await server.world(NOON)
    const { id: order } = await place(world, DELAYED)
    const { id: payout } = await pay(world)
    const before = await dueIn(world)
    expect(before).toEqual([
      { ...STEP, at: after(1), kind: 'payout', id: payout, next: 'payout.queued' },
      { ...STEP, at: expect.any(String), kind: 'order', id: String(order), next: 'order.processing' },
    ])
    expect(await dueIn(world, '&limit=1')).toEqual(before.slice(0, 1))
    await world.clock({ now: before[1]?.at ?? NOON })
    expect((await dueIn(world)).find(({ kind }) => kind === 'order')?.next).toBe('order.delivered')
    await world.clock({ advance: 'PT1H' })
    expect(await dueIn(world)).toEqual([])
  })

  test('has the next attempt to deliver an event, with the webhook that it is for', async () => {
    const world = await server.world(NOON)
    await succeed(server, 'PUT', `/inbox/shop?world=${world.name}`, { status: 503 })
    const url = `${server.url}/_sandbox/inbox/shop?world=${world.name}`
    await world.post('/api/v1/webhooks', { name: 'Shop', url, events: ['wallet.*'] })
    const { id } = await succeed<{ id: string }>(server, 'POST', `/events?world=${world.name}`, {
      type: 'wallet.credited',
    })
    await succeed(server, 'POST', `/webhooks/settle?world=${world.name}`)
    expect(await dueIn(world)).toEqual([
      { at: after(30), kind: 'delivery', id, next: 'wallet.credited', webhook: 'Shop', attempt: 2 },
    ])
    await world.clock({ now: after(30) })
    await succeed(server, 'POST', `/webhooks/settle?world=${world.name}`)
    expect(await dueIn(world)).toMatchObject([{ at: after(150), attempt: 3 }])
  })

  test.each([
    ['limit=0', validation('limit', 'min', 'must be at least 1')],
    ['limit=1001', validation('limit', 'max', 'must be at most 1000')],
  ])('400 for %s', async (query, body) => {
    expect(await control(server, 'GET', `/due?${query}`)).toMatchObject({ status: 400, body })
  })
})
