import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { badRequest, worldNotFound } from '../errors.ts'
import { type Server, type StartedServer, startServer, TestWorld } from '../harness.ts'
import { inFolder, run } from '../program.ts'
import { INSTANT, NOON, place, saveAda } from '../records.ts'
import { login } from '../sessions/requests.ts'
import { control, succeed } from './surface.ts'

/** Named worlds and snapshots outlive a restart and a crash with a data folder (contracts C1 and C3). */

const serve = (dataDir: string, ...flags: string[]): Promise<StartedServer> =>
  startServer('--data-dir', dataDir, '--rate-limit', 'off', '--seed', '16', ...flags)

/** Does some work with a server on a folder, then kills the server and starts another one. */
const restarted = async (dataDir: string, server: StartedServer, ...flags: string[]): Promise<StartedServer> => {
  await server.kill()
  return serve(dataDir, ...flags)
}

const withFolder = (work: (dataDir: string, server: StartedServer) => Promise<StartedServer>): Promise<void> =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const last = await work(dataDir, await serve(dataDir))
    await last.stop()
  })

const open = (server: Server, name: string) => TestWorld.open(server, name)
/** A client that goes on with the token that another server has issued. */
const resumed = (server: Server, { token }: TestWorld) => ({
  get: (path: string) => server.request(path, { headers: { authorization: `Bearer ${token}` } }),
})
const people = async (world: Pick<TestWorld, 'get'>) => {
  const response = await world.get('/api/v1/beneficiaries')
  return response.status === 200 ? response.headers.get('x-total-count') : response.status
}
const namesOf = async (server: Server, list: 'worlds' | 'snapshots'): Promise<string[]> =>
  (await succeed<{ name: string }[]>(server, 'GET', `/${list}`)).map(({ name }) => name)
/** Without the logs of databases, which may stay until the collector has finalized a statement. */
const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((file) => !/-(?:wal|shm)$/.test(file))
    .sort()

describe('A named world with --data-dir', () => {
  test('keeps records, tokens, logouts, password, clock and pace after a kill', () =>
    withFolder(async (dataDir, server) => {
      await succeed(server, 'PUT', '/worlds/shop')
      await succeed(server, 'POST', '/clock?world=shop', { now: NOON, frozen: true })
      await succeed(server, 'PUT', '/pace?world=shop', { payouts: 'manual' })
      const shop = await open(server, 'shop')
      await saveAda(shop)
      const left = await shop.limited()
      await left.post('/auth/logout')
      const next = await restarted(dataDir, server)
      expect(await people(resumed(next, shop))).toBe('1')
      expect(await people(resumed(next, left))).toBe(401)
      expect(await succeed<object>(next, 'GET', '/clock?world=shop')).toMatchObject({ now: NOON, frozen: true })
      expect(await succeed<object>(next, 'GET', '/pace?world=shop')).toEqual({ payouts: 'manual', orders: 'auto' })
      expect((await login(next as never, 'sbx_shop', 'another password')).status).toBe(401)
      expect(await people(await open(next, 'shop'))).toBe('1')
      expect(await people(await open(next, 'other'))).toBe('0')
      return next
    }))

  test('continues its ids, codes and due work where they stood, as without a restart', () =>
    withFolder(async (dataDir, server) => {
      const buy = async (on: StartedServer, name: string) => {
        const { id, vouchers } = await place(await open(on, name), INSTANT)
        return { id, vouchers, person: await saveAda(await open(on, name)) }
      }
      for (const name of ['interrupted', 'whole']) {
        await succeed(server, 'PUT', `/worlds/${name}`)
        await succeed(server, 'POST', `/clock?world=${name}`, { now: NOON, frozen: true })
        await buy(server, name)
      }
      const { id } = await place(await open(server, 'interrupted'), { ...INSTANT, quantity: 6 })
      await place(await open(server, 'whole'), { ...INSTANT, quantity: 6 })
      const expected = await buy(server, 'whole')
      const next = await restarted(dataDir, server)
      expect(await buy(next, 'interrupted')).toEqual(expected)
      await succeed(next, 'POST', '/clock?world=interrupted', { advance: 'PT5S' })
      const order = await (await (await open(next, 'interrupted')).get(`/api/v1/orders/${id}`)).json()
      expect(order).toMatchObject({ status: 'DELIVERED', delivered_at: '2030-01-01T12:00:05.000Z' })
      return next
    }))

  test('shows its request log and its inbox after a restart, as the default world does; faults and coverage are gone', () =>
    withFolder(async (dataDir, server) => {
      const shop = await open(server, 'shop')
      await saveAda(shop)
      await shop.control('/faults', { error: 'internal', times: 1 })
      await server.request('/_sandbox/inbox/hooks?world=shop', { method: 'POST', body: 'received' })
      await login(server as never, 'sandbox', 'sandbox')
      const read = async (from: StartedServer) => ({
        logs: await Promise.all(
          ['shop', 'default', '*'].map((name) => succeed<object[]>(from, 'GET', `/requests?world=${name}`)),
        ),
        written: await succeed<{ changes: object[] }>(from, 'GET', '/requests/2?world=shop'),
        inbox: await succeed<object[]>(from, 'GET', '/inbox?world=shop'),
      })
      const before = await read(server)
      expect(before.logs.map(({ length }) => length)).toEqual([2, 1, 3])
      expect(before.written.changes).not.toEqual([])
      expect(before.inbox).toMatchObject([{ body: 'received' }])
      await server.stop()
      expect(readFileSync(join(dataDir, 'worlds', 'world-shop.requests'))).not.toContain('a password')
      const next = await serve(dataDir)
      expect(await namesOf(next, 'worlds')).toEqual(['default', 'shop'])
      expect(await read(next)).toEqual(before)
      expect(await succeed<object>(next, 'GET', '/faults?world=shop')).toEqual([])
      await saveAda(await open(next, 'shop'))
      expect((await succeed<{ id: number }[]>(next, 'GET', '/requests?world=shop')).map(({ id }) => id)).toEqual([
        4, 3, 2, 1,
      ])
      await succeed(next, 'POST', '/reset?world=shop')
      const last = await restarted(dataDir, next)
      expect(await succeed<object[]>(last, 'GET', '/requests?world=shop')).toEqual([])
      return last
    }))

  test.each([
    ['is cut', 'x'],
    ['holds something else', Bun.zstdCompressSync('{"requests":[{}],"inbox":5}')],
    [
      'has requests of no time',
      Bun.zstdCompressSync('{"requests":[{"request":{"headers":{}},"response":{}}],"inbox":[]}'),
    ],
  ])('does without its request log when the file of that %s', (_, content) =>
    withFolder(async (dataDir, server) => {
      await saveAda(await open(server, 'shop'))
      await server.stop()
      writeFileSync(join(dataDir, 'worlds', 'world-shop.requests'), content)
      const next = await serve(dataDir)
      expect(await people(await open(next, 'shop'))).toBe('1')
      expect(await succeed<object[]>(next, 'GET', '/requests?world=shop')).toHaveLength(2)
      expect(await succeed<object[]>(next, 'GET', '/inbox?world=shop')).toEqual([])
      return next
    }),
  )

  test('stays reset or dropped, and is listed before anyone has used it', () =>
    withFolder(async (dataDir, server) => {
      for (const name of ['reset', 'dropped']) await saveAda(await open(server, name))
      await succeed(server, 'PUT', '/worlds/two')
      await succeed(server, 'POST', '/clock?world=two', { now: NOON, frozen: true })
      await succeed(server, 'POST', '/reset?world=reset')
      await succeed(server, 'DELETE', '/worlds/dropped')
      const next = await restarted(dataDir, server)
      const { worlds } = await succeed<{ worlds: string[] }>(next, 'GET', '')
      expect(worlds.sort()).toEqual(['default', 'reset', 'two'])
      const two = { name: 'two', username: 'sbx_two', now: NOON }
      expect(await succeed<object[]>(next, 'GET', '/worlds')).toContainEqual(two)
      expect(await people(await open(next, 'reset'))).toBe('0')
      expect((await control(next, 'GET', '/clock?world=dropped')).body).toEqual(worldNotFound('dropped'))
      expect(await people(await open(next, 'dropped'))).toBe('0')
      return next
    }))
})

describe('A snapshot with --data-dir', () => {
  test('outlives a kill, with clock and tokens, and can be restored, copied, downloaded and deleted', () =>
    withFolder(async (dataDir, server) => {
      await succeed(server, 'PUT', '/worlds/shop')
      await succeed(server, 'POST', '/clock?world=shop', { now: NOON, frozen: true })
      const shop = await open(server, 'shop')
      await saveAda(shop)
      for (const name of ['second', 'first']) await succeed(server, 'PUT', `/snapshots/${name}?world=shop`)
      const before = await succeed<object>(server, 'GET', '/snapshots/first')
      await saveAda(shop)
      await succeed(server, 'POST', '/clock?world=shop', { advance: 'PT1M' })
      const next = await restarted(dataDir, server)
      expect(await namesOf(next, 'snapshots')).toEqual(['first', 'second'])
      expect(await succeed<object>(next, 'GET', '/snapshots/first')).toEqual(before)
      await succeed(next, 'POST', '/snapshots/first/restore?world=shop')
      expect(await people(resumed(next, shop))).toBe('1')
      expect(await succeed<object>(next, 'GET', '/clock?world=shop')).toMatchObject({ now: NOON, frozen: true })
      await succeed(next, 'PUT', '/worlds/copy', { from: 'second' })
      expect(await people(await open(next, 'copy'))).toBe('1')
      await succeed(next, 'DELETE', '/snapshots/second')
      const last = await restarted(dataDir, next)
      expect(await namesOf(last, 'snapshots')).toEqual(['first'])
      return last
    }))
})

describe('The data folder of named worlds', () => {
  test('has one file for each, and its requests beside it; half-made files go at the start, others are left alone', () =>
    withFolder(async (dataDir, server) => {
      await open(server, 'shop')
      await succeed(server, 'PUT', '/snapshots/kept?world=shop')
      await succeed(server, 'PUT', '/worlds/copy', { from: 'kept' })
      await server.stop()
      const files = ['clocks.jsonl', 'world-copy.sqlite', 'world-shop.requests', 'world-shop.sqlite']
      expect(filesIn(join(dataDir, 'worlds'))).toEqual(files)
      expect(filesIn(join(dataDir, 'snapshots'))).toEqual(['snapshot-kept.sqlite'])
      const others = ['world-shop.sqlite.new', 'world-SHOP.sqlite', 'notes.txt']
      for (const file of others) writeFileSync(join(dataDir, 'worlds', file), 'x')
      const next = await serve(dataDir)
      expect(filesIn(join(dataDir, 'worlds'))).toEqual(['notes.txt', 'world-SHOP.sqlite', ...files].sort())
      expect((await namesOf(next, 'worlds')).sort()).toEqual(['copy', 'default', 'shop'])
      return next
    }))

  test('does not give a new world the log that a killed process has left of an old one', () =>
    withFolder(async (dataDir, server) => {
      const path = join(dataDir, 'worlds', 'world-shop.sqlite')
      await saveAda(await open(server, 'shop'))
      copyFileSync(`${path}-wal`, `${path}-wal.copy`)
      await succeed(server, 'DELETE', '/worlds/shop')
      copyFileSync(`${path}-wal.copy`, `${path}-wal`)
      expect(await people(await open(server, 'shop'))).toBe('0')
      return server
    }))

  test('is checked by scrip verify by its name, while a server runs; scrip backup says what it leaves out', () =>
    withFolder(async (dataDir, server) => {
      await saveAda(await open(server, 'shop'))
      await succeed(server, 'PUT', '/snapshots/kept?world=shop')
      const path = join(dataDir, 'snapshots', 'snapshot-kept.sqlite')
      expect(await run(['verify', path])).toMatchObject({ exitCode: 0 })
      const backup = await run(['backup', join(dataDir, 'copy.sqlite'), '--data-dir', dataDir])
      expect(backup.stderr).toContain(`2 named worlds and snapshots of ${dataDir} are not in it`)
      const kept = new Database(path)
      kept.run('UPDATE wallets SET amount_minor = amount_minor + 1 WHERE id = 1')
      kept.close()
      expect(await run(['verify', path])).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining('wallet 1 holds'),
      })
      return server
    }))
})

describe('A damaged file in a data folder', () => {
  const DAMAGES: [string, (path: string) => void][] = [
    ['is empty', (path) => writeFileSync(path, '')],
    ['is not a database', (path) => writeFileSync(path, 'x'.repeat(10_000))],
    ['is cut short', (path) => truncateSync(path, statSync(path).size / 2)],
    ['has damaged pages', (path) => damagePages(path)],
    ['is another database', (path) => foreign(path)],
  ]
  const foreign = (path: string): void => {
    rmSync(path)
    const sqlite = new Database(path)
    sqlite.run('CREATE TABLE notes (text TEXT)')
    sqlite.close()
  }
  /** Leaves the header as it is, and the schema behind it. */
  const damagePages = (path: string): void => {
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0x55, Math.floor(bytes.length / 3)))
    rmSync(`${path}-wal`, { force: true })
  }
  const worldDamaged = (name: string) =>
    refusal(`The file of the world ${name} is damaged. Put it back, or delete the world.`)
  const snapshotDamaged = (name: string) =>
    refusal(`The file of the snapshot ${name} is damaged. Put it back, or delete the snapshot.`)
  const refusal = (message: string) => ({ status: 400, body: badRequest(message) })

  test.each(DAMAGES)('that %s is named in the log and refused, and other worlds stay as they are', (_, damage) =>
    withFolder(async (dataDir, server) => {
      await saveAda(await open(server, 'broken'))
      await saveAda(await open(server, 'sound'))
      await succeed(server, 'PUT', '/snapshots/kept?world=broken')
      await server.kill()
      const files = ['worlds/world-broken.sqlite', 'snapshots/snapshot-kept.sqlite'].map((file) => join(dataDir, file))
      const [worldFile = '', snapshotFile = ''] = files
      // The last commits are in the log beside the file.
      const sqlite = new Database(worldFile)
      sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
      sqlite.close()
      const whole = readFileSync(worldFile)
      for (const file of files) {
        damage(file)
        rmSync(`${file}-wal`, { force: true })
      }
      const next = await serve(dataDir)
      for (const [method, path] of [
        ['GET', '/clock?world=broken'],
        ['GET', '/ledger?world=broken'],
        ['POST', '/reset?world=broken'],
        ['PUT', '/worlds/broken'],
        ['PUT', '/snapshots/new?world=broken'],
      ] as const) {
        expect(await control(next, method, path)).toMatchObject(worldDamaged('broken'))
      }
      expect(await control(next, 'PUT', '/worlds/new', { from: 'broken' })).toMatchObject(worldDamaged('broken'))
      expect(await control(next, 'PUT', '/worlds/new', { from: 'kept' })).toMatchObject(snapshotDamaged('kept'))
      expect(await control(next, 'GET', '/snapshots/kept')).toMatchObject(snapshotDamaged('kept'))
      expect(await control(next, 'POST', '/snapshots/kept/restore?world=sound')).toMatchObject(snapshotDamaged('kept'))
      const refused = await login(next as never, 'sbx_broken', 'a password')
      expect({ status: refused.status, body: await refused.json() }).toEqual(worldDamaged('broken'))
      expect(await namesOf(next, 'worlds')).toEqual(['default', 'sound'])
      expect(await people(await open(next, 'sound'))).toBe('1')

      writeFileSync(worldFile, whole)
      expect(await people(await open(next, 'broken'))).toBe('1')
      damage(snapshotFile)
      expect((await control(next, 'DELETE', '/snapshots/kept')).status).toBe(204)
      for (const file of files) expect(next.errors()).toContain(`${file}: `)
      return next
    }),
  )

  test('with damage in single pages is refused by each request that reads them, and can be deleted', () =>
    withFolder(async (dataDir, server) => {
      for (const [name, damage] of [
        ['emptied', (path: string) => writeFileSync(path, '')],
        ['removed', rmSync],
      ] as const) {
        await succeed(server, 'PUT', `/worlds/${name}`)
        damage(join(dataDir, `worlds/world-${name}.sqlite`))
        expect(await control(server, 'GET', `/ledger?world=${name}`)).toMatchObject(worldDamaged(name))
        await succeed(server, 'DELETE', `/worlds/${name}`)
      }
      await succeed(server, 'PUT', '/worlds/broken')
      damagePages(join(dataDir, 'worlds/world-broken.sqlite'))
      for (const path of ['/ledger?world=broken', '/ledger?world=sbx_broken', '/wallets?world=broken']) {
        const method = path.startsWith('/wallets') ? 'POST' : 'GET'
        const body = method === 'POST' ? { currency: 'USD' } : undefined
        expect(await control(server, method, path, body)).toMatchObject(worldDamaged('broken'))
      }
      const refused = await login(server as never, 'sbx_broken', 'a password')
      expect({ status: refused.status, body: await refused.json() }).toEqual(worldDamaged('broken'))
      expect((await control(server, 'DELETE', '/worlds/broken')).status).toBe(204)
      expect(filesIn(join(dataDir, 'worlds'))).toEqual([])
      expect((await control(server, 'DELETE', '/worlds/broken')).status).toBe(404)
      expect(await people(await open(server, 'broken'))).toBe('0')
      expect(server.errors()).toContain('malformed')
      return server
    }))
})
