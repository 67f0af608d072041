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

/** Rules that apply once each, and the received events: their types, and true for a valid signature. */
const struck = async (rules: readonly object[], work: (world: TestWorld) => Promise<unknown>) => {
  const { world, id, secret } = await hooked(['payout.*', 'wallet.credited'])
  for (const each of rules) await rule(world, { ...each, times: 1 })
  await work(world)
  await settle(world)
  const left = await (await server.request(`/_sandbox/faults?world=${world.name}`)).json()
  expect(left).toMatchObject(rules.map(() => ({ times_left: 0 })))
  const came = (await received(world)).map(({ headers, body }) => {
    const { type } = JSON.parse(body) as PublishedEvent
    const signature = new Stranger(secret).sign(headers['webhook-id'] ?? '', new Date(NOON), body)
    return headers['webhook-signature'] === signature ? type : `${type}, bad signature`
  })
  return { came, attempts: (await attemptsOf(world, id)).map(({ status }) => status) }
}
const CREDITED = 'wallet.credited'
const BAD = 'wallet.credited, bad signature'

describe('A fault of deliveries', () => {
  test.each<[faults: string[], came: string[]]>([
    [['lose'], []],
    [['duplicate'], [CREDITED, CREDITED]],
    [['bad_signature'], [BAD]],
    [
      ['duplicate', 'bad_signature'],
      [BAD, BAD],
    ],
    [
      ['bad_signature', 'duplicate'],
      [BAD, BAD],
    ],
    [['duplicate', 'lose'], []],
    [['lose', 'bad_signature'], []],
    [
      ['duplicate', 'duplicate'],
      [CREDITED, CREDITED, CREDITED],
    ],
  ])('applies all its rules to an event, which counts as delivered: %j', async (faults, came) => {
    const rules = faults.map((webhook) => ({ webhook }))
    expect(await struck(rules, (world) => fund(world))).toEqual({ came, attempts: ['delivered'] })
  })

  test.each<[faults: string[], came: string[]]>([
    [['reorder'], ['payout.cancelled', 'payout.created']],
    [
      ['reorder', 'duplicate'],
      ['payout.cancelled', 'payout.created', 'payout.created'],
    ],
    [
      ['bad_signature', 'reorder'],
      ['payout.cancelled', 'payout.created, bad signature'],
    ],
    [['lose', 'reorder'], ['payout.cancelled']],
  ])(
    'reorder, alone or with another, waits until the next event of the record is delivered: %j',
    async (faults, came) => {
      const paidAndCancelled = async (world: TestWorld) => {
        const { id } = await pay(world)
        await world.post(`/api/v1/payouts/${id}/cancel`)
      }
      const rules = faults.map((webhook) => ({ webhook }))
      const result = await struck(rules, paidAndCancelled)
      // A cancelled payout gives its money back.
      expect(result.came.filter((event) => event !== CREDITED)).toEqual(came)
      expect(new Set(result.attempts)).toEqual(new Set(['delivered']))
    },
  )

  test('applies to the events that it matches, as often as its times', async () => {
    const { world, id } = await hooked()
    const faultRule = { webhook: 'lose', match: { type: 'wallet.*' } }
    expect(await rule(world, { ...faultRule, times: 1 })).toMatchObject([201, { ...faultRule, times_left: 1 }])
    for (const amount of [1, 2]) await fund(world, amount)
    await settle(world)
    expect(await types(world)).toEqual([CREDITED])
    expect((await attemptsOf(world, id)).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  test('reorder: an event waits for one that is still to come, and those behind come in their order', async () => {
    const { world } = await hooked(['payout.*'])
    await rule(world, { webhook: 'reorder', times: 1 })
    await pay(world)
    await settle(world)
    expect(await types(world)).toEqual([])
    await world.clock({ advance: 'PT1S' })
    await settle(world)
    expect(await types(world)).toEqual(['payout.queued', 'payout.created'])
    await world.clock({ advance: 'PT4S' })
    await settle(world)
    const rest = ['payout.processing', 'payout.submitted', 'payout.settling', 'payout.completed']
    expect((await types(world)).slice(2)).toEqual(rest)
  })

  test('applies to the first attempt alone, and to no request', async () => {
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
