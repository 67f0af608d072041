import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CoverageReport } from '../../src/sandbox/requests/coverage.ts'
import { bearer, folderTest, inFolder, login, type Pair, type Running, run, start } from '../program.ts'

/** `scrip run --capsule` and `scrip open` (contract C15). */

/** Buys in the default world, saves a beneficiary in another one that sleeps afterwards, and drops a third. */
const WORK = `
const { SCRIP_URL: url, SCRIP_ACCESS_TOKEN: token } = process.env
const ask = (method, path, body, bearer = token) =>
  fetch(url + path, { method, headers: { authorization: 'Bearer ' + bearer }, body: body && JSON.stringify(body) })
const logIn = async (username) => (await (await ask('POST', '/auth/login', { username, password: 'first' })).json()).access_token
await ask('POST', '/_sandbox/clock', { now: '2040-01-01T00:00:00Z' })
await ask('PUT', '/_sandbox/snapshots/empty?world=default')
const later = await logIn('sandbox')
const other = await logIn('sbx_other')
await ask('POST', '/api/v1/beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }, other)
await ask('POST', '/_sandbox/faults?world=other', { drop: true, times: 1 })
await ask('DELETE', '/_sandbox/faults?world=other')
await ask('POST', '/_sandbox/faults?world=other', { status: 503, match: { path: '/api/v1/orders' }, times: 7 })
await ask('PUT', '/_sandbox/snapshots/with-ada?world=other')
await ask('DELETE', '/_sandbox/worlds/gone')
await logIn('sbx_gone')
await ask('DELETE', '/_sandbox/worlds/gone')
const payout = { reference_id: 'salary', wallet_id: 1, amount: 10, currency: 'USD', beneficiary_email: 'ada@example.com',
  beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' }
await fetch(url + '/auth/login', { method: 'POST', body: JSON.stringify({ username: 'sandbox', password: 'sandbox' }) })
const fresh = await (await fetch(url + '/auth/login', { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' })).json()
await ask('POST', '/api/v1/payouts', payout, fresh.access_token)
const order = await ask('POST', '/api/v1/orders', { product_id: 1, denomination: 100, quantity: 1 }, fresh.access_token)
console.log(await order.text())`

const json = async <T>(response: Response | Promise<Response>): Promise<T> => (await response).json() as Promise<T>

const inCapsule = (flags: string[], work: (capsule: string, order: Record<string, unknown>) => Promise<void>) =>
  inFolder(async (folder) => {
    const capsule = join(folder, 'run.capsule')
    const { exitCode, stdout } = await run(['run', '--capsule', capsule, ...flags, '--', process.execPath, '-e', WORK])
    expect(exitCode).toBe(0)
    await work(capsule, JSON.parse(stdout))
  })

const open = (capsule: string, flags: string[] = []): Promise<Running> =>
  start(['open', capsule, '--port', '0', ...flags])

const clientOf = async (program: Running, username = 'sandbox', password = username) =>
  bearer(await json<Pair>(login(program, username, password)))

describe('scrip open FILE', () => {
  test('serves the worlds as they ended, and never writes the file', () =>
    inCapsule([], async (capsule, order) => {
      const before = [readFileSync(capsule), statSync(capsule).mtimeMs]
      const program = await open(capsule)
      const client = await clientOf(program)
      const kept = await json<{ vouchers: unknown }>(program.request(`/api/v1/orders/${order.id}`, client))
      expect(kept).toEqual(order as never)
      expect(await json(program.request('/api/v1/payouts', client))).toMatchObject([{ reference_id: 'salary' }])
      const other = await clientOf(program, 'sbx_other', 'another password')
      expect(await json(program.request('/api/v1/beneficiaries', other))).toMatchObject([{ first_name: 'Ada' }])
      expect((await login(program, 'sbx_other', 'yet another one')).status).toBe(401)
      expect(await json(program.request('/_sandbox/worlds'))).toMatchObject([{ name: 'default' }, { name: 'other' }])
      await program.request('/_sandbox/reset', { method: 'POST' })
      await program.stop()
      expect([readFileSync(capsule), statSync(capsule).mtimeMs]).toEqual(before)
    }))

  test('and the snapshots that were kept, without passwords', () =>
    inCapsule([], async (capsule) => {
      const program = await open(capsule)
      const control = (method: string, path: string, body?: object) =>
        program.request(`/_sandbox${path}`, { method, body: JSON.stringify(body) ?? null })
      expect(await json(control('GET', '/snapshots'))).toEqual([{ name: 'empty' }, { name: 'with-ada' }])
      expect((await control('PUT', '/worlds/copy', { from: 'with-ada' })).status).toBe(200)
      expect((await control('POST', '/snapshots/empty/restore?world=other')).status).toBe(200)
      const people = async (username: string) =>
        json<object[]>(program.request('/api/v1/beneficiaries', await clientOf(program, username, 'any password')))
      expect(await people('sbx_copy')).toMatchObject([{ first_name: 'Ada' }])
      expect(await people('sbx_other')).toEqual([])
      await program.stop()
      expect(readFileSync(capsule, 'utf8')).toContain('\n{"snapshot":{"name":"empty",')
    }))

  test('at the time at which they ended, which stands still until somebody moves it', () =>
    inCapsule([], async (capsule) => {
      const program = await open(capsule)
      const clock = await json<{ now: string; frozen: boolean }>(program.request('/_sandbox/clock'))
      expect(clock.frozen).toBe(true)
      expect(clock.now).toStartWith('2040-01-01T00:00:')
      const client = await clientOf(program)
      const status = async () =>
        (await json<{ status: string }[]>(program.request('/api/v1/payouts', client)))[0]?.status
      expect(await status()).not.toBe('completed')
      await program.request('/_sandbox/clock', { method: 'POST', body: '{"advance":"PT5S"}' })
      expect(await status()).toBe('completed')
      await program.stop()
    }))

  test('with their request logs, which go on', () =>
    inCapsule([], async (capsule) => {
      const program = await open(capsule)
      const requestsOf = (world: string) =>
        json<{ id: number; path: string; response: { body: string } }[]>(
          program.request(`/_sandbox/requests?world=${world}`),
        )
      const earlier = await requestsOf('default')
      expect(earlier.map(({ path }) => path)).toContain('/api/v1/orders')
      expect(JSON.stringify(earlier)).toContain('[redacted]')
      await program.request('/status')
      const later = await requestsOf('default')
      expect(later.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
        earlier.map((_, index) => index + 1).concat(earlier.length + 1),
      )
      expect((await requestsOf('other')).map(({ path }) => path)).toContain('/api/v1/beneficiaries')
      await program.stop()
    }))

  test('with their fault rules and their coverage, that of dropped worlds included', () =>
    inCapsule([], async (capsule) => {
      const program = await open(capsule)
      const rules = await json<object[]>(program.request('/_sandbox/faults?world=other'))
      expect(rules).toMatchObject([{ id: 2, status: 503, match: { path: '/api/v1/orders' }, times_left: 7 }])
      expect(await json(program.request('/_sandbox/faults'))).toEqual([])
      const met = async (query: string) => {
        const { outcomes, events } = await json<CoverageReport>(program.request(`/_sandbox/coverage${query}`))
        return [...outcomes, ...events]
          .filter(({ count }) => count > 0)
          .map((each) => ('type' in each ? each.type : `${each.operation} ${each.name} ${each.count}`))
      }
      expect(await met('?world=other')).toEqual(['login success 1', 'createBeneficiary success 1'])
      expect(await met('')).toContain('order.delivered')
      expect(await met('?world=*')).toContain('login success 4')
      await program.stop()
    }))

  test('with the seed of the run: the next ids are those that the run would have made', () =>
    inCapsule(['--seed', 'capsule'], async (capsule) => {
      const next = async () => {
        const program = await open(capsule)
        const { headers } = await clientOf(program)
        const body = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
        const created = await json<{ id: string }>(
          program.request('/api/v1/beneficiaries', { method: 'POST', headers, body }),
        )
        await program.stop()
        return created.id.slice(-10)
      }
      expect(await next()).toBe(await next())
    }))

  folderTest('with the catalog and the rates of the run, whose files it does not need', async (folder) => {
    const files = ['catalog.json', 'rates.json', 'run.capsule'].map((name) => join(folder, name))
    const [catalog = '', rates = '', capsule = ''] = files
    const exported = await run(['catalog', 'export', catalog])
    expect(exported.exitCode).toBe(0)
    const document = JSON.parse(readFileSync(catalog, 'utf8'))
    document.products[0].name = 'Only Here'
    writeFileSync(catalog, JSON.stringify(document))
    writeFileSync(rates, '{"base":"USD","rates":{"INR":"1.5"}}')
    await run(['run', '--catalog', catalog, '--rates', rates, '--capsule', capsule, '--', 'rm', catalog, rates])
    const program = await open(capsule)
    const { headers } = await clientOf(program)
    const id = document.products[0].id
    expect(await json(program.request(`/api/v1/products/${id}`, { headers }))).toMatchObject({ name: 'Only Here' })
    const body = JSON.stringify({ denomination: 100, quantity: 1, wallet_id: 1 })
    const charge = await json<{ charges_details: unknown }>(
      program.request('/api/v1/products/1/charges', { method: 'POST', headers, body }),
    )
    expect(charge.charges_details).toMatchObject({ forex_rate: 0.66666667 })
    await program.stop()
  })

  folderTest('of a run with a data folder, given the key of its vouchers', async (folder) => {
    const [dataDir, capsule] = [join(folder, 'data'), join(folder, 'run.capsule')]
    const flags = ['--data-dir', dataDir, '--capsule', capsule]
    const { stdout } = await run(['run', ...flags, '--', process.execPath, '-e', WORK])
    const order = JSON.parse(stdout)
    const refused = await run(['open', capsule, '--port', '0'])
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toContain('--voucher-key')
    const key = readFileSync(join(dataDir, 'voucher.key'), 'utf8').trim()
    await using program = await start(['open', capsule, '--port', '0'], { env: { SCRIP_VOUCHER_KEY: key } })
    const client = await clientOf(program)
    expect(await json(program.request(`/api/v1/orders/${order.id}`, client))).toEqual(order)
  })

  folderTest('with worlds that slept because they did not fit into the memory', async (folder) => {
    const capsule = join(folder, 'run.capsule')
    const [memory, count] = ['64MiB', 100]
    const work = `
        const { SCRIP_URL: url } = process.env
        const post = (path, body, token) =>
          fetch(url + path, { method: 'POST', headers: { authorization: 'Bearer ' + token }, body: JSON.stringify(body) })
        for (let number = 0; number < ${count}; number++) {
          const login = await post('/auth/login', { username: 'sbx_w' + number, password: 'x' })
          const person = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Number ' + number }
          await post('/api/v1/beneficiaries', person, (await login.json()).access_token)
        }`
    const flags = ['--memory', memory, '--capsule', capsule]
    expect(await run(['run', ...flags, '--', process.execPath, '-e', work])).toMatchObject({ exitCode: 0 })
    const program = await open(capsule, ['--memory', memory])
    expect(await json<unknown[]>(program.request('/_sandbox/worlds'))).toHaveLength(count + 1)
    for (const number of [0, count / 2, count - 1]) {
      const client = await clientOf(program, `sbx_w${number}`, 'x')
      const saved = await json(program.request('/api/v1/beneficiaries', client))
      expect(saved).toMatchObject([{ last_name: `Number ${number}` }])
    }
    const requests = await json<unknown[]>(program.request('/_sandbox/requests?world=w0'))
    expect(requests).toHaveLength(4) // two of the run, and two of this test
    await program.stop()
  })

  test('accepts flags of serve, and has no limits unless they are asked for', () =>
    inCapsule([], async (capsule) => {
      const program = await open(capsule, ['--strict'])
      const response = await program.request('/api/v1/products?limt=1', await clientOf(program))
      expect(response.status).toBe(400)
      expect(response.headers.has('x-ratelimit-limit')).toBe(false)
      await program.stop()
      const limited = await open(capsule, ['--rate-limit', '7/m'])
      const { headers } = await limited.request('/api/v1/countries/1', await clientOf(limited))
      expect(headers.get('x-ratelimit-limit')).toBe('7')
      await limited.stop()
    }))
})

describe('scrip open refuses', () => {
  test.each<[string, (bytes: Buffer) => Buffer | string]>([
    ['an empty file', () => ''],
    ['another file', () => '{"some":"JSON"}\n'],
    ['a file without its end', (bytes) => bytes.subarray(0, -100)],
    ['a file without its last line', (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1)],
    ['a file with another byte', (bytes) => Buffer.from(bytes.toString().replace('/api/v1/orders', '/api/v1/ardors'))],
    ['a file with more at its end', (bytes) => Buffer.concat([bytes, Buffer.from('{}\n')])],
    ['a capsule of another format', (bytes) => bytes.toString().replace('scrip-capsule/1', 'scrip-capsule/2')],
  ])('%s with exit code 4, naming it', (_, damaged) =>
    inCapsule([], async (capsule) => {
      writeFileSync(capsule, damaged(readFileSync(capsule)))
      const { exitCode, stdout, stderr } = await run(['open', capsule, '--port', '0'])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toStartWith(`scrip: ${capsule}: `)
    }),
  )

  test('a file that is missing with exit code 4', async () => {
    const { exitCode, stderr } = await run(['open', '/no/such.capsule', '--port', '0'])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: 'scrip: /no/such.capsule does not exist\nCheck its name and its folder.\n',
    })
  })

  /** Another capsule with the digest of its lines. */
  const changed = (capsule: string, change: (lines: Record<string, never>[]) => unknown) => {
    const lines = readFileSync(capsule, 'utf8').trim().split('\n').slice(0, -1)
    const values = lines.map((line) => JSON.parse(line))
    change(values)
    const body = values.map((value) => `${JSON.stringify(value)}\n`).join('')
    const sha256 = createHash('sha256').update(body).digest('hex')
    writeFileSync(capsule, `${body}${JSON.stringify({ sha256 })}\n`)
  }
  interface WorldLine {
    world?: { name: string; snapshot: { database: string } }
  }
  const withImage = (capsule: string, imageOf: (image: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>) =>
    changed(capsule, (lines: WorldLine[]) => {
      const world = lines.find((line) => line.world?.name === 'other')?.world
      if (!world) throw new Error('no world')
      const image = imageOf(Bun.gunzipSync(Buffer.from(world.snapshot.database, 'base64')))
      world.snapshot.database = Buffer.from(Bun.gzipSync(image)).toString('base64')
    })

  test.each([
    [
      'a trigger',
      'CREATE TRIGGER gift AFTER INSERT ON orders BEGIN UPDATE wallets SET is_active = 1; END',
      'trigger "gift"',
    ],
    ['a view', 'CREATE VIEW spy AS SELECT * FROM clients', 'view "spy"'],
    ['a table', 'CREATE TABLE more (id INTEGER) STRICT', 'table "more"'],
    ['another column', 'ALTER TABLE wallets ADD COLUMN more TEXT', 'table "wallets"'],
    ['an index less', 'DROP INDEX orders_client', 'index "orders_client"'],
  ])('a capsule whose image has %s that no migration makes', (_, sql, part) =>
    inCapsule([], async (capsule) => {
      withImage(capsule, (image) => {
        const database = Database.deserialize(image)
        database.run(sql)
        return new Uint8Array(database.serialize())
      })
      const { exitCode, stdout, stderr } = await run(['open', capsule, '--port', '0'])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toStartWith(`scrip: ${capsule}: `)
      expect(stderr).toContain(part)
    }),
  )

  test('a small capsule that unpacks to more than 256 MiB', () =>
    inCapsule([], async (capsule) => {
      withImage(capsule, (image) => {
        const large = new Uint8Array(300 * 1_048_576)
        large.set(image)
        return large
      })
      const { exitCode, stdout, stderr } = await run(['open', capsule, '--port', '0'])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toBe(`scrip: ${capsule}: not a snapshot: /database: unpacks to more than 256 MiB\n`)
    }))

  test('a catalog in a capsule that unpacks to more than 256 MiB', () =>
    inCapsule([], async (capsule) => {
      const bomb = Buffer.from(Bun.zstdCompressSync(Buffer.alloc(300 * 1_048_576))).toString('base64')
      changed(capsule, ([head]: { catalog?: string }[]) => Object.assign(head ?? {}, { catalog: bomb }))
      const { exitCode, stderr } = await run(['open', capsule, '--port', '0'])
      expect(exitCode).toBe(4)
      expect(stderr).toBe(`scrip: ${capsule}: not a capsule: /catalog: unpacks to more than 256 MiB\n`)
    }))

  test.each([
    ['--data-dir', 'data'],
    ['--snapshot', 'world.json'],
    ['--seed', 'ci'],
    ['--mode', 'live'],
  ])('%s, which a capsule has itself, with exit code 2', async (flag, value) => {
    const { exitCode, stderr } = await run(['open', 'run.capsule', flag, value])
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(`unknown option '${flag}'`) })
  })

  test('to start without a file', async () => {
    expect(await run(['open'])).toMatchObject({ exitCode: 2 })
  })
})
