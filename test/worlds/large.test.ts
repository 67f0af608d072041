// Runs in process alone: it reads what no response tells.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beneficiaries } from '../../src/beneficiaries/tables.ts'
import { memoryOf } from '../../src/sandbox/worlds/memory.ts'
import type { World } from '../../src/worlds/world.ts'
import { badRequest, structured } from '../errors.ts'
import { expectResponse, openProgram, type Program, type TestWorld } from '../harness.ts'
import { ADA, INSTANT, NOON, place } from '../records.ts'

/** What large worlds of a sandbox in memory can do like others. */

const MIB = 1_048_576
/** More ticks than a world stays open for. */
const LONG = 11

const enlarge = (world: World, bytes: number): void => {
  world.db.sqlite.run('CREATE TABLE IF NOT EXISTS filler (id INTEGER PRIMARY KEY, bytes BLOB)')
  world.db.sqlite.run(`INSERT INTO filler (bytes) VALUES (zeroblob(${bytes}))`)
}

const put = (client: TestWorld, path: string, body: object = {}) =>
  client.request(`/_sandbox${path}`, { method: 'PUT', body: JSON.stringify(body) })

const people = async (client: TestWorld) => (await client.get('/api/v1/beneficiaries')).headers.get('x-total-count')

const withProgram = async (flags: string[], work: (program: Program) => Promise<void>): Promise<void> => {
  await using program = openProgram({ flags })
  await work(program)
}

describe('A world of more than 8 MiB in memory', () => {
  test('is suspended while nobody uses it, and nobody who uses it can tell', () =>
    withProgram([], async ({ open, worlds }) => {
      const { client, world } = await open(NOON)
      await client.post('/api/v1/beneficiaries', ADA)
      const whole = await open(NOON)
      await whole.client.post('/api/v1/beneficiaries', ADA)
      enlarge(world, 9 * MIB)
      for (let tick = 0; tick < LONG; tick++) worlds.rest()
      expect(memoryOf(world)).toBeLessThan(MIB)
      expect(await people(client)).toBe('1')
      expect((await place(client, INSTANT)).vouchers).toEqual((await place(whole.client, INSTANT)).vouchers)
    }))

  test('is copied with everything that was written before, and goes on by itself', () =>
    withProgram([], async ({ open, worlds }) => {
      const { client, world } = await open(NOON)
      enlarge(world, 9 * MIB)
      worlds.rest()
      await client.post('/api/v1/beneficiaries', ADA)
      const copying = [
        put(client, '/worlds/one', { from: client.name }),
        put(client, '/worlds/two', { from: client.name }),
      ]
      await client.post('/api/v1/beneficiaries', ADA)
      expect(await Promise.all(copying.map(async (copy) => (await copy).status))).toEqual([200, 200])
      expect(await people(client)).toBe('2')
      const login = async (name: string) =>
        worlds.find(name)?.db.sqlite.query('SELECT count(*) AS n FROM beneficiaries').get()
      expect([{ n: 1 }, { n: 2 }]).toContainEqual((await login('one')) as { n: number })
      expect(worlds.find('one')?.clock.nowMs()).toBe(Date.parse(NOON))
      expect((await client.delete('/_sandbox/worlds/one')).status).toBe(204)
      expect((await put(client, '/worlds/two')).status).toBe(200)
      expect(worlds.find('two')?.db.byteCount).toBeLessThan(MIB)
    }))

  test('is kept in snapshots and restored, also over the default world', () =>
    withProgram([], async ({ open, worlds }) => {
      const { client, world } = await open()
      enlarge(world, 9 * MIB)
      await client.post('/api/v1/beneficiaries', ADA)
      expect((await put(client, `/snapshots/kept?world=${client.name}`)).status).toBe(200)
      await client.post('/api/v1/beneficiaries', ADA)
      expect((await client.control('/snapshots/kept/restore')).status).toBe(200)
      expect(await people(await client.again())).toBe('1')
      expect((await client.post('/_sandbox/snapshots/kept/restore')).status).toBe(200)
      expect(worlds.default.db.byteCount).toBeGreaterThan(9 * MIB)
      expect((await client.request('/_sandbox/snapshots/kept')).status).toBe(200)
      expect((await put(client, '/snapshots/kept')).status).toBe(200)
      expect((await client.delete('/_sandbox/snapshots/kept')).status).toBe(204)
      expect(await (await client.get('/_sandbox/snapshots')).json()).toEqual([])
    }))

  test('can be saved above 64 MiB, but not downloaded', () =>
    withProgram([], async ({ open }) => {
      const { client, world } = await open()
      enlarge(world, 65 * MIB)
      expect((await put(client, `/snapshots/kept?world=${client.name}`)).status).toBe(200)
      const response = await client.get('/_sandbox/snapshots/kept')
      await expectResponse(response, 400, badRequest('A snapshot of more than 64 MiB cannot be downloaded'))
    }))
})

describe('A document of a world of more than 8 MiB', () => {
  const PEOPLE = 3_600
  /** Each takes 2 KiB. */
  const document = {
    clock: { now: NOON, frozen: true },
    beneficiaries: Array.from({ length: PEOPLE }, (_, index) => ({
      ...ADA,
      email: `ada-${index}@example.com`,
      metadata: { note: 'x'.repeat(2_000) },
    })),
  }

  test.each(['--mode=sandbox', '--data-dir'])('%s: is loaded, and its tokens and webhooks live on', async (flag) => {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-test-'))
    await withProgram(flag === '--data-dir' ? [flag, folder] : [flag], async ({ open, worlds }) => {
      const { client } = await open(NOON)
      const webhook = { name: 'receiver', url: 'http://127.0.0.1:9/', events: ['*'] }
      expect((await client.post('/api/v1/webhooks', webhook)).status).toBe(201)
      for (const _ of ['made', 'replaced']) {
        expect((await put(client, `/scenario?world=${client.name}`, document)).status).toBe(200)
        worlds.rest() // once a second
        expect(await people(client)).toBe(`${PEOPLE}`)
        expect(await (await client.get('/api/v1/webhooks')).json()).toMatchObject([webhook])
        expect((await client.post('/api/v1/beneficiaries', ADA)).status).toBe(201)
      }
      expect((await put(client, '/scenario', document)).status).toBe(200)
      expect(worlds.default.db.query.select().from(beneficiaries).all()).toHaveLength(PEOPLE)
    })
    rmSync(folder, { recursive: true })
  })

  test('gives way to a reset in the meantime, and takes the place of the world that it made', () =>
    withProgram([], async ({ open }) => {
      const { client } = await open(NOON)
      const loading = put(client, `/scenario?world=${client.name}`, document)
      expect((await client.control('/reset')).status).toBe(200)
      expect((await loading).status).toBe(200)
      expect(await people(await client.again())).toBe(`${PEOPLE}`)
    }))
})

describe('--memory 64MiB', () => {
  test('bounds the temporary file too: 429 for a copy and a snapshot that do not fit, while the world works', () =>
    withProgram(['--memory', '64MiB'], async ({ open, worlds }) => {
      const { client, world } = await open()
      enlarge(world, 30 * MIB)
      worlds.rest()
      for (const name of ['copy', 'another']) {
        expect((await put(client, `/worlds/${name}`, { from: client.name })).status).toBe(200)
      }
      const refusals = [
        await put(client, '/worlds/third', { from: client.name }),
        await put(client, `/snapshots/kept?world=${client.name}`),
      ]
      expect(refusals.map(({ status }) => status)).toEqual([429, 429])
      expect(await refusals[0]?.json()).toEqual(
        structured('TooManyRequestsError', 'TOO_MANY_REQUESTS', 'This sandbox holds 3 worlds already. Drop one first.'),
      )
      expect((await client.get('/api/v1/wallets')).status).toBe(200)
      expect((await client.delete('/_sandbox/worlds/copy')).status).toBe(204)
      expect((await put(client, `/snapshots/kept?world=${client.name}`)).status).toBe(200)
    }))
})
