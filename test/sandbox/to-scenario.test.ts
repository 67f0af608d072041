import { describe, expect, test } from 'bun:test'
import { badRequest, validation } from '../errors.ts'
import { forFile, startServer, TestWorld } from '../harness.ts'
import { folderOfFile, start } from '../program.ts'
import { ADA, BENEFICIARIES, DELAYED, HUNDRED, INSTANT, NOON, ORDERS, PAYOUTS } from '../records.ts'
import { WEBHOOKS } from '../webhooks/webhooks.ts'
import { control, succeed } from './surface.ts'

/** A session becomes a scenario (contract C15): what was sent is sent again, in a fresh world. */

const server = forFile(await startServer('--rate-limit', 'off'))

interface Scenario {
  steps: Record<string, unknown>[]
}

const scenarioOf = (world: TestWorld, query = ''): Promise<Scenario> =>
  succeed<Scenario>(server, 'GET', `/requests?world=${world.name}&format=scenario${query}`)

const refused = (world: string, query = '') =>
  control(server, 'GET', `/requests?world=${world}&format=scenario${query}`)

/** A world that was made from the scenario of another, with a client that is logged in. */
const again = async (name: string, scenario: Scenario): Promise<TestWorld> => {
  await succeed(server, 'PUT', `/worlds/${name}`, { scenario })
  return TestWorld.open(server, name)
}

/** Everything that a client can list, without the ids that differ in each world. */
const recordsOf = async (world: TestWorld): Promise<unknown> => {
  const paths = [BENEFICIARIES, PAYOUTS, ORDERS, '/api/v1/transactions', '/api/v1/wallets', WEBHOOKS]
  const lists = await Promise.all(paths.map((path) => world.read<object[]>(path)))
  return JSON.parse(
    JSON.stringify(lists, (name, value) =>
      /^(?:code|card_number|pin_code|request_id)$/.test(name) ? undefined : value,
    ).replace(/\b(ben|pyt|whk|evt|txn)_[0-9a-z]+/g, '$1_'),
  )
}

describe('GET /_sandbox/requests?format=scenario', () => {
  test('makes the same records in a fresh world: references between requests, other clients, moves of the clock', async () => {
    const world = await server.world(NOON)
    const limited = await world.limited()
    const ada = await world.make<{ id: string }>(BENEFICIARIES, { ...ADA, metadata: { note: 'as {{it}} is' } })
    const { beneficiary_email: _, beneficiary_first_name: __, beneficiary_last_name: ___, ...payout } = HUNDRED
    const paid = await world.make<{ id: string }>(
      PAYOUTS,
      { ...payout, beneficiary_id: ada.id },
      { 'Idempotency-Key': 'the-first-one' },
    )
    await world.make(PAYOUTS, { ...payout, beneficiary_id: ada.id }, { 'Idempotency-Key': 'the-first-one' })
    await world.clock({ advance: 'PT5S' })
    await world.get(PAYOUTS)
    const order = await world.make<{ id: number }>(ORDERS, { ...DELAYED, ref: `for ${paid.id}` })
    await world.post(`${ORDERS}/${order.id}/cancel`)
    await world.post(ORDERS, { ...INSTANT, quantity: 0 })
    await world.post(ORDERS, INSTANT, { 'X-Dry-Run': 'true' })
    await limited.make(BENEFICIARIES, { ...ADA, email: 'grace@example.com' })
    const hook = await world.make<{ id: string }>(WEBHOOKS, { name: 'a', url: 'http://127.0.0.1:9/', events: ['ping'] })
    await world.request(`${WEBHOOKS}/${hook.id}`, { method: 'PATCH', body: '{"name":"b"}' })
    await world.clock({ advance: 'PT1H' })
    const scenario = await scenarioOf(world)
    expect(scenario.steps).toEqual([
      { method: 'POST', path: '/_sandbox/clock', body: { now: NOON, frozen: true } },
      {
        name: 'beneficiary-4',
        method: 'POST',
        path: BENEFICIARIES,
        body: { ...ADA, metadata: { note: 'as {{{{it}} is' } },
      },
      {
        name: 'payout-5',
        method: 'POST',
        path: PAYOUTS,
        headers: { 'Idempotency-Key': 'the-first-one' },
        body: { ...payout, beneficiary_id: '{{beneficiary-4.id}}' },
      },
      { method: 'POST', path: '/_sandbox/clock', body: { advance: 'PT5S' } },
      { method: 'POST', path: ORDERS, body: { ...DELAYED, ref: 'for {{payout-5.id}}' } },
      { method: 'POST', path: `${ORDERS}/${order.id}/cancel` },
      { as: 'limited', method: 'POST', path: BENEFICIARIES, body: { ...ADA, email: 'grace@example.com' } },
      {
        name: 'webhook-13',
        method: 'POST',
        path: WEBHOOKS,
        body: { name: 'a', url: 'http://127.0.0.1:9/', events: ['ping'] },
      },
      { method: 'PATCH', path: `${WEBHOOKS}/{{webhook-13.id}}`, body: { name: 'b' } },
      { method: 'POST', path: '/_sandbox/clock', body: { advance: 'PT1H' } },
    ])
    expect(await recordsOf(await again('session-again', scenario))).toEqual(await recordsOf(await world.again()))
  })

  test('has a request whose response was lost after its work, and what refers to its record', async () => {
    const world = await server.world(NOON)
    const fault = { drop: true, when: 'after', match: { method: 'POST', path: BENEFICIARIES }, times: 1 }
    await succeed(server, 'POST', `/faults?world=${world.name}`, fault)
    await world.post(BENEFICIARIES, ADA).catch(() => undefined)
    const [ada] = await world.read<{ id: string }[]>(BENEFICIARIES)
    await world.delete(`${BENEFICIARIES}/${ada?.id}`)
    const scenario = await scenarioOf(world)
    expect(scenario.steps.slice(1)).toEqual([
      { name: 'beneficiary-3', method: 'POST', path: BENEFICIARIES, body: ADA },
      { method: 'DELETE', path: `${BENEFICIARIES}/{{beneficiary-3.id}}` },
    ])
    expect(await recordsOf(await again('lost-again', scenario))).toEqual(await recordsOf(world))
  })

  test('has only what the other filters let through', async () => {
    const world = await server.world()
    await world.make(BENEFICIARIES, ADA)
    await world.make(ORDERS, INSTANT)
    expect(await scenarioOf(world, '&path=/api/v1/orders')).toEqual({
      steps: [{ method: 'POST', path: ORDERS, body: INSTANT }],
    })
    expect(await scenarioOf(world, '&ids=1,2')).toEqual({ steps: [{ method: 'POST', path: BENEFICIARIES, body: ADA }] })
  })

  test('a move to a time, once something is written, is the step forward that it was', async () => {
    const world = await server.world('2030-01-01T00:00:00.000Z')
    await world.make(BENEFICIARIES, ADA)
    await world.clock({ now: '2030-01-02T00:00:30.500Z' })
    expect((await scenarioOf(world)).steps.at(-1)?.body).toEqual({ advance: 'PT24H30.5S' })
  })

  test('400 names the request with a secret, which the log does not keep', async () => {
    const world = await server.world()
    await world.make(BENEFICIARIES, { ...ADA, metadata: { api_key: 'of a partner' } })
    expect(await refused(world.name)).toMatchObject({
      status: 400,
      body: badRequest('request 2 has a secret, which the log does not keep'),
    })
    expect(await scenarioOf(world, '&path=/api/v1/orders')).toEqual({ steps: [] })
  })

  test('400 names the request of a client that a fresh world does not have', async () => {
    const world = await server.world()
    const shop = await succeed<{ username: string; password: string }>(server, 'POST', `/clients?world=${world.name}`, {
      name: 'shop',
    })
    const login = await server.request('/auth/login', { method: 'POST', body: JSON.stringify(shop) })
    const { access_token } = (await login.json()) as { access_token: string }
    await TestWorld.of(server, world.name, access_token).make(BENEFICIARIES, ADA)
    expect(await refused(world.name)).toMatchObject({
      status: 400,
      body: badRequest('request 3 is of the client shop, which a fresh world does not have'),
    })
  })

  test('400 if the world began as a copy, with records that no request in its log has made', async () => {
    const world = await server.world()
    await world.make(BENEFICIARIES, ADA)
    await succeed(server, 'PUT', `/worlds/of-a-copy`, { from: world.name })
    expect(await refused('of-a-copy')).toMatchObject({
      status: 400,
      body: badRequest('this world did not begin fresh: what was there before request 1 is not in its log'),
    })
    await succeed(server, 'POST', '/reset?world=of-a-copy')
    expect(await succeed<Scenario>(server, 'GET', '/requests?world=of-a-copy&format=scenario')).toEqual({ steps: [] })
  })

  test('400 names the first request that the log still has, once it has dropped the earlier ones', async () => {
    const world = await server.world()
    for (let count = 0; count < 1_000; count++) await world.get('/api/v1/countries/1')
    expect(await refused(world.name)).toMatchObject({
      status: 400,
      body: badRequest('the log of this world begins with request 2: it has dropped the earlier ones'),
    })
  })

  test('400 for all worlds at once', async () => {
    expect(await refused('*')).toMatchObject({
      status: 400,
      body: validation('world', 'format', 'must be one world for a scenario'),
    })
  })
})

test('A session goes on after a restart: the scenario has both parts, and begins a server with --scenario', async () => {
  const dataDir = `${folderOfFile()}/kept`
  const scenario = `${folderOfFile()}/session.json`
  const begun = await start(['--data-dir', dataDir, '--rate-limit', 'off'])
  await begun.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify({ now: NOON, frozen: true }) })
  const first = await TestWorld.open(begun, 'kept')
  await first.make(BENEFICIARIES, ADA)
  await begun.stop()
  const resumed = await start(['--data-dir', dataDir, '--rate-limit', 'off'])
  const second = await TestWorld.open(resumed, 'kept')
  await second.make(BENEFICIARIES, { ...ADA, email: 'grace@example.com' })
  const text = await (await resumed.request('/_sandbox/requests?world=kept&format=scenario')).text()
  await resumed.stop()
  await Bun.write(scenario, text)
  const played = await start(['--scenario', scenario, '--rate-limit', 'off'])
  const people = await (await TestWorld.open(played, 'third')).read<{ email: string }[]>(BENEFICIARIES)
  expect(people.map(({ email }) => email)).toEqual(['grace@example.com', ADA.email])
  await played.stop()
})
