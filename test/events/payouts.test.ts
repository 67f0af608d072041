import { describe, expect, test } from 'bun:test'
import { sharedServer, type TestWorld, testIn } from '../harness.ts'
import { getPayout, NOON, PAYOUTS, pay } from '../records.ts'
import { eventsOf, storyOf } from './events.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const at = (second: number) => `2030-01-01T12:00:0${second}.000Z`
const ofPayouts = (world: TestWorld) => storyOf(world, '&type=payout.*')
const control = async (world: TestWorld, path: string, body?: object): Promise<void> => {
  const response = await world.control(path, body)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
}
const manual = async (world: TestWorld): Promise<void> => {
  const path = `/_sandbox/pace?world=${world.name}`
  await world.request(path, { method: 'PUT', body: '{"payouts":"manual"}' })
}

describe('A payout', () => {
  test('writes an event at each step, at the instant of the step and with the payout of that moment', async () => {
    const world = await server.world(NOON)

    const created = await pay(world)
    const readings = [created]
    for (let second = 1; second <= 5; second++) {
      await world.clock({ now: at(second) })
      readings.push(await getPayout(world, created.id))
    }
    expect(await eventsOf(world, '&type=payout.*')).toEqual(
      ['created', 'queued', 'processing', 'submitted', 'settling', 'completed'].map((name, second) => ({
        id: expect.any(String),
        type: `payout.${name}`,
        created_at: at(second),
        data: { ...readings[second] },
      })),
    )
  })

  test('writes the same events when one jump of the clock goes over all steps', async () => {
    const [slow, quick] = [await server.world(NOON), await server.world(NOON)]
    for (const world of [slow, quick]) await pay(world)
    for (let second = 1; second <= 5; second++) await slow.clock({ now: at(second) })
    await quick.clock({ advance: 'PT30M' })
    expect(await eventsOf(quick)).toEqual(await eventsOf(slow))
  })

  atNoon('is cancelled after its money came back', async (world) => {
    const { id } = await pay(world)
    await world.post(`${PAYOUTS}/${id}/cancel`)
    expect(await storyOf(world)).toEqual([
      'wallet.debited 99898.5',
      'payout.created created',
      'wallet.credited 100000',
      'payout.cancelled cancelled',
    ])
  })

  atNoon('expires 7 days after its creation', async (world) => {
    await manual(world)
    await pay(world)
    await world.clock({ advance: 'P8D' })
    const [expired] = await eventsOf(await world.again(), '&type=payout.expired')
    expect(expired).toMatchObject({ created_at: '2030-01-08T12:00:00.000Z', data: { status: 'expired' } })
  })

  atNoon('fails, needs action, goes on settling, and comes back late', async (world) => {
    await manual(world)
    const { id } = await pay(world)
    for (const to of ['settling', 'action_required', 'settling', 'completed']) {
      await control(world, `/payouts/${id}/advance`, { to })
    }
    await control(world, `/payouts/${id}/return`)
    expect(await ofPayouts(world)).toEqual([
      'payout.created created',
      'payout.queued queued',
      'payout.processing processing',
      'payout.submitted processing',
      'payout.settling settling',
      'payout.action_required action_required',
      'payout.settling settling',
      'payout.completed completed',
      'payout.returned completed',
    ])
    const failing = await server.world(NOON)
    await manual(failing)
    const { id: failed } = await pay(failing)
    await control(failing, `/payouts/${failed}/advance`, { to: 'processing' })
    await control(failing, `/payouts/${failed}/fail`)
    expect((await ofPayouts(failing)).at(-1)).toBe('payout.failed failed')
  })
})
