import { describe, expect, test } from 'bun:test'
import { badRequest, structured, UNREADABLE, validation, worldNotFound } from '../errors.ts'
import { againstBinary, expectResponse, forFile, openProgram, startServer, TestWorld } from '../harness.ts'
import { longTest } from '../long-test.ts'
import { ADA, countOf, NOON, saveAda } from '../records.ts'
import { loggedIn, login, statusWith } from '../sessions/requests.ts'
import { everything, makeAtNoon, viewOf } from './everything.ts'
import { control, rowsOf, succeed } from './surface.ts'

const server = forFile(await startServer('--seed', '15'))

const NAME_REFUSED = validation(
  'name',
  'format',
  'must be lower-case letters, digits, - and _, at most 64, and not default',
)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

interface WorldBody {
  name: string
  username: string
  now: string
}

const worldNames = async (): Promise<string[]> =>
  (await succeed<WorldBody[]>(server, 'GET', '/worlds')).map(({ name }) => name)
const open = (name: string) => TestWorld.open(server, name)

/** A world that was set up at noon and then used. */
const used = async (name: string): Promise<TestWorld> => {
  await makeAtNoon(server, name)
  const world = await open(name)
  await saveAda(world)
  return world
}

describe('GET /_sandbox/worlds', () => {
  test('lists the default world first, then the named ones by name', async () => {
    await succeed(server, 'PUT', '/worlds/listed-b')
    await makeAtNoon(server, 'listed-a')
    await loggedIn(server, 'sbx_listed-c')
    const worlds = await succeed<WorldBody[]>(server, 'GET', '/worlds')
    expect(worlds[0]).toEqual({ name: 'default', username: 'sandbox', now: TIME })
    const named = worlds.slice(1)
    expect(named).toEqual(named.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    expect(named.filter(({ name }) => name.startsWith('listed-'))).toEqual([
      { name: 'listed-a', username: 'sbx_listed-a', now: NOON },
      { name: 'listed-b', username: 'sbx_listed-b', now: TIME },
      { name: 'listed-c', username: 'sbx_listed-c', now: TIME },
    ])
  })

  test('GET /_sandbox lists them too, with version and links', async () => {
    const { version } = (await (await server.request('/status')).json()) as { version: string }
    const index = await succeed<{ started_at: string; links: string[] }>(server, 'GET', '')
    const { started_at } = index
    expect(index).toEqual({ version, started_at, worlds: await worldNames(), links: expect.any(Array) } as never)
    expect(Date.parse(started_at)).toBeLessThan(Date.now())
    expect(await succeed<object>(server, 'GET', '')).toMatchObject({ started_at })
    for (const link of index.links) expect([link, (await server.request(link)).status]).toEqual([link, 200])
  })
})

describe('PUT /_sandbox/worlds/{name}', () => {
  test('200 creates a new world, like a login', async () => {
    const made = await succeed<WorldBody>(server, 'PUT', '/worlds/made')
    expect(made).toEqual({ name: 'made', username: 'sbx_made', now: TIME as unknown as string })
    await loggedIn(server, 'sbx_logged-in')
    const [rows, others] = [await rowsOf(server, 'made'), await rowsOf(server, 'logged-in')]
    const drawn = { clients: [], logins: [], kept_randomness: [] }
    expect({ ...rows, ...drawn }).toEqual({ ...others, ...drawn })
  })

  test('the name may have the prefix of its username, and the first password becomes its password', async () => {
    expect(await succeed<WorldBody>(server, 'PUT', '/worlds/sbx_prefixed')).toMatchObject({ name: 'prefixed' })
    await loggedIn(server, 'sbx_prefixed', 'mine')
    expect((await login(server, 'sbx_prefixed.limited', 'theirs')).status).toBe(401)
  })

  test('from copies data, clock, randomness and pace of another world, but not its password', async () => {
    const source = await used('source')
    await succeed(server, 'PUT', '/pace?world=source', { payouts: 'manual' })
    expect(await succeed<WorldBody>(server, 'PUT', '/worlds/copy', { from: 'source' })).toEqual({
      name: 'copy',
      username: 'sbx_copy',
      now: NOON,
    })
    const [copied, original] = [await rowsOf(server, 'copy'), await rowsOf(server, 'source')]
    expect({ ...copied, clients: [] }).toEqual({ ...original, clients: [] })
    expect(await succeed<object>(server, 'GET', '/clock?world=copy')).toMatchObject({ now: NOON, frozen: true })
    expect(await succeed<object>(server, 'GET', '/pace?world=copy')).toEqual({ payouts: 'manual', orders: 'auto' })
    await loggedIn(server, 'sbx_copy', 'a password of its own')
    // Both continue alike from the state at the copy.
    await succeed(server, 'PUT', '/worlds/twin', { from: 'source' })
    const [first, second] = [await source.again(), await open('twin')]
    expect(await saveAda(second)).toBe(await saveAda(first))
  })

  test('from starts with empty limits, cached charges, faults, request log and coverage', async () => {
    const source = await used('busy-source')
    await succeed(server, 'POST', '/faults?world=busy-source', { error: 'internal' })
    await source.post('/api/v1/products/1/charges', { denomination: 100, quantity: 1 })
    await succeed(server, 'PUT', '/worlds/idle-copy', { from: 'busy-source' })
    const { clock: _, ...view } = await viewOf(server, 'idle-copy')
    await makeAtNoon(server, 'idle-fresh')
    const { clock: __, ...fresh } = await viewOf(server, 'idle-fresh')
    expect(view).toEqual(fresh)
    expect((await (await open('idle-copy')).get('/api/v1/countries/1')).headers.get('x-ratelimit-remaining')).toBe('99')
  })

  test('from may be the default world', async () => {
    const { access_token } = await loggedIn(server, 'sandbox', 'sandbox')
    const authorization = `Bearer ${access_token}`
    const body = JSON.stringify(ADA)
    await server.request('/api/v1/beneficiaries', { method: 'POST', headers: { authorization }, body })
    await succeed(server, 'PUT', '/worlds/like-default', { from: 'default' })
    expect((await login(server, 'sandbox', 'sandbox')).status).toBe(200)
    expect((await login(server, 'sbx_like-default', 'first')).status).toBe(200)
    expect((await login(server, 'sbx_like-default', 'sandbox')).status).toBe(401)
    const rows = await rowsOf(server, 'like-default')
    expect(rows.beneficiaries).toHaveLength(1)
    await control(server, 'POST', '/reset')
  })

  test('from may have the prefix, and prefers a snapshot to a world of the same name', async () => {
    await used('either')
    await succeed(server, 'PUT', '/snapshots/either?world=either')
    await succeed(server, 'PUT', '/worlds/either')
    await succeed(server, 'PUT', '/worlds/from-snapshot', { from: 'sbx_either' })
    expect(await countOf(await open('from-snapshot'))).toBe(1)
    await succeed(server, 'DELETE', '/snapshots/either')
    await succeed(server, 'PUT', '/worlds/from-world', { from: 'sbx_either' })
    expect(await countOf(await open('from-world'))).toBe(0)
  })

  test('replaces an existing world: data, clock and tokens, but not its password', async () => {
    for (const body of [undefined, '', {}, { from: null }]) {
      const world = await used('replaced')
      expect((await succeed<WorldBody>(server, 'PUT', '/worlds/replaced', body)).now < NOON).toBe(true)
      expect(await statusWith(server, world.token)).toBe(401)
      expect((await login(server, 'sbx_replaced', 'another')).status).toBe(401)
      expect(await countOf(await open('replaced'))).toBe(0)
    }
    expect((await worldNames()).filter((name) => name === 'replaced')).toHaveLength(1)
  })

  test.each([
    ...['Upper', 'default', 'sbx_default', 'sbx_', '*', 'a.b', 'x'.repeat(65)],
    ...['a%2Fb', '%2E%2E%2Fetc', 'a%20b', 'a%00', 'a%0A', '%C3%BCber', '%F0%9F%98%80', 'a%ZZ', '%FF'],
  ])('400 refuses %s as a name and creates nothing', async (name) => {
    const before = await worldNames()
    expect(await control(server, 'PUT', `/worlds/${name}`)).toMatchObject({ status: 400, body: NAME_REFUSED })
    expect(await worldNames()).toEqual(before)
  })

  test.each(['x'.repeat(64), '0', '-', '_', '__proto__', 'constructor', '%61bc'])(
    '%s is a valid name',
    async (name) => {
      const decoded = decodeURIComponent(name)
      const made = await succeed<WorldBody>(server, 'PUT', `/worlds/${name}`)
      expect(made).toMatchObject({ name: decoded, username: `sbx_${decoded}` })
      expect(await countOf(await open(decoded))).toBe(0)
    },
  )

  test.each([
    ['is nowhere', 'nowhere', 'nowhere'],
    ['is empty', '', ''],
    ['is not a name', '../a', '../a'],
    ['is nowhere, with the prefix', 'sbx_nowhere', 'nowhere'],
  ])('404 if its source %s, and neither creates nor replaces a world', async (_, from, called) => {
    const world = await used('kept-as-it-is')
    for (const name of ['kept-as-it-is', 'not-made']) {
      const { status, body } = await control(server, 'PUT', `/worlds/${name}`, { from })
      expect({ status, body }).toEqual({ status: 404, body: worldNotFound(called) })
    }
    expect(await countOf(world)).toBe(1)
    expect(await worldNames()).not.toContain('not-made')
    await control(server, 'DELETE', '/worlds/kept-as-it-is')
  })

  test.each<[string, unknown, object]>([
    ['a number as from', { from: 1 }, validation('from', 'string', 'must be a string')],
    ['an unknown member', { form: 'a' }, validation('form', 'enum', 'is not a known member; known are from, scenario')],
    ['what is not JSON', '{"from":', UNREADABLE],
    ['a list', [], UNREADABLE],
  ])('400 refuses %s and creates nothing', async (_, sent, body) => {
    const response = await control(server, 'PUT', '/worlds/not-made', sent)
    expect({ status: response.status, body: response.body }).toEqual({ status: 400, body })
    expect(await worldNames()).not.toContain('not-made')
  })
})

describe('DELETE /_sandbox/worlds/{name}', () => {
  test('204 deletes the world, with or without the prefix: its tokens are revoked and its name is free', async () => {
    for (const name of ['dropped', 'sbx_dropped']) {
      const world = await used('dropped')
      const { status, body } = await control(server, 'DELETE', `/worlds/${name}`)
      expect({ status, body }).toEqual({ status: 204, body: undefined })
      expect(await worldNames()).not.toContain('dropped')
      expect(await statusWith(server, world.token)).toBe(401)
      expect((await control(server, 'GET', '/clock?world=dropped')).body).toEqual(worldNotFound('dropped'))
      expect((await login(server, 'sbx_dropped', 'another password')).status).toBe(200)
      expect(await statusWith(server, world.token)).toBe(401)
      await control(server, 'DELETE', '/worlds/dropped')
    }
  })

  test.each([
    ['nowhere', 'nowhere'],
    ['Upper', 'Upper'],
    ['a%2Fb', 'a/b'],
    ['%2E%2E%2Fa', '../a'],
    ['%C3%BC', 'ü'],
    ['x'.repeat(65), 'x'.repeat(65)],
    ['__proto__x', '__proto__x'],
    ['a%ZZ', ''],
  ])('404 for the unknown world %s', async (name, decoded) => {
    const { status, body } = await control(server, 'DELETE', `/worlds/${name}`)
    expect({ status, body }).toEqual({ status: 404, body: worldNotFound(decoded) })
  })

  test.each(['default', 'sbx_default'])('400 refuses to delete the default world, called %s', async (name) => {
    const { access_token } = await loggedIn(server, 'sandbox', 'sandbox')
    const { status, body } = await control(server, 'DELETE', `/worlds/${name}`)
    expect({ status, body }).toEqual({ status: 400, body: badRequest('The default world can be reset, not dropped') })
    expect(await statusWith(server, access_token)).toBe(200)
  })
})

describe.skipIf(againstBinary)('10,000 worlds', () => {
  const EXHAUSTED = structured(
    'TooManyRequestsError',
    'TOO_MANY_REQUESTS',
    'This sandbox already has 10000 worlds. Drop one first.',
  )

  longTest('are the maximum: 429 for the next name, while existing ones work', async () => {
    await using program = openProgram()
    const { client } = await program.open()
    const { worlds } = program
    for (let count = worlds.all.length; count <= 10_000; count++) worlds.create(`world-${count}`)
    const requests: [string, string, unknown][] = [
      ['PUT', '/_sandbox/worlds/one-more', undefined],
      ['PUT', '/_sandbox/worlds/one-more', { from: client.name }],
      ['POST', '/auth/login', { username: 'sbx_one-more', password: 'x' }],
    ]
    for (const [method, path, body] of requests) {
      const response = await client.request(path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
      await expectResponse(response, 429, EXHAUSTED)
    }
    expect(worlds.all).toHaveLength(10_001)
    expect((await client.get('/api/v1/countries/1')).status).toBe(200)
    expect((await client.request(`/_sandbox/worlds/${client.name}`, { method: 'PUT' })).status).toBe(200)
    expect((await client.delete('/_sandbox/worlds/world-9000')).status).toBe(204)
    expect((await client.request('/_sandbox/worlds/one-more', { method: 'PUT' })).status).toBe(200)
  })
})

/** The tables that the program writes while it serves a sandbox; all the others are as they were seeded. */
const WRITTEN = [
  'beneficiaries',
  'beneficiary_counts',
  'clients',
  'debit_day_counts',
  'event_counts',
  'events',
  'idempotency_keys',
  'journal_entries',
  'journal_lines',
  'kept_randomness',
  'logins',
  'moved_clock',
  'open_order_counts',
  'order_counts',
  'orders',
  'payout_counts',
  'payout_events',
  'payouts',
  'sale_day_counts',
  'stock_taken',
  'transaction_counts',
  'transactions',
  'vouchers',
  'wallet_counts',
  'wallets',
]

describe('Worlds share nothing', () => {
  /** The whole state of a world: every row of every table, and its memory. */
  const stateOf = async (name: string) => ({ rows: await rowsOf(server, name), view: await viewOf(server, name) })
  const settled = async (name: string) => {
    await succeed(server, 'POST', `/clock?world=${name}`, { frozen: true })
    return stateOf(name)
  }

  test('no operation in one affects another or the default one, nor does a reset, a replacement or a deletion', async () => {
    for (const name of ['one', 'other']) await makeAtNoon(server, name)
    const fresh = await stateOf('other')
    const standard = await settled('default')

    await everything(server, 'one')
    const one = await stateOf('one')
    expect(await stateOf('other')).toEqual(fresh)
    expect(await stateOf('default')).toEqual(standard)
    const changed = Object.keys(one.rows).filter((table) => !Bun.deepEquals(one.rows[table], fresh.rows[table]))
    expect(changed).toEqual(WRITTEN)
    for (const part of ['clock', 'faults', 'requests', 'coverage']) expect(one.view[part]).not.toEqual(fresh.view[part])

    await everything(server, 'other')
    expect(await stateOf('one')).toEqual(one)
    expect(await stateOf('default')).toEqual(standard)
    const remembered = ({ view: { clock, pace, faults, coverage } }: typeof one) => ({ clock, pace, faults, coverage })
    expect(remembered(await stateOf('other'))).toEqual(remembered(one))

    await succeed(server, 'POST', '/reset?world=other')
    await succeed(server, 'PUT', '/worlds/other', { from: 'one' })
    await succeed(server, 'DELETE', '/worlds/other')
    expect(await stateOf('one')).toEqual(one)
  })

  test('a copy and its source are independent in rows, clock and pace', async () => {
    await used('origin')
    await succeed(server, 'PUT', '/worlds/branch', { from: 'origin' })
    const origin = await stateOf('origin')
    await everything(server, 'branch')
    expect(await stateOf('origin')).toEqual(origin)
    const branch = await stateOf('branch')
    await saveAda(await open('origin'))
    await succeed(server, 'PUT', '/pace?world=origin', { orders: 'manual' })
    await succeed(server, 'POST', '/clock?world=origin', { advance: 'P1D' })
    expect(await stateOf('branch')).toEqual(branch)
  })

  const count = againstBinary ? 100 : 500
  longTest(`${count} work at once without errors`, async () => {
    const names = Array.from({ length: count }, (_, number) => `crowd-${number}`)
    const ids = await Promise.all(
      names.map(async (name) => {
        await makeAtNoon(server, name)
        return saveAda(await open(name))
      }),
    )
    expect(new Set(ids).size).toBe(1)
    await Promise.all(names.map((name) => succeed(server, 'DELETE', `/worlds/${name}`)))
    expect((await worldNames()).filter((name) => name.startsWith('crowd-'))).toEqual([])
  })
})
