import { describe, expect, test } from 'bun:test'
import { Webhook as Stranger } from 'standardwebhooks'
import { forFile, startServer, type TestWorld } from '../harness.ts'
import type { PublishedEvent } from '../records.ts'
import { NOON, pay } from '../records.ts'
import { attemptsOf, fund, hook, settle } from './webhooks.ts'

const server = forFile(await startServer('--rate-limit', 'off'))

const rule = async (world: TestWorld, body: object): Promise<[number, unknown]> => {
  const response = await world.control('/faults', body)
  return [response.status, await response.json()]
}
const received = async (world: TestWorld): Promise<{ headers: Record<string, string>; body: string }[]> =>
  (await (await server.request(`/_sandbox/inbox?world=${world.name}`)).json()) as never
const types = async (world: TestWorld): Promise<string[]> =>
  (await received(world)).map(({ body }) => (JSON.parse(body) as PublishedEvent).type)
const hooked = async (events: string[] = ['*']) => {
  const world = await server.world(NOON)
  const url = `${server.url}/_sandbox/inbox/hooks?world=${world.name}`
  return { world, ...(await hook(world, url, { events })) }
}

describe('A fault of deliveries', () => {
  test('lose: the event counts as delivered and never comes', async () => {
    const { world, id } = await hooked()
    expect(await rule(world, { webhook: 'lose', match: { type: 'wallet.*' }, times: 1 })).toMatchObject([
      201,
      { webhook: 'lose', match: { type: 'wallet.*' }, times_left: 1 },
    ])
    await fund(world, 1)
    await fund(world, 2)
    await settle(world)
    expect(await types(world)).toEqual(['wallet.credited'])
    expect((await attemptsOf(world, id)).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  test('duplicate: the same event comes again after the response to the first', async () => {
    const { world, id } = await hooked()
    await rule(world, { webhook: 'duplicate', times: 1 })
    await fund(world)
    await settle(world)
    const [first, second] = await received(world)
    expect(second?.body).toBe(String(first?.body))
    expect(await attemptsOf(world, id)).toHaveLength(1)
  })

  test('reorder: an event comes after the next of its record', async () => {
    const { world } = await hooked(['payout.*'])
    await rule(world, { webhook: 'reorder', match: { type: 'payout.queued' }, times: 1 })
    await pay(world)
    await world.clock({ advance: 'PT2S' })
    await settle(world)
    expect(await types(world)).toEqual(['payout.created', 'payout.processing', 'payout.queued'])
    await world.clock({ advance: 'PT3S' })
    await settle(world)
    expect((await types(world)).slice(3)).toEqual(['payout.submitted', 'payout.settling', 'payout.completed'])
  })

  test('reorder: an event waits for one that is still to come', async () => {
    const { world } = await hooked(['payout.*'])
    await rule(world, { webhook: 'reorder', times: 1 })
    await pay(world)
    await settle(world)
    expect(await types(world)).toEqual([])
    await world.clock({ advance: 'PT1S' })
    await settle(world)
    expect(await types(world)).toEqual(['payout.queued', 'payout.created'])
  })

  test('bad_signature: nobody can verify it', async () => {
    const { world, secret } = await hooked()
    await rule(world, { webhook: 'bad_signature', times: 1 })
    await fund(world)
    await settle(world)
    const [{ body, headers }] = (await received(world)) as [{ headers: Record<string, string>; body: string }]
    const clockless = new Stranger(secret).sign(headers['webhook-id'] ?? '', new Date(NOON), body)
    expect(headers['webhook-signature']).not.toBe(clockless)
  })

  describe('with another on the same event strikes, too', () => {
    /** Both rules once, and what came: the type of each event, and whether its signature is good. */
    const struck = async (first: string, second: string, work: (world: TestWorld) => Promise<unknown>) => {
      const { world, id, secret } = await hooked(['payout.*', 'wallet.credited'])
      for (const webhook of [first, second]) await rule(world, { webhook, times: 1 })
      await work(world)
      await settle(world)
      const rules = (await (await server.request(`/_sandbox/faults?world=${world.name}`)).json()) as object[]
      expect(rules).toMatchObject([{ times_left: 0 }, { times_left: 0 }])
      const came = (await received(world)).map(({ headers, body }) => {
        const { type } = JSON.parse(body) as PublishedEvent
        const signature = new Stranger(secret).sign(headers['webhook-id'] ?? '', new Date(NOON), body)
        return headers['webhook-signature'] === signature ? type : `${type}, bad signature`
      })
      return { came, attempts: (await attemptsOf(world, id)).map(({ status }) => status) }
    }
    const funded = (world: TestWorld) => fund(world)

    test.each([
      ['duplicate', 'bad_signature'],
      ['bad_signature', 'duplicate'],
    ])('%s and %s: it comes twice, with a bad signature', async (first, second) => {
      const bad = 'wallet.credited, bad signature'
      expect(await struck(first, second, funded)).toEqual({ came: [bad, bad], attempts: ['delivered'] })
    })

    test.each([
      ['duplicate', 'lose'],
      ['lose', 'bad_signature'],
    ])('%s and %s: it never comes', async (first, second) => {
      expect(await struck(first, second, funded)).toEqual({ came: [], attempts: ['delivered'] })
    })

    test('duplicate and duplicate: it comes three times', async () => {
      const { came, attempts } = await struck('duplicate', 'duplicate', funded)
      expect([came, attempts]).toEqual([Array(3).fill('wallet.credited'), ['delivered']])
    })

    test.each([
      ['reorder', 'duplicate', ['payout.cancelled', 'payout.created', 'payout.created']],
      ['bad_signature', 'reorder', ['payout.cancelled', 'payout.created, bad signature']],
      ['lose', 'reorder', ['payout.cancelled']],
    ])('%s and %s: once the next event of its record is delivered', async (first, second, came) => {
      const paidAndCancelled = async (world: TestWorld) => {
        const { id } = await pay(world)
        await world.post(`/api/v1/payouts/${id}/cancel`)
      }
      const result = await struck(first, second, paidAndCancelled)
      // A cancelled payout gives its money back.
      expect(result.came.filter((event) => event !== 'wallet.credited')).toEqual(came)
      expect(new Set(result.attempts)).toEqual(new Set(['delivered']))
    })
  })

  test('strikes the first attempt alone, and no request', async () => {
    const { world } = await hooked()
    await rule(world, { webhook: 'lose', times: 1 })
    expect((await world.get('/api/v1/wallets')).status).toBe(200)
    const rules = await server.request(`/_sandbox/faults?world=${world.name}`)
    expect(await rules.json()).toMatchObject([{ times_left: 1 }])
  })

  test.each([
    [{ webhook: 'vanish' }, 'webhook'],
    [{ webhook: 'lose', error: 'internal' }, 'webhook'],
    [{ webhook: 'lose', delay_ms: 5 }, 'webhook'],
    [{ webhook: 'lose', probability: 0.5 }, 'probability'],
    [{ webhook: 'lose', match: { path: '/api/v1/orders' } }, 'match'],
    [{ webhook: 'lose', match: { type: 'order.lost' } }, 'match'],
    [{ error: 'internal', match: { type: 'order.*' } }, 'match'],
  ])('400 refuses %p', async (body, field) => {
    const world = await server.world(NOON)
    expect(await rule(world, body)).toMatchObject([400, { error: { messages: { [field]: [{ field }] } } }])
  })
})
