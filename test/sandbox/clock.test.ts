import { describe, expect, test } from 'bun:test'
import { invalid } from '../errors.ts'
import { expectResponse, forFile, type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { folderTest } from '../program.ts'
import { NOON } from '../records.ts'
import { control } from './surface.ts'

const server = forFile(await startServer())
const inWorld = testIn(() => server.world())

const atNoon = testIn(() => server.world(NOON))
const FROZEN_AT_NOON = { now: NOON, frozen: true, happened: [] }

const read = async (world: string): Promise<{ now: string; frozen: boolean; happened: object[] }> => {
  const response = await server.request(`/_sandbox/clock?world=${world}`)
  expect(response.status).toBe(200)
  return (await response.json()) as { now: string; frozen: boolean; happened: object[] }
}

const move = async (world: TestWorld, body: unknown): Promise<unknown> => {
  const response = await world.control('/clock', body)
  expect(response.status).toBe(200)
  return response.json()
}

describe('GET /_sandbox/clock', () => {
  test('returns the running time of the default world', async () => {
    await expectResponse(server.request('/_sandbox/clock'), 200, {
      now: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      frozen: false,
      happened: [],
    })
  })

  atNoon('?world= selects the world, with or without sbx_', async ({ name }) => {
    expect(await read(name)).toEqual(FROZEN_AT_NOON)
    expect(await read(`sbx_${name}`)).toEqual(FROZEN_AT_NOON)
    expect(await read('default')).toMatchObject({ frozen: false })
  })
})

describe('POST /_sandbox/clock', () => {
  inWorld('now sets the time, and a running clock continues from there', async (world) => {
    expect(await move(world, { now: NOON })).toEqual({
      now: expect.stringMatching(/^2030-01-01T12:00:/),
      frozen: false,
      happened: [],
    })
    const { now, frozen } = await read(world.name)
    expect(frozen).toBe(false)
    expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.parse(NOON))
  })

  atNoon('a frozen clock stands still until it is moved or thawed', async (world) => {
    await world.get('/api/v1/countries')
    expect(await read(world.name)).toEqual(FROZEN_AT_NOON)
    expect(await move(world, { advance: 'PT5M' })).toEqual({
      now: '2030-01-01T12:05:00.000Z',
      frozen: true,
      happened: [],
    })
    expect(await move(world, { now: '2030-01-02T00:00:00Z' })).toEqual({
      now: '2030-01-02T00:00:00.000Z',
      frozen: true,
      happened: [],
    })
    expect(await read(world.name)).toEqual({ now: '2030-01-02T00:00:00.000Z', frozen: true, happened: [] })
  })

  atNoon('continues from its time when thawed', async (world) => {
    const thawed = (await move(world, { frozen: false })) as { now: string; frozen: boolean }
    expect(thawed.frozen).toBe(false)
    const sinceNoonMs = Date.parse(thawed.now) - Date.parse(NOON)
    expect(sinceNoonMs).toBeGreaterThanOrEqual(0)
    expect(sinceNoonMs).toBeLessThan(60_000)
    expect((await read(world.name)).frozen).toBe(false)
  })

  inWorld('freezing stops it, and freezing again changes nothing', async (world) => {
    const stopped = await move(world, { frozen: true })
    expect(await move(world, { frozen: true })).toEqual(stopped)
    expect(await read(world.name)).toEqual(stopped as Awaited<ReturnType<typeof read>>)
  })

  inWorld('advance is added to now if both are given', async (world) => {
    expect(await move(world, { now: NOON, advance: 'P1DT1H1M1.001S', frozen: true })).toEqual({
      now: '2030-01-02T13:01:01.001Z',
      frozen: true,
      happened: [],
    })
  })

  atNoon('an empty object, null members or the current time change nothing', async (world) => {
    expect(await move(world, {})).toEqual(FROZEN_AT_NOON)
    expect(await move(world, { now: NOON })).toEqual(FROZEN_AT_NOON)
    expect(await move(world, { now: null, advance: null, frozen: null })).toEqual(FROZEN_AT_NOON)
  })

  atNoon('the latest time is the end of the year 4999', async (world) => {
    expect(await move(world, { now: '4999-12-31T23:59:59.999Z' })).toEqual({
      now: '4999-12-31T23:59:59.999Z',
      frozen: true,
      happened: [],
    })
  })

  const rule = (name: string, field: string, problem: string) => ({
    [field]: [{ rule: name, field, message: `The ${field} field ${problem}.` }],
  })
  const noTimestamp = rule('format', 'now', 'must be an RFC 3339 time like 2026-01-01T00:00:00Z')
  const tooEarly = rule('min', 'now', 'must not be before 1970-01-01T00:00:00.000Z')
  const noSwitch = rule('format', 'frozen', 'must be true or false')
  const tooLate = (field: string) => rule('max', field, 'must not go beyond 4999-12-31T23:59:59.999Z')
  const noDuration = rule('format', 'advance', 'must be an ISO 8601 duration like PT5M or P7D')

  test.each([
    ['a number as now', { now: 1_893_499_200 }, rule('string', 'now', 'must be a string')],
    ['a word as now', { now: 'tomorrow' }, noTimestamp],
    ['a time before 1970', { now: '1969-12-31T23:59:59Z' }, tooEarly],
    ['a number as advance', { advance: 300 }, rule('string', 'advance', 'must be a string')],
    ['a duration that goes back', { advance: '-PT5M' }, noDuration],
    ['a month, which has no fixed length', { advance: 'P1M' }, noDuration],
    ['an advance beyond the year 4999', { advance: 'P999999W' }, tooLate('advance')],
    ['a now and an advance that do together', { now: '4999-12-31T23:59:59.999Z', advance: 'PT0.001S' }, tooLate('now')],
    [
      'an unknown member',
      { advanced: 'PT5M' },
      rule('enum', 'advanced', 'is not a known member; known are now, advance, frozen'),
    ],
    ['a word as frozen', { frozen: 'yes' }, noSwitch],
    ['a good move with a bad frozen', { advance: 'PT5M', frozen: 1 }, noSwitch],
    ['a good freeze with a bad now', { now: 'x', frozen: false }, noTimestamp],
  ])('400 refuses %s and changes nothing', async (_, body, messages) => {
    const world = await server.world(NOON)
    await expectResponse(world.control('/clock', body), 400, invalid(messages))
    expect(await read(world.name)).toEqual(FROZEN_AT_NOON)
  })
})

describe('A clock goes back', () => {
  const PAST = '2001-02-03T04:05:06.000Z'
  const goesBack = async (world: TestWorld): Promise<boolean> => {
    const response = await world.control('/clock', { now: PAST, frozen: true })
    if (response.status === 200) {
      expect(await response.json()).toEqual({ now: PAST, frozen: true, happened: [] })
      return true
    }
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('The now field must not be before the present, ')
    return false
  }
  const save = (world: TestWorld) =>
    world.post('/api/v1/beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })

  atNoon('while nothing was written: logins, reads and refusals do not count', async (world) => {
    await world.get('/api/v1/countries/1')
    expect((await world.post('/api/v1/beneficiaries', { email: 'x' })).status).toBe(400)
    expect(await goesBack(world)).toBe(true)
    const again = await world.again()
    const saved = (await (await save(again)).json()) as { created_at: string }
    expect(saved.created_at).toBe(PAST)
  })

  test('not once something was written, even if it was deleted, by the client or by a test', async () => {
    for (const write of [
      save,
      async (world: TestWorld) => {
        const { id } = (await (await save(world)).json()) as { id: string }
        return world.request(`/api/v1/beneficiaries/${id}`, { method: 'DELETE' })
      },
      (world: TestWorld) =>
        control(server, 'PUT', `/rates?world=${world.name}`, { base: 'USD', rates: { EUR: '0.9' } }),
      (world: TestWorld) => world.control('/wallets', { currency: 'USD' }),
      (world: TestWorld) => world.control('/wallets/1/fund', { amount: 1 }),
    ]) {
      const world = await server.world(NOON)
      expect((await write(world)).status).toBeLessThan(300)
      expect(await goesBack(world)).toBe(false)
      const { body } = await control(server, 'GET', `/clock?world=${world.name}`)
      expect(body).toEqual(FROZEN_AT_NOON)
    }
  })

  atNoon('not in a copy of a world that has written something', async (world) => {
    await save(world)
    const copy = `${world.name}-copy`
    await control(server, 'PUT', `/worlds/${copy}`, { from: world.name })
    const { status } = await control(server, 'POST', `/clock?world=${copy}`, { now: PAST })
    expect(status).toBe(400)
  })

  atNoon('again after a reset', async (world) => {
    await save(world)
    await control(server, 'POST', `/reset?world=${world.name}`)
    expect(await goesBack(world)).toBe(true)
  })

  folderTest('not in a data folder that holds what an earlier process has written', async (folder) => {
    const flags = ['--data-dir', `${folder}/data`]
    const ask = async (on: Server, path: string, body: object, token = '') =>
      on.request(path, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(body) })
    const first = await startServer(...flags)
    expect((await ask(first, '/_sandbox/clock', { now: PAST })).status).toBe(200)
    await first.stop()
    const second = await startServer(...flags)
    expect((await ask(second, '/_sandbox/clock', { now: PAST })).status).toBe(200)
    expect((await ask(second, '/_sandbox/wallets/1/fund', { amount: 1 })).status).toBe(200)
    await second.stop()
    await using third = await startServer(...flags)
    expect((await ask(third, '/_sandbox/clock', { now: PAST })).status).toBe(400)
  })
})
