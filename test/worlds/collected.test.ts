// Runs in process alone: it reads what no response tells.

import { describe, expect, test } from 'bun:test'
import type { World } from '../../src/worlds/world.ts'
import { openProgram } from '../harness.ts'
import { ADA } from '../records.ts'

const ROUNDS = 20
/** A register or the stack may hold on to some. */
const STRAYS_MAX = 4
/** What a turn of the event loop has looked at is held until its end, and finalizers take turns of their own. */
const TURNS_MAX = 50

/** How many of these worlds something still holds, once no more are given back. */
const heldOf = async (worlds: readonly WeakRef<World>[]): Promise<number> => {
  const held = () => worlds.filter((world) => world.deref() !== undefined).length
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    await new Promise(setImmediate)
    Bun.gc(true)
    await new Promise(setImmediate)
    if (held() <= 1) break
  }
  return held()
}

describe('A world is garbage-collected', () => {
  test.each<[string, (path: string) => [method: string, path: string]]>([
    ['that was dropped', (name) => ['DELETE', `/_sandbox/worlds/${name}`]],
    ['that was reset', (name) => ['POST', `/_sandbox/reset?world=${name}`]],
    ['that was replaced by a copy', (name) => ['PUT', `/_sandbox/worlds/${name}`]],
  ])('%s after its client has logged in, read and written', async (_, endOf) => {
    await using program = openProgram()
    const ended: WeakRef<World>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { client, world } = await program.open()
      ended.push(new WeakRef(world))
      expect((await client.get('/api/v1/products?limit=1')).status).toBe(200)
      expect((await client.post('/api/v1/beneficiaries', ADA)).status).toBe(201)
      expect((await client.post('/api/v1/products/2/charges', { denomination: 50, quantity: 1 })).status).toBe(200)
      const [method, path] = endOf(client.name)
      expect((await program.request(path, { method })).ok).toBe(true)
    }
    expect(await heldOf(ended)).toBeLessThanOrEqual(STRAYS_MAX)
  })

  test('the default one that was reset', async () => {
    await using program = openProgram()
    const ended: WeakRef<World>[] = []
    for (let round = 0; round < 10; round++) {
      ended.push(new WeakRef(program.worlds.default))
      const body = '{"username":"sandbox","password":"sandbox"}'
      const login = await program.request('/auth/login', { method: 'POST', body })
      const { access_token } = (await login.json()) as { access_token: string }
      const headers = { authorization: `Bearer ${access_token}` }
      expect((await program.request('/api/v1/products?limit=1', { headers })).status).toBe(200)
      expect((await program.request('/_sandbox/reset', { method: 'POST' })).status).toBe(200)
    }
    // The program itself holds the first.
    expect(await heldOf(ended)).toBeLessThanOrEqual(1 + STRAYS_MAX)
  })
})
