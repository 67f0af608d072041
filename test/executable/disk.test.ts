import { describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { structured } from '../errors.ts'
import { bearer, folderTest, inFolder, loggedIn, login, ON_A_SMALL_DISK, type Running, run, start } from '../program.ts'
import { HUNDRED } from '../records.ts'
import { Connection } from '../socket.ts'
import { brokenInvariants } from './ledger.ts'

/** The machine runs out of disk space, descriptors or the right to write. */

const WITH_64_DESCRIPTORS = ['bash', '-c', 'ulimit -n 64; exec "$@"', 'bash']
/** More writes than fit, each with the maximum of metadata. */
const WRITES_MAX = 400
const PERSON = {
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  metadata: { note: 'x'.repeat(16_000) },
}

describe('a full disk', () => {
  test("refuses writes in the operation's format, serves reads, and accepts writes again when there is space", () =>
    inFolder(async (dataDir) => {
      const program = await start(['--data-dir', dataDir, '--rate-limit', 'off', '--port', '0'], {
        through: ON_A_SMALL_DISK,
      })
      const client = bearer(await loggedIn(program))
      const save = () =>
        program.request('/api/v1/beneficiaries', { method: 'POST', ...client, body: JSON.stringify(PERSON) })
      let saved = 0
      let refusal: Response | undefined
      while (saved < WRITES_MAX && !refusal) {
        const response = await save()
        if (response.status === 201) saved += 1
        else refusal = response
      }
      expect(refusal?.status).toBe(503)
      expect((await program.request('/readyz')).status).toBe(503)
      expect(refusal?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(await refusal?.json()).toEqual(
        structured('ServiceUnavailableError', 'SERVICE_UNAVAILABLE', 'Try again later.'),
      )
      expect(await totalOf(program, client)).toBe(saved)
      for (let count = 0; count < 20; count++) expect((await save()).status).toBe(503)
      await program.logged('writes are refused')
      expect(program.log().split('writes are refused')).toHaveLength(2)
      expect(program.log()).not.toContain('request failed')

      const roomier = Bun.spawnSync(['prlimit', '--pid', String(program.pid), '--fsize=unlimited'])
      expect(roomier.exitCode).toBe(0)
      expect((await save()).status).toBe(201)
      expect(await totalOf(program, client)).toBe(saved + 1)
      expect((await program.request('/readyz')).status).toBe(200)
      await program.logged('writes work again')
      expect(await program.stop()).toMatchObject({ exitCode: 0 })
      expect(brokenInvariants(dataDir)).toEqual([])
    }))
})

describe('a sandbox on a full disk', () => {
  test('refuses to replace a world or save a snapshot, and leaves every world as it was', () =>
    inFolder(async (dataDir) => {
      const program = await start(['--data-dir', dataDir, '--port', '0'], { through: ON_A_SMALL_DISK })
      const client = bearer(await loggedIn(program))
      const limit = (bytes: number | 'unlimited') =>
        expect(Bun.spawnSync(['prlimit', `--pid=${program.pid}`, `--fsize=${bytes}:unlimited`]).exitCode).toBe(0)
      const control = async (method: string, path: string) =>
        (await program.request(`/_sandbox${path}`, { method })).status
      const body = JSON.stringify({ ...PERSON, metadata: {} })
      expect((await program.request('/api/v1/beneficiaries', { method: 'POST', ...client, body })).status).toBe(201)
      expect(await control('PUT', '/worlds/shop')).toBe(200)
      expect(await control('PUT', '/snapshots/kept')).toBe(200)
      limit(65_536)
      const replacing = [
        ['POST', '/reset'],
        ['POST', '/reset?world=shop'],
        ['PUT', '/worlds/shop'],
        ['PUT', '/worlds/another'],
        ['PUT', '/snapshots/kept?world=shop'],
        ['POST', '/snapshots/kept/restore'],
      ] as const
      for (const [method, path] of replacing) expect([path, await control(method, path)]).toEqual([path, 503])
      expect(await totalOf(program, client)).toBe(1)
      for (const path of ['/ledger?world=shop', '/snapshots/kept']) expect(await control('GET', path)).toBe(200)
      limit('unlimited')
      for (const [method, path] of replacing) expect([path, await control(method, path)]).toEqual([path, 200])
      expect(await program.stop()).toMatchObject({ exitCode: 0 })
    }))
})

describe('a sandbox on a full disk, in which something is due', () => {
  test('answers every read, and neither logs in nor moves the clock', () =>
    inFolder(async (dataDir) => {
      const program = await start(['--data-dir', dataDir, '--port', '0'], { through: ON_A_SMALL_DISK })
      const client = bearer(await loggedIn(program))
      const body = JSON.stringify(HUNDRED)
      expect((await program.request('/api/v1/payouts', { method: 'POST', ...client, body })).status).toBe(201)
      const limit = (bytes: number | 'unlimited') =>
        expect(Bun.spawnSync(['prlimit', `--pid=${program.pid}`, `--fsize=${bytes}:unlimited`]).exitCode).toBe(0)
      limit(65_536)
      await program.logged('writes are refused') // by the first step of the payout
      const reads = ['/payouts', '/orders', '/wallets', '/transactions', '/events', '/countries/1', '/products']
      for (const path of reads)
        expect([path, (await program.request(`/api/v1${path}`, client)).status]).toEqual([path, 200])
      for (const path of ['/clock', '/payouts', '/ledger', '/worlds', '/requests'])
        expect([path, (await program.request(`/_sandbox${path}`)).status]).toEqual([path, 200])
      const clock = async () => (await (await program.request('/_sandbox/clock')).json()) as { frozen: boolean }
      const freeze = { method: 'POST', body: JSON.stringify({ frozen: true, advance: 'P1D' }) }
      expect((await program.request('/_sandbox/clock', freeze)).status).toBe(503)
      expect((await clock()).frozen).toBe(false)
      expect((await login(program, 'sandbox', 'sandbox')).status).toBe(503)
      limit('unlimited')
      expect((await program.request('/_sandbox/clock', freeze)).status).toBe(200)
      expect((await clock()).frozen).toBe(true)
      const [payout] = (await (await program.request('/api/v1/payouts', bearer(await loggedIn(program)))).json()) as [
        object,
      ]
      expect(payout).toMatchObject({ status: 'completed' })
      expect(await program.stop()).toMatchObject({ exitCode: 0 })
      expect(brokenInvariants(dataDir)).toEqual([])
    }))
})

const totalOf = async (program: Running, client: RequestInit): Promise<number> => {
  const response = await program.request('/api/v1/beneficiaries?limit=1', client)
  expect(response.status).toBe(200)
  return Number(response.headers.get('x-total-count'))
}

describe('data that cannot be written', () => {
  folderTest('exits with code 4 and the path, and does not change the data', async (dataDir) => {
    expect(await (await start(['--data-dir', dataDir])).stop()).toMatchObject({ exitCode: 0 })
    const before = contentsOf(dataDir)
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o444)
    chmodSync(dataDir, 0o555)
    const asNobody =
      process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []
    const ended = await run(['serve', '--port', '0', '--data-dir', dataDir], { through: asNobody })
    expect(ended).toMatchObject({ exitCode: 4, stdout: '' })
    expect(ended.stderr).toContain(dataDir)
    chmodSync(dataDir, 0o755)
    expect(contentsOf(dataDir)).toEqual(before)
  })
})

const contentsOf = (folder: string): [string, number][] =>
  readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size])

test('200 connections for 64 descriptors: descriptors that are closed are used again', async () => {
  const program = await start([], { through: WITH_64_DESCRIPTORS })
  const opened = await Promise.all(Array.from({ length: 200 }, () => Connection.open(program.url)))
  for (const connection of opened) connection.destroy()
  expect((await program.request('/status')).status).toBe(200)
  expect(await program.stop()).toMatchObject({ exitCode: 0 })
})
