import { describe, expect, test } from 'bun:test'
import { toTable } from '../../src/sandbox/requests/outcomes.ts'
import { operationsOf, outcomesIn, readDocument, successOf } from '../docs/document.ts'
import { worldNotFound } from '../errors.ts'
import { forFile, type Server, startServer, TestWorld, testIn } from '../harness.ts'
import { loggedIn, login } from '../sessions/requests.ts'
import { control, succeed } from './surface.ts'

const server = forFile(await startServer('--rate-limit', 'off'))
const inWorld = testIn(() => server.world())

interface Outcome {
  operation: string
  method: string
  path: string
  status: number
  name: string
  count: number
}
interface Report {
  summary: string
  documented: number
  exercised: number
  percent: number
  worlds: { world: string; exercised: number; percent: number }[]
  outcomes: Outcome[]
}

const reportOf = (world: string, on: Server = server) => succeed<Report>(on, 'GET', `/coverage?world=${world}`)
const met = ({ outcomes }: Report): string[] =>
  outcomes
    .filter(({ count }) => count > 0)
    .map(({ operation, status, name, count }) => `${operation} ${status} ${name} ${count}`)

/** The errors that are the same for every operation. */
const COMMON: Record<string, number> = {
  dry_run_malformed: 400,
  dry_run_with_key: 400,
  body_encoded: 415,
  unauthorized: 401,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
}

/** The outcomes of the API according to the document, without probes and pictures. */
const documented = async (): Promise<Omit<Outcome, 'count'>[]> => [
  ...operationsOf(await readDocument(server))
    .filter(({ tags, path }) => !tags.includes('Sandbox') && !tags.includes('Service') && !path.startsWith('/cards/'))
    .flatMap((operation) =>
      [{ name: 'success', status: successOf(operation).status }, ...outcomesIn(operation)]
        .filter(({ name }) => !(name in COMMON))
        .map(({ name, status }) => ({
          operation: operation.operationId,
          method: operation.method,
          path: operation.path.replace(/\{(\w+)\}/g, ':$1'),
          status,
          name,
        })),
    ),
  ...Object.entries(COMMON).map(([name, status]) => ({ operation: 'any', method: 'ANY', path: '/*', status, name })),
]
const sorted = <Row extends { operation: string; name: string }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => `${a.operation} ${a.name}`.localeCompare(`${b.operation} ${b.name}`))

describe('GET /_sandbox/coverage', () => {
  test('200 returns exactly the outcomes of the document, those of every operation once', async () => {
    const report = await reportOf('default')
    const outcomes = await documented()
    expect(sorted(report.outcomes).map(({ count: _, ...outcome }) => outcome)).toEqual(sorted(outcomes))
    expect(report.documented).toBe(outcomes.length)
  })

  inWorld('counts successes, errors and injected errors', async (world) => {
    for (let time = 0; time < 3; time++) await world.get('/api/v1/countries/1')
    await world.get('/api/v1/countries/0')
    await world.get('/api/v1/countries/2147483647')
    await world.get('/api/v1/countries/1', { 'x-sandbox-fault': 'internal' })
    await world.get('/api/v1/countries/1', { 'x-sandbox-fault': 'unavailable' })
    await (await world.limited()).get('/api/v1/orders')
    const report = await reportOf(world.name)
    expect(met(report)).toEqual([
      'login 200 success 2',
      'getCountry 200 success 3',
      'getCountry 400 countries.invalid_id 1',
      'getCountry 404 countries.not_found 1',
      'listOrders 403 orders.feature_disabled 1',
      'any 500 internal 1',
      'any 503 unavailable 1',
    ])
    expect(report.exercised).toBe(7)
  })

  inWorld('selects the outcome with the same field and rule', async (world) => {
    await world.post('/api/v1/beneficiaries', { email: 'ada@', first_name: 'Ada', last_name: 'Lovelace' })
    await world.post('/api/v1/beneficiaries', { first_name: 'Ada', last_name: 'Lovelace' })
    await world.post('/api/v1/beneficiaries', 'no JSON')
    expect(met(await reportOf(world.name)).slice(1)).toEqual([
      'createBeneficiary 400 beneficiaries.body_unreadable 1',
      'createBeneficiary 400 beneficiaries.email_missing 1',
      'createBeneficiary 400 beneficiaries.email_invalid 1',
    ])
  })

  inWorld('does not count unknown routes, control requests and invalid fault headers', async (world) => {
    const before = await reportOf(world.name)
    await world.get('/api/v1/nowhere')
    await world.get('/nowhere')
    await world.request('/api/v1/countries/1', { method: 'PATCH' })
    await world.control('/clock', { advance: 'PT1S' })
    await world.get(`/_sandbox/clock?world=${world.name}`)
    expect(await reportOf(world.name)).toEqual(before)
  })

  test('counts only documented errors, not those of --strict', async () => {
    await using strict = await startServer('--strict')
    const world = await strict.world()
    await world.get('/api/v1/countries/1?no_such=1')
    await world.post('/api/v1/beneficiaries', { emial: 'x' })
    expect(met(await reportOf(world.name, strict))).toEqual(['login 200 success 1'])
    await world.post('/api/v1/beneficiaries', { first_name: 'Ada', last_name: 'Lovelace' })
    expect(met(await reportOf(world.name, strict))).toHaveLength(2)
  })

  test('counts by world, and in the default world if none is named', async () => {
    await using fresh = await startServer()
    const [one, other] = [await fresh.world(), await fresh.world()]
    await one.get('/api/v1/countries/1')
    await fresh.request('/status')
    await fresh.request('/livez')
    await fresh.request('/api/v1/currencies')
    await login(fresh, `sbx_${other.name}`, 'wrong')
    expect(met(await reportOf(one.name, fresh))).toEqual(['login 200 success 1', 'getCountry 200 success 1'])
    expect(met(await reportOf(other.name, fresh))).toEqual([
      'login 200 success 1',
      'login 401 auth.credentials_wrong 1',
    ])
    expect(met(await reportOf('default', fresh))).toEqual(['any 401 unauthorized 1'])
  })

  test('?world=* is the sum of all worlds since the start, including those that were reset or deleted', async () => {
    await using fresh = await startServer()
    expect(met(await reportOf('*', fresh))).toEqual([])
    for (const name of ['kept', 'reset', 'dropped']) {
      const world = await TestWorld.open(fresh, name)
      await world.get('/api/v1/countries/1')
    }
    await loggedIn(fresh, 'sandbox', 'sandbox')
    await succeed(fresh, 'POST', '/reset?world=reset')
    await succeed(fresh, 'DELETE', '/worlds/dropped')
    expect(met(await reportOf('reset', fresh))).toEqual([])
    const all = await reportOf('*', fresh)
    expect(met(all)).toEqual(['login 200 success 4', 'getCountry 200 success 3'])
    expect(all.exercised).toBe(2)
    expect(all.worlds.map(({ world, exercised }) => [world, exercised])).toEqual([
      ['default', 1],
      ['kept', 2],
      ['reset', 0],
    ])
  })

  test('a suite that covers every error has 100 % except for the successes; the percentage is rounded down', async () => {
    await using fresh = await startServer('--rate-limit', 'off')
    await succeed(fresh, 'PUT', '/worlds/counted')
    const world = await TestWorld.open(fresh, 'counted')
    const errors = await succeed<{ name: string; method: string; path: string }[]>(fresh, 'GET', '/errors')
    for (const { name, method, path } of errors.filter(({ path }) => path.startsWith('/api/v1/')))
      await world.request(path.replace(':id', '1'), { method, headers: { 'x-sandbox-fault': name } })
    const { documented: total, exercised, percent, outcomes } = await reportOf('counted', fresh)
    expect(percent).toBe(Math.floor((exercised / total) * 1_000 + 1e-9) / 10)
    expect(
      outcomes.filter(({ count, path, name }) => count === 0 && !path.startsWith('/auth/') && name !== 'success'),
    ).toEqual([])
  })

  test.each<[string, number, object]>([
    ['?world=', 404, worldNotFound('')],
    ['?world=**', 404, worldNotFound('**')],
  ])('%s is refused with %d', async (query, status, body) => {
    expect(await control(server, 'GET', `/coverage${query}`)).toMatchObject({ status, body })
  })
})

describe('as text', () => {
  inWorld('it has operations, marked outcomes and the total', async (world) => {
    for (let time = 0; time < 12; time++) await world.get('/api/v1/countries/1')
    const lines = toTable(await reportOf(world.name)).split('\n')
    const start = lines.indexOf('GET /api/v1/countries/:id')
    expect(lines.slice(start - 1, start + 5)).toEqual([
      '',
      'GET /api/v1/countries/:id',
      `  + 200 ${'success'.padEnd(44)} 12`,
      '  - 400 countries.invalid_id',
      '  - 404 countries.not_found',
      '',
    ])
    expect(lines).toContain('ANY /*')
    const { summary, documented: total } = await reportOf(world.name)
    expect(summary).toStartWith(`2 of ${total} documented outcomes covered. Not covered: login auth.`)
    expect(lines.slice(0, 3)).toEqual([`2 of ${total} documented outcomes covered.`, '', 'POST /auth/login'])
  })
})
