// Runs with --all alone: it takes long.
// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TemporaryFiles } from '../../src/sandbox/worlds/temporary-folder.ts'
import type { World } from '../../src/work/world.ts'
import { badRequest } from '../errors.ts'
import { expectResponse, openProgram, type Program, type TestWorld } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import { ADA, DELAYED, INSTANT, NOON, place } from '../records.ts'

/** Worlds that nobody uses rest (contract C15). */

const MIB = 1_048_576
/** More ticks than a world stays open for. */
const LONG = 11

const letRest = ({ worlds }: Program): void => {
  for (let tick = 0; tick < LONG; tick++) worlds.rest()
}

const enlarge = (world: World, bytes: number): void => {
  world.db.sqlite.run('CREATE TABLE IF NOT EXISTS filler (id INTEGER PRIMARY KEY, bytes BLOB)')
  world.db.sqlite.run(`INSERT INTO filler (bytes) VALUES (zeroblob(${bytes}))`)
}

const put = (client: TestWorld, path: string, body: object = {}) =>
  client.request(`/_sandbox${path}`, { method: 'PUT', body: JSON.stringify(body) })

const people = async (client: TestWorld) => (await client.get('/api/v1/beneficiaries')).headers.get('x-total-count')

describe('A world that rests', () => {
  test.each([0, 9])('resumes as if it had not rested (with %d MiB more of data)', async (mebibytes) => {
    await using program = openProgram()
    const [rested, awake] = [await program.open(NOON), await program.open(NOON)]
    for (const { client } of [rested, awake]) {
      await client.post('/api/v1/beneficiaries', ADA)
      await place(client, DELAYED)
    }
    if (mebibytes > 0) enlarge(rested.world, mebibytes * MIB)
    for (let tick = 0; tick < LONG; tick++) {
      await awake.client.get('/api/v1/wallets')
      program.worlds.rest()
    }
    await rested.client.get('/api/v1/wallets').then((response) => expect(response.status).toBe(200))
    expect(await people(rested.client)).toBe('1')
    expect((await place(rested.client, INSTANT)).vouchers).toEqual((await place(awake.client, INSTANT)).vouchers)
    expect(rested.world.clock.nowMs()).toBe(Date.parse(NOON))
  })

  test('keeps its request log and its inbox, to which later requests are added', async () => {
    await using program = openProgram()
    const { client, world } = await program.open(NOON)
    await place(client, DELAYED)
    await program.request(`/_sandbox/inbox/hooks?world=${client.name}`, { method: 'POST', body: 'received' })
    const read = async () => ({
      requests: await client.read<{ id: number }[]>(`/_sandbox/requests?world=${client.name}`),
      inbox: await client.read<object[]>(`/_sandbox/inbox?world=${client.name}`),
    })
    const before = await read()
    expect(before.inbox).toHaveLength(1)
    letRest(program)
    expect(world.openDatabase).toBeUndefined()
    const everyone = await client.read<object[]>('/_sandbox/requests?world=*')
    expect(everyone).toEqual(expect.arrayContaining(before.requests))
    expect(world.openDatabase).toBeUndefined()
    expect(await read()).toEqual(before)
    letRest(program)
    await client.get('/api/v1/wallets')
    const [last, ...others] = (await read()).requests
    expect(last?.id).toBe((before.requests[0]?.id ?? 0) + 1)
    expect(others).toEqual(before.requests)
  })

  test('is none in which somebody waits, unless more than 64 worlds are in use', async () => {
    await using program = openProgram()
    const { client, world } = await program.open(NOON)
    const items = client.read<object[]>(`/_sandbox/events?world=${client.name}&type=wallet.credited&wait=30s`)
    for (let tick = 0; tick < LONG; tick++) {
      await Bun.sleep(150) // somebody who waits looks at the world every 100 ms
      program.worlds.rest()
    }
    expect(world.openDatabase).not.toBeUndefined()
    for (let count = 0; count < 65; count++) await program.open()
    expect(world.openDatabase).toBeUndefined()
    await client.control('/wallets/1/fund', { amount: 1 })
    expect(await items).toHaveLength(1)
  })

  test('does its due work for those who wait in it: of a hundred, at most 64 are open', async () => {
    await using program = openProgram()
    const opened = await Promise.all(Array.from({ length: 100 }, () => program.open()))
    const waits = []
    for (const { client } of opened) {
      await place(client, DELAYED)
      waits.push(client.read<object[]>(`/_sandbox/events?world=${client.name}&type=order.delivered&wait=30s`))
    }
    const openCount = () => opened.filter(({ world }) => world.openDatabase !== undefined).length
    await Bun.sleep(300)
    expect(openCount()).toBeLessThanOrEqual(64)
    expect(await Promise.all(waits)).toEqual(opened.map(() => [expect.objectContaining({ type: 'order.delivered' })]))
    expect(openCount()).toBeLessThanOrEqual(64)
  })

  test('is the least recently used one, when more than 64 worlds are in use', async () => {
    await using program = openProgram()
    const opened = await Promise.all(Array.from({ length: 64 }, () => program.open()))
    const isOpen = () => opened.map(({ world }) => world.openDatabase !== undefined)
    program.worlds.rest()
    await opened[0]?.client.get('/api/v1/wallets')
    program.worlds.rest()
    await program.open()
    expect(isOpen().filter((open) => !open)).toHaveLength(1)
    expect(isOpen()[0]).toBe(true)
    for (const { client } of opened) expect((await client.get('/api/v1/wallets')).status).toBe(200)
  })

  test('is copied, saved, restored and replaced like one in use', async () => {
    await using program = openProgram()
    const { client, world } = await program.open(NOON)
    enlarge(world, 9 * MIB)
    await client.post('/api/v1/beneficiaries', ADA)
    letRest(program)
    expect((await put(client, `/snapshots/kept?world=${client.name}`)).status).toBe(200)
    await client.post('/api/v1/beneficiaries', ADA)
    letRest(program)
    expect((await client.control('/snapshots/kept/restore')).status).toBe(200)
    expect(await people(await client.again())).toBe('1')
    letRest(program)
    expect((await put(client, '/worlds/copy', { from: client.name })).status).toBe(200)
    expect(program.worlds.find('copy')?.clock.nowMs()).toBe(Date.parse(NOON))
    expect((await put(client, `/worlds/${client.name}`)).status).toBe(200)
    expect(await people(await client.again())).toBe('0')
    for (const path of ['/worlds/copy', '/snapshots/kept'])
      expect((await client.delete(`/_sandbox${path}`)).status).toBe(204)
  })

  test('of more than 64 MiB can be saved, but not downloaded', async () => {
    await using program = openProgram()
    const { client, world } = await program.open()
    enlarge(world, 65 * MIB)
    expect((await put(client, `/snapshots/kept?world=${client.name}`)).status).toBe(200)
    const response = await client.get('/_sandbox/snapshots/kept')
    await expectResponse(response, 400, badRequest('A snapshot of more than 64 MiB cannot be downloaded'))
  })
})

describe('The journal of a world', () => {
  /** A body whose characters take three bytes each. */
  const body = '€'.repeat(300_000)

  test('is at most 4 MiB of each inbox, bodies counted by their bytes', async () => {
    await using program = openProgram()
    const { client } = await program.open()
    for (let sent = 0; sent < 8; sent++) {
      await program.request(`/_sandbox/inbox/hooks?world=${client.name}`, { method: 'POST', body })
    }
    const entries = await client.read<{ id: number }[]>(`/_sandbox/inbox?world=${client.name}`)
    expect(entries.map(({ id }) => id)).toEqual([5, 6, 7, 8])
  })

  test('is at most 64 MiB in memory: worlds that were used before rest', async () => {
    await using program = openProgram()
    const opened = await Promise.all(Array.from({ length: 20 }, () => program.open()))
    for (const { client } of opened) {
      for (let sent = 0; sent < 4; sent++) {
        await program.request(`/_sandbox/inbox/hooks?world=${client.name}`, { method: 'POST', body })
      }
    }
    program.worlds.rest()
    const open = opened.filter(({ world }) => world.openDatabase !== undefined)
    expect(open.length).toBeLessThan(20)
    expect(open.length).toBeGreaterThan(15)
    for (const { client } of opened)
      expect(await client.read<object[]>(`/_sandbox/inbox?world=${client.name}`)).toHaveLength(4)
  })
})

describe('The temporary folder of a sandbox', () => {
  const inParent = (work: (parent: string) => void): void => {
    using temporary = temporaryFolder()
    const parent = temporary.path
    work(parent)
  }
  const LARGE = new Uint8Array(10_000).fill(7)

  test('is private, made with its first file, and goes with the process', () =>
    inParent((parent) => {
      const files = new TemporaryFiles(parent)
      const small = files.keep(new Uint8Array([1, 2, 3]))
      expect(readdirSync(parent)).toEqual([]) // a world that has only been logged in to takes no room on the disk
      const kept = files.keep(LARGE)
      const [folder = ''] = readdirSync(parent)
      expect(statSync(join(parent, folder)).mode & 0o777).toBe(0o700)
      expect([small.read(), kept.read().byteLength]).toEqual([new Uint8Array([1, 2, 3]), LARGE.byteLength])
      kept.drop()
      expect(readdirSync(join(parent, folder)).filter((file) => !file.startsWith('server.lock'))).toEqual([])
      files.dispose()
      expect(readdirSync(parent)).toEqual([])
    }))

  test('keeps everything in memory where it cannot be made', () =>
    inParent((parent) => {
      const files = new TemporaryFiles(join(parent, 'missing'))
      expect(files.keep(LARGE).read()).toEqual(LARGE)
      files.dispose()
      expect(existsSync(join(parent, 'missing'))).toBe(false)
    }))
})

test('a world that has only been logged in to takes no room on the disk', async () => {
  await using program = openProgram()
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('scrip-worlds-'))
  const before = new Set(folders())
  const opened = await Promise.all(Array.from({ length: 10 }, () => program.open()))
  letRest(program)
  expect(opened.filter(({ world }) => world.openDatabase)).toEqual([])
  expect(folders().filter((folder) => !before.has(folder))).toEqual([])
  for (const { client } of opened) expect((await client.get('/api/v1/wallets')).status).toBe(200)
})
