// Runs in process alone: it reads what no response tells.

import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestLog } from '../../src/sandbox/requests/request-log.ts'
import { Images } from '../../src/sandbox/worlds/images.ts'
import { logBudget, memoryOf } from '../../src/sandbox/worlds/memory.ts'
import { canSuspend } from '../../src/sandbox/worlds/open-worlds.ts'
import type { World } from '../../src/worlds/world.ts'
import { structured } from '../errors.ts'
import { expectResponse, forFile, openProgram, TestWorld } from '../harness.ts'
import { ADA } from '../records.ts'
import { login } from '../sessions/requests.ts'

/** All worlds and request logs together stay within one budget (contract C15): counted in bytes that are kept. */

const MIB = 1_048_576

describe('Images of suspended worlds', () => {
  const imageOf = (fill: number, bytes: number) =>
    Uint8Array.from({ length: bytes }, (_, index) => (fill * 7 + index * index) % 251)

  test('are kept in memory up to a limit, then in a file, and read back unchanged', () => {
    const images = new Images(4_000, () => true)
    const originals = Array.from({ length: 20 }, (_, fill) => imageOf(fill, 3_000 + fill))
    const kept = originals.map((image) => images.keep(image))
    expect(images.memoryBytes).toBeLessThanOrEqual(4_000)
    for (const [index, each] of kept.entries()) expect(each.read()).toEqual(originals[index] as Uint8Array)
    images.close()
  })

  test('are not held in memory as well when they are in the file', () => {
    const images = new Images(0, () => true)
    const liveArrays = () => {
      Bun.gc(true)
      return heapStats().objectTypeCounts.Uint8Array ?? 0
    }
    const before = liveArrays()
    const kept = Array.from({ length: 200 }, (_, fill) => images.keep(imageOf(fill, 3_000)))
    expect(liveArrays() - before).toBeLessThan(20)
    expect(kept[199]?.read()).toEqual(imageOf(199, 3_000))
    images.close()
  })

  test('stay in memory beyond the limit of the file', () => {
    const images = new Images(1_000, (bytes) => images.fileBytes + bytes <= 1_000)
    const originals = Array.from({ length: 20 }, (_, fill) => imageOf(fill, 3_000 + fill))
    const kept = originals.map((image) => images.keep(image))
    expect(images.fileBytes).toBeLessThanOrEqual(1_000)
    expect(images.memoryBytes).toBeGreaterThan(1_000)
    for (const [index, each] of kept.entries()) expect(each.read()).toEqual(originals[index] as Uint8Array)
    for (const each of kept) each.drop()
    expect([images.memoryBytes, images.fileBytes]).toEqual([0, 0])
    images.close()
  })

  test('free their space', () => {
    const images = new Images(0, () => true)
    const first = Array.from({ length: 10 }, (_, fill) => images.keep(imageOf(fill, 2 * MIB)))
    for (const [index, each] of first.entries()) if (index % 2 === 0) each.drop()
    const second = Array.from({ length: 5 }, (_, fill) => images.keep(imageOf(20 + fill, 2 * MIB)))
    for (const [fill, each] of second.entries()) expect(each.read()).toEqual(imageOf(20 + fill, 2 * MIB))
    expect(first[1]?.read()).toEqual(imageOf(1, 2 * MIB))
    for (const each of [...second, ...first.filter((_, index) => index % 2 === 1)]) each.drop()
    expect(images.memoryBytes).toBe(0)
    images.close()
  })
})

describe('A sandbox with --memory 64MiB', () => {
  const MEMORY = 64 * MIB
  const program = forFile(openProgram({ flags: ['--memory', '64MiB'] }))

  test('suspends the least recently used worlds when open worlds take an eighth of it', async () => {
    const opened = await Promise.all(Array.from({ length: 100 }, () => program.open()))
    program.worlds.rest()
    const [, ...named] = program.worlds.all
    const openBytes = named.filter(canSuspend).reduce((sum, each) => sum + memoryOf(each), 0)
    expect(openBytes).toBeLessThanOrEqual(MEMORY / 8)
    const statuses = await Promise.all(opened.map(async ({ client }) => (await client.get('/api/v1/wallets')).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    const saved = await Promise.all(
      opened.map(async ({ client }) => (await client.post('/api/v1/beneficiaries', ADA)).status),
    )
    expect(new Set(saved)).toEqual(new Set([201]))
    for (const { client } of opened) {
      expect((await client.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('1')
    }
    expect(program.worlds.memoryBytes).toBeLessThanOrEqual(MEMORY)
  })

  test('gives request logs a quarter, in equal shares', async () => {
    const { worlds } = program
    const text = 'x'.repeat(MIB / 2)
    const { client, world } = await program.open()
    const { client: other, world: otherWorld } = await program.open()
    for (let count = 0; count < 7; count++) await client.post('/api/v1/beneficiaries', { ...ADA, first_name: text })
    await other.get('/api/v1/countries/1')
    expect(world.of(logBudget).bytes).toBeGreaterThan(3 * MIB)
    const others = await Promise.all(Array.from({ length: 5 }, () => program.open()))
    for (const { client: each } of others) {
      for (let count = 0; count < 7; count++) await each.post('/api/v1/beneficiaries', { ...ADA, first_name: text })
    }
    worlds.rest()
    const kept = worlds.all.reduce((sum, each) => sum + each.of(logBudget).bytes, 0)
    expect(kept).toBeLessThanOrEqual(MEMORY / 4)
    expect((await world.of(requestLog).all()).length).toBeLessThan(7)
    expect((await otherWorld.of(requestLog).all()).length).toBeGreaterThan(0)
  })

  test('suspends open worlds before it refuses a new one', async () => {
    await using crowded = openProgram({ flags: ['--memory', '64MiB'] })
    const { world: first } = await crowded.open()
    for (let count = 0; count < 80; count++) await crowded.open()
    first.of(logBudget).bytes = 0.6 * MEMORY
    await crowded.open()
    expect(crowded.worlds.memoryBytes).toBeLessThanOrEqual(MEMORY)
    first.of(logBudget).bytes = 0.9 * MEMORY
    await expect(crowded.open()).rejects.toThrow('429')
  })

  test('refuses a new world with 429 when it is full, while existing ones work', async () => {
    const { client, world } = await program.open()
    world.of(logBudget).bytes = MEMORY
    const held = program.worlds.all.length - 1
    const response = await login(program, 'sbx_one-more')
    await expectResponse(
      response,
      429,
      structured(
        'TooManyRequestsError',
        'TOO_MANY_REQUESTS',
        `This sandbox holds ${held} worlds already. Drop one first.`,
      ),
    )
    expect((await client.get('/api/v1/wallets')).status).toBe(200)
    expect((await client.delete(`/_sandbox/worlds/${client.name}`)).status).toBe(204)
    await program.open()
  })
})

describe('A world that was deleted or reset', () => {
  test('is released by tokens, request log and caches', async () => {
    await using program = openProgram()
    const living: WeakRef<World>[] = []
    const use = async (name: string) => {
      const { client, world } = await program.open()
      living.push(new WeakRef(world))
      const ask = async (path: string, body?: object) =>
        expect((await (body ? client.post(path, body) : client.get(path))).status).toBeLessThan(300)
      await ask('/api/v1/beneficiaries', ADA)
      await ask('/api/v1/beneficiaries?search=ada')
      await ask('/api/v1/products/1/charges', { denomination: 100, quantity: 1 })
      await ask('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 1 })
      await ask('/api/v1/payouts', {
        reference_id: name,
        wallet_id: 1,
        amount: 1,
        currency: 'USD',
        beneficiary_email: ADA.email,
        beneficiary_first_name: ADA.first_name,
        beneficiary_last_name: ADA.last_name,
      })
      await client.clock({ advance: 'PT1S' })
      await ask('/api/v1/payouts')
      await client.control('/faults', { error: 'internal', times: 1 })
      expect((await client.get('/api/v1/wallets')).status).toBe(500)
      await TestWorld.open(
        { request: (path: string, init: object) => client.request(path, init) } as never,
        client.name,
      )
      if (name.endsWith('0')) program.worlds.rest()
      const ended =
        name.endsWith('1') || name.endsWith('3')
          ? await client.control('/reset')
          : await client.delete(`/_sandbox/worlds/${client.name}`)
      expect(ended.status).toBeLessThan(300)
    }
    const COUNT = 20
    for (let number = 0; number < COUNT; number++) await use(`world-${number}`)
    await Bun.sleep(0)
    Bun.gc(true)
    await Bun.sleep(0)
    Bun.gc(true)
    // Some may still be on the stack. Where anything holds them, it holds all.
    expect(living.filter((world) => world.deref() !== undefined).length).toBeLessThanOrEqual(COUNT / 5)
  })
})

describe('A sandbox with a data folder', () => {
  test('counts the connection of a world as soon as it is read from its file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-memory-'))
    const flags = ['--data-dir', folder]
    const first = openProgram({ flags })
    const { client, world } = await first.open()
    await client.get('/api/v1/wallets')
    const openBytes = memoryOf(world)
    await first.stop()
    const second = openProgram({ flags })
    const read = second.worlds.find(world.name)
    expect(read && memoryOf(read)).toBeGreaterThan(openBytes / 2)
    await second.stop()
    rmSync(folder, { recursive: true })
  })

  test('suspends no other world for one that is restored', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-memory-'))
    const program = openProgram({ flags: ['--data-dir', folder] })
    const { world: other } = await program.open()
    const { world } = await program.open()
    for (const [method, path] of [
      ['PUT', '/_sandbox/snapshots/saved'],
      ['POST', '/_sandbox/snapshots/saved/restore'],
    ] as const)
      expect((await program.request(`${path}?world=${world.name}`, { method })).status).toBe(200)
    expect(other.openDatabase).toBeDefined()
    await program.stop()
    rmSync(folder, { recursive: true })
  })
})
