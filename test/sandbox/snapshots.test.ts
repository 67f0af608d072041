import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notFound, structured, validation, worldNotFound } from '../errors.ts'
import { forFile, type Server, startServer, TestWorld } from '../harness.ts'
import { bearer, folderTest, loggedIn as inDefault, inFolder, type Running, run, start } from '../program.ts'
import { countOf, INSTANT, NOON, place, saveAda } from '../records.ts'
import { login, refresh, statusWith, loggedIn as tokensOf } from '../sessions/requests.ts'
import { everything, makeAtNoon, viewOf } from './everything.ts'
import { control, rowsIn, rowsOf, succeed } from './surface.ts'

const server = forFile(await startServer('--seed', '16', '--rate-limit', 'off'))

interface SnapshotFile {
  format: string
  database: string
}

const NAME_REFUSED = validation(
  'name',
  'format',
  'must be lower-case letters, digits, - and _, at most 64, and not default',
)
const noSnapshot = (name: string) => notFound(`No snapshot is called ${name}`)
const names = async (): Promise<string[]> =>
  (await succeed<{ name: string }[]>(server, 'GET', '/snapshots')).map(({ name }) => name)
const fileOf = (name: string, on: Server = server) => succeed<SnapshotFile>(on, 'GET', `/snapshots/${name}`)
const open = (name: string, on: Server = server) => TestWorld.open(on, name)

/** A world at noon in which Ada is saved. */
const withAda = async (name: string, on: Server = server): Promise<TestWorld> => {
  await makeAtNoon(on, name)
  const world = await open(name, on)
  await saveAda(world)
  return world
}

describe('PUT /_sandbox/snapshots/{name}', () => {
  test('200 saves the world without changing it, and replaces an earlier snapshot of the same name', async () => {
    const world = await withAda('kept')
    const before = { rows: await rowsOf(server, 'kept'), view: await viewOf(server, 'kept') }
    expect(await succeed<object>(server, 'PUT', '/snapshots/kept?world=kept')).toEqual({ name: 'kept' })
    expect({ rows: await rowsOf(server, 'kept'), view: await viewOf(server, 'kept') }).toEqual(before)
    await saveAda(world)
    expect(await fileOf('kept')).toEqual(await fileOf('kept'))
    expect(rowsIn((await fileOf('kept')).database)).toEqual(before.rows)
    await succeed(server, 'PUT', '/snapshots/kept?world=kept')
    expect(rowsIn((await fileOf('kept')).database).beneficiaries).toHaveLength(2)
    expect((await names()).filter((name) => name === 'kept')).toHaveLength(1)
  })

  test.each(['Upper', 'default', 'x'.repeat(65), 'a.b', 'a%2Fb', '%2E%2E%2Fetc', '%C3%BC', 'a%00', 'a%ZZ', '*'])(
    '400 refuses %s as a name and saves nothing',
    async (name) => {
      const before = await names()
      const { status, body } = await control(server, 'PUT', `/snapshots/${name}`)
      expect({ status, body }).toEqual({ status: 400, body: NAME_REFUSED })
      expect(await names()).toEqual(before)
    },
  )

  test('404 for an unknown world, and saves nothing', async () => {
    const { status, body } = await control(server, 'PUT', '/snapshots/unkept?world=nowhere')
    expect({ status, body }).toEqual({ status: 404, body: worldNotFound('nowhere') })
    expect(await names()).not.toContain('unkept')
  })

  test('429 above 1,000 names, while existing ones can be replaced', async () => {
    await using fresh = await startServer()
    await succeed(fresh, 'PUT', '/worlds/small')
    for (let count = 0; count < 1_000; count++) await succeed(fresh, 'PUT', `/snapshots/no-${count}?world=small`)
    const { status, body } = await control(fresh, 'PUT', '/snapshots/one-more?world=small')
    expect({ status, body }).toEqual({
      status: 429,
      body: structured(
        'TooManyRequestsError',
        'TOO_MANY_REQUESTS',
        'This sandbox already has 1000 snapshots. Delete one first.',
      ),
    })
    expect((await control(fresh, 'GET', '/snapshots/one-more')).status).toBe(404)
    await succeed(fresh, 'PUT', '/snapshots/no-1?world=small')
    await succeed(fresh, 'DELETE', '/snapshots/no-2')
    await succeed(fresh, 'PUT', '/snapshots/one-more?world=small')
  })
})

describe('GET /_sandbox/snapshots', () => {
  test('lists them by name, for all worlds', async () => {
    await withAda('owner')
    for (const name of ['second', 'first']) await succeed(server, 'PUT', `/snapshots/${name}?world=owner`)
    await succeed(server, 'DELETE', '/worlds/owner')
    const listed = await names()
    expect(listed).toEqual(listed.toSorted())
    expect(listed).toEqual(expect.arrayContaining(['first', 'second']))
    expect(rowsIn((await fileOf('first')).database).beneficiaries).toHaveLength(1)
  })
})

describe('GET /_sandbox/snapshots/{name}', () => {
  test('contains no password and no voucher code', async () => {
    const world = await withAda('secretive')
    const { vouchers } = await place(world, INSTANT)
    await succeed(server, 'PUT', '/snapshots/secretive?world=secretive')
    const image = Buffer.from(Bun.gunzipSync(Buffer.from((await fileOf('secretive')).database, 'base64'))).toString(
      'latin1',
    )
    for (const secret of [
      'a password',
      ...vouchers.flatMap(({ card_number, claim_url }) => [card_number, claim_url]),
    ]) {
      expect(image).not.toContain(secret)
    }
  })

  test.each(['nothing', 'Upper', 'a%2Fb', '%C3%BC', 'a%ZZ'])('404 for %s', async (name) => {
    const decoded = name === 'a%ZZ' ? '' : decodeURIComponent(name)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const) {
      const { status, body } = await control(server, method, `/snapshots/${name}${path}`)
      expect({ method, status, body }).toEqual({ method, status: 404, body: noSnapshot(decoded) })
    }
  })
})

describe('DELETE /_sandbox/snapshots/{name}', () => {
  test('204 deletes it once, and keeps worlds created from it', async () => {
    await withAda('parent')
    await succeed(server, 'PUT', '/snapshots/parent?world=parent')
    await succeed(server, 'PUT', '/worlds/child', { from: 'parent' })
    const { status, body } = await control(server, 'DELETE', '/snapshots/parent')
    expect({ status, body }).toEqual({ status: 204, body: undefined })
    expect(await names()).not.toContain('parent')
    expect((await control(server, 'DELETE', '/snapshots/parent')).body).toEqual(noSnapshot('parent'))
    expect(await countOf(await open('child'))).toBe(1)
  })

  test('a name may have the prefix of worlds', async () => {
    await withAda('prefixed')
    expect(await succeed<object>(server, 'PUT', '/snapshots/sbx_prefixed?world=sbx_prefixed')).toEqual({
      name: 'prefixed',
    })
    expect(await fileOf('sbx_prefixed')).toEqual(await fileOf('prefixed'))
    await succeed(server, 'POST', '/snapshots/sbx_prefixed/restore?world=prefixed')
    await succeed(server, 'DELETE', '/snapshots/sbx_prefixed')
    expect(await names()).not.toContain('prefixed')
  })
})

describe('POST /_sandbox/snapshots/{name}/restore', () => {
  test('200 restores rows, clock, pace and tokens', async () => {
    const world = await withAda('put-back')
    const { refresh_token } = await tokensOf(server, 'sbx_put-back')
    const before = await rowsOf(server, 'put-back')
    await succeed(server, 'PUT', '/snapshots/put-back?world=put-back')
    await everything(server, 'put-back')
    await succeed(server, 'PUT', '/pace?world=put-back', { payouts: 'manual' })
    const later = await tokensOf(server, 'sbx_put-back')
    expect(await statusWith(server, world.token)).toBe(401) // everything ends with a logout
    expect(await succeed<object>(server, 'POST', '/snapshots/put-back/restore?world=put-back')).toEqual({
      name: 'put-back',
      username: 'sbx_put-back',
      now: NOON,
    })
    expect(await rowsOf(server, 'put-back')).toEqual(before)
    expect(await succeed<object>(server, 'GET', '/clock?world=put-back')).toMatchObject({ now: NOON, frozen: true })
    expect(await succeed<object>(server, 'GET', '/pace?world=put-back')).toEqual({ payouts: 'auto', orders: 'auto' })
    expect(await statusWith(server, world.token)).toBe(200)
    expect(await statusWith(server, later.access_token)).toBe(401)
    expect((await refresh(server, refresh_token)).status).toBe(200)
  })

  test('later requests return the same ids, codes, times and order', async () => {
    await withAda('once-more')
    await succeed(server, 'PUT', '/snapshots/once-more?world=once-more')
    const first = await everything(server, 'once-more')
    await succeed(server, 'POST', '/snapshots/once-more/restore?world=once-more')
    // Request ids count with the request log, which starts again.
    const second = await everything(server, 'once-more')
    const plain = (responses: typeof first) =>
      responses.map(({ request, status, body, headers: { 'x-request-id': _, ...headers } }) => ({
        request,
        status,
        headers,
        ...(!request.includes('/coverage') && { body }),
      }))
    expect(plain(second)).toEqual(plain(first))
  })

  test('limits, cached charges, faults, request log and coverage start empty', async () => {
    const world = await withAda('again')
    const bought = { denomination: 50, quantity: 1 }
    const cache = async () => (await world.post('/api/v1/products/2/charges', bought)).headers.get('x-cache')
    expect([await cache(), await cache()]).toEqual(['MISS', 'HIT'])
    await succeed(server, 'POST', '/faults?world=again', { error: 'charges.rate_missing' })
    await succeed(server, 'PUT', '/snapshots/again?world=again')
    await succeed(server, 'POST', '/snapshots/again/restore?world=again')
    const { faults, requests, coverage } = await viewOf(server, 'again')
    expect([faults, requests]).toEqual([[], []])
    expect(coverage).toMatchObject({ exercised: 0, percent: 0 })
    expect(await cache()).toBe('MISS')
  })

  test('keeps the current password of the world', async () => {
    await withAda('lender')
    await succeed(server, 'PUT', '/snapshots/lent?world=lender')
    await tokensOf(server, 'sbx_borrower', 'of the borrower')
    await succeed(server, 'POST', '/snapshots/lent/restore?world=borrower')
    expect((await login(server, 'sbx_borrower', 'a password')).status).toBe(401)
    const { access_token } = await tokensOf(server, 'sbx_borrower', 'of the borrower')
    const response = await server.request('/api/v1/beneficiaries', {
      headers: { authorization: `Bearer ${access_token}` },
    })
    expect(response.headers.get('x-total-count')).toBe('1')
    expect(await countOf(await open('lender'))).toBe(1)
  })

  test('works in the default world, whose passwords and catalog stay', async () => {
    await withAda('donor')
    await succeed(server, 'PUT', '/snapshots/before')
    await succeed(server, 'PUT', '/snapshots/donor?world=donor')
    expect(await succeed<object>(server, 'POST', '/snapshots/donor/restore')).toEqual({
      name: 'default',
      username: 'sandbox',
      now: NOON,
    })
    const { access_token } = await tokensOf(server, 'sandbox', 'sandbox')
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await server.request('/api/v1/beneficiaries', { headers })).headers.get('x-total-count')).toBe('1')
    expect((await server.request('/api/v1/products/1', { headers })).status).toBe(200)
    expect(rowsIn((await fileOf('before')).database)).toMatchObject({ beneficiaries: [], products: [] })
    await control(server, 'POST', '/reset')
    expect((await succeed<{ frozen: boolean }>(server, 'GET', '/clock')).frozen).toBe(false)
  })

  test('404 for an unknown world or snapshot, without changes', async () => {
    const world = await withAda('left')
    await succeed(server, 'PUT', '/snapshots/left?world=left')
    expect(await control(server, 'POST', '/snapshots/left/restore?world=nowhere')).toMatchObject({
      status: 404,
      body: worldNotFound('nowhere'),
    })
    await saveAda(world)
    expect(await control(server, 'POST', '/snapshots/nothing/restore?world=left')).toMatchObject({
      status: 404,
      body: noSnapshot('nothing'),
    })
    expect(await countOf(world)).toBe(2)
  })
})

/** Keeps a prepared world as a file: Ada is saved, a voucher was bought, payouts are left alone. */
const prepare = async (folder: string): Promise<{ file: string; codes: unknown; nextId: string }> => {
  const world = await withAda('prepared')
  const response = await world.post('/api/v1/orders', INSTANT, { 'idempotency-key': 'bought before' })
  const { vouchers: codes } = (await response.json()) as { vouchers: unknown[] }
  await succeed(server, 'PUT', '/pace?world=prepared', { payouts: 'manual' })
  await succeed(server, 'PUT', '/snapshots/prepared?world=prepared')
  const file = join(folder, 'prepared.json')
  writeFileSync(file, JSON.stringify(await fileOf('prepared')))
  return { file, codes, nextId: await saveAda(await world.again()) }
}

const vouchersIn = async (program: Running, authorization: { headers: Record<string, string> }): Promise<unknown> =>
  (await program.request('/api/v1/orders/1/vouchers', authorization)).json()

describe('--snapshot FILE', () => {
  folderTest('is the initial state of every world: data, clock, pace and randomness', async (folder) => {
    const { file, nextId } = await prepare(folder)
    await using other = await startServer('--snapshot', file, '--seed', 'of no matter')
    for (const name of ['default', 'any']) {
      if (name !== 'default') await succeed(other, 'PUT', `/worlds/${name}`)
      expect(await succeed<object>(other, 'GET', `/clock?world=${name}`)).toMatchObject({ now: NOON, frozen: true })
      expect(await succeed<object>(other, 'GET', `/pace?world=${name}`)).toEqual({ payouts: 'manual', orders: 'auto' })
      expect((await rowsOf(other, name)).beneficiaries).toEqual(
        rowsIn((await fileOf('prepared')).database).beneficiaries as unknown[],
      )
    }
    expect(await saveAda(await open('any', other))).toBe(nextId)
    await succeed(other, 'POST', '/reset?world=any')
    expect(await countOf(await open('any', other))).toBe(1)
    await succeed(other, 'POST', '/reset')
    expect((await rowsOf(other, 'default')).beneficiaries).toHaveLength(1)
  })

  folderTest('initializes a new data folder, which keeps its own data afterwards', async (folder) => {
    const { file, codes } = await prepare(folder)
    const dataDir = join(folder, 'data')
    const first = await start(['--snapshot', file, '--data-dir', dataDir])
    const authorization = bearer(await inDefault(first))
    expect(await vouchersIn(first, authorization)).toEqual(codes)
    const later = '2031-01-01T00:00:00.000Z'
    await first.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify({ now: later }) })
    await first.stop()
    for (const flags of [['--snapshot', file], []]) {
      await using again = await start([...flags, '--data-dir', dataDir])
      expect(await (await again.request('/_sandbox/clock')).json()).toMatchObject({ now: later, frozen: true })
      expect(await vouchersIn(again, bearer(await inDefault(again)))).toEqual(codes)
    }
  })

  folderTest('of a data folder needs the key of that folder', async (folder) => {
    const dataDir = join(folder, 'data')
    const key = 'a1'.repeat(32)
    const first = await start(['--data-dir', dataDir, '--voucher-key', key])
    const authorization = bearer(await inDefault(first))
    await first.request('/api/v1/orders', { method: 'POST', ...authorization, body: JSON.stringify(INSTANT) })
    const codes = await vouchersIn(first, authorization)
    await first.request('/_sandbox/snapshots/kept', { method: 'PUT' })
    const file = join(folder, 'kept.json')
    writeFileSync(file, await (await first.request('/_sandbox/snapshots/kept')).text())
    await first.stop()

    const other = await start(['--snapshot', file, '--voucher-key', key])
    expect(await vouchersIn(other, bearer(await inDefault(other)))).toEqual(codes)
    await other.stop()
    const fresh = join(folder, 'fresh')
    for (const flags of [[], ['--voucher-key', 'b2'.repeat(32)], ['--data-dir', fresh]]) {
      const { exitCode, stdout, stderr } = await run(['--port', '0', '--snapshot', file, ...flags])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toContain(
        `${file}: /database: its voucher codes are encrypted with the key of a data folder\nSet that key with --voucher-key.`,
      )
    }
    expect(existsSync(join(fresh, 'scrip.sqlite'))).toBe(false)
  })

  const gzipped = (bytes: Uint8Array): string => Buffer.from(Bun.gzipSync(new Uint8Array(bytes))).toString('base64')
  const imageOf = ({ database }: SnapshotFile) => Bun.gunzipSync(Buffer.from(database, 'base64'))
  const changed = (snapshot: SnapshotFile, statement: string): SnapshotFile => {
    const sqlite = Database.deserialize(imageOf(snapshot))
    sqlite.run('PRAGMA ignore_check_constraints = ON')
    sqlite.run(statement)
    const database = gzipped(sqlite.serialize())
    sqlite.close()
    return { ...snapshot, database }
  }

  test.each<[string, (snapshot: SnapshotFile) => unknown, RegExp]>([
    ['is empty', () => '', /not a snapshot/],
    ['is not JSON', () => 'a snapshot', /not a snapshot/],
    ['is truncated', (snapshot) => JSON.stringify(snapshot).slice(0, -100), /not a snapshot/],
    ['is a list', () => [], /not a snapshot/],
    ['is another document', () => ({ base: 'USD', rates: {} }), /not a snapshot of the format/],
    ['has another format', (it) => ({ ...it, format: 'scrip-snapshot/1' }), /not a snapshot of the format/],
    ['has a pace that is none', (it) => changed(it, 'UPDATE kept_pace SET payouts = 1'), /kept_pace/],
    ['has a clock beyond time', (it) => changed(it, 'UPDATE moved_clock SET offset_ms = 1e15'), /moved_clock/],
    ['has a database that is not base64', (it) => ({ ...it, database: 'ä' }), /\/database: cannot be unpacked/],
    [
      'has a database that is cut',
      (it) => ({ ...it, database: it.database.slice(0, it.database.length / 2) }),
      /\/database: cannot be unpacked/,
    ],
    ['has a database that is none', (it) => ({ ...it, database: gzipped(Buffer.from('x'.repeat(8_192))) }), /database/],
    [
      'has a database whose image is cut',
      (it) => {
        const image = imageOf(it)
        return { ...it, database: gzipped(image.slice(0, image.length / 2)) }
      },
      /malformed/,
    ],
    [
      'has a database of something else',
      (it) => ({ ...it, database: gzipped(foreignImage()) }),
      /not a Scrip database/,
    ],
    [
      'belongs to a newer program',
      (it) => changed(it, "INSERT INTO migrations VALUES (9999, 'later', 'x', 'x')"),
      /9999/,
    ],
    [
      'has no client of a sandbox, as live data has not',
      (it) => changed(it, "UPDATE clients SET username = 'acme-' || id"),
      /not a snapshot: \/database: is not a sandbox/,
    ],
    [
      'has no client at all',
      (it) => changed(it, 'DELETE FROM clients'),
      /not a snapshot: \/database: is not a sandbox/,
    ],
  ])('exit 4, with the file and the error, if it %s', (_, make, what) =>
    inFolder(async (folder) => {
      await succeed(server, 'PUT', '/worlds/base')
      await succeed(server, 'PUT', '/snapshots/base?world=base')
      const made = make(await fileOf('base'))
      const file = join(folder, 'bad.json')
      writeFileSync(file, typeof made === 'string' ? made : JSON.stringify(made))
      const dataDir = join(folder, 'data')
      const { exitCode, stdout, stderr } = await run(['--port', '0', '--snapshot', file, '--data-dir', dataDir])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toContain(`${file}: `)
      expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2)
      expect(stderr).toMatch(what)
      expect(existsSync(join(dataDir, 'scrip.sqlite'))).toBe(false)
    }),
  )
})

/** A database of some other program. */
const foreignImage = (): Uint8Array => {
  const sqlite = new Database(':memory:')
  sqlite.run('CREATE TABLE notes (text TEXT)')
  const image = sqlite.serialize()
  sqlite.close()
  return image
}
