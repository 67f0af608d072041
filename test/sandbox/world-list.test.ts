import { describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { againstBinary, openProgram, type StartedServer, startServer, TestWorld } from '../harness.ts'
import { inFolder } from '../program.ts'
import { NOON, saveAda } from '../records.ts'
import { control, succeed } from './surface.ts'

/** Worlds that an earlier process left are listed without being opened, and belong to all worlds (contract C15). */

const WORLDS = 40
const NAMES = Array.from({ length: WORLDS }, (_, number) => `w-${String(number).padStart(2, '0')}`)
const LATE = '2040-01-01T12:00:00.000Z'

const serve = (dataDir: string): Promise<StartedServer> =>
  startServer('--data-dir', dataDir, '--rate-limit', 'off', '--seed', '16')

interface Summary {
  name: string
  now: string
}
const listed = async (server: StartedServer): Promise<Summary[]> => {
  const worlds = await succeed<(Summary & { username: string })[]>(server, 'GET', '/worlds')
  return worlds.filter(({ name }) => name !== 'default').map(({ name, now }) => ({ name, now }))
}

/** A folder with worlds whose clocks stand still, the first one later than the others. */
const withWorlds = (work: (dataDir: string, server: StartedServer) => Promise<StartedServer>): Promise<void> =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const server = await serve(dataDir)
    for (const name of NAMES) {
      await succeed(server, 'PUT', `/worlds/${name}`)
      await succeed(server, 'POST', `/clock?world=${name}`, { now: NOON, frozen: true })
    }
    await succeed(server, 'POST', `/clock?world=${NAMES[0]}`, { now: LATE })
    await (await work(dataDir, server)).stop()
  })
const expected = NAMES.map((name, number) => ({ name, now: number === 0 ? LATE : NOON }))

describe('GET /_sandbox/worlds after a restart', () => {
  test.each(['stop', 'kill'] as const)('lists names and clocks: %s', (end) =>
    withWorlds(async (dataDir, server) => {
      await server[end]()
      const next = await serve(dataDir)
      expect(await listed(next)).toEqual(expected)
      await succeed(next, 'DELETE', `/worlds/${NAMES[1]}`)
      await succeed(next, 'PUT', '/worlds/w-99', { from: NAMES[0] })
      const changed = [...expected.filter(({ name }) => name !== NAMES[1]), { name: 'w-99', now: LATE }]
      expect(await listed(next)).toEqual(changed)
      await next[end]()
      const last = await serve(dataDir)
      expect(await listed(last)).toEqual(changed)
      return last
    }),
  )

  const INDEXES: [string, (path: string) => void][] = [
    ['is gone', (path) => rmSync(path)],
    ['is empty', (path) => writeFileSync(path, '')],
    ['holds other bytes', (path) => writeFileSync(path, new Uint8Array(1_000).fill(0xff))],
    ['ends in the middle of a line', (path) => writeFileSync(path, readFileSync(path).subarray(0, -20))],
    ['names other worlds and other things', (path) => appendFileSync(path, '\n["gone",{"offsetMs":0}]\n[]\nnull\n{')],
  ]
  test.each(INDEXES)('is right where the index of the folder %s, and makes it again', (_, damage) =>
    withWorlds(async (dataDir, server) => {
      await server.stop()
      damage(join(dataDir, 'worlds/clocks.jsonl'))
      const next = await serve(dataDir)
      expect(await listed(next)).toEqual(expected)
      await succeed(next, 'POST', `/clock?world=${NAMES[2]}`, { now: LATE })
      await next.kill()
      const last = await serve(dataDir)
      expect((await listed(last)).filter(({ now }) => now === LATE).map(({ name }) => name)).toEqual(['w-00', 'w-02'])
      return last
    }),
  )

  test.skipIf(againstBinary)('opens none', () =>
    withWorlds(async (dataDir, server) => {
      await server.stop()
      const program = openProgram({ flags: ['--data-dir', dataDir] })
      expect(await listed(program)).toEqual(expected)
      // Meanwhile, those that may have deliveries are read one in each turn.
      expect(program.worlds.all.length).toBeLessThan(WORLDS / 2)
      return program
    }),
  )
})

describe('?world=* after a restart', () => {
  test('has the requests of all worlds at once, and of each its coverage', () =>
    inFolder(async (folder) => {
      const dataDir = join(folder, 'data')
      const server = await serve(dataDir)
      for (const name of NAMES) await saveAda(await TestWorld.open(server, name))
      await server.stop()
      const next = await serve(dataDir)
      const paths = (await succeed<{ world: string; path: string }[]>(next, 'GET', '/requests?world=*&limit=1000'))
        .filter(({ path }) => path === '/api/v1/beneficiaries')
        .map(({ world }) => world)
      expect(paths.sort()).toEqual(NAMES)
      const { worlds } = await succeed<{ worlds: { world: string }[] }>(next, 'GET', '/coverage?world=*')
      expect(worlds.map(({ world }) => world).sort()).toEqual(['default', ...NAMES])
      await next.stop()
    }))

  test('leaves out a world that is damaged, as the list of worlds does', () =>
    withWorlds(async (dataDir, server) => {
      await server.stop()
      writeFileSync(join(dataDir, `worlds/world-${NAMES[3]}.sqlite`), '')
      const next = await serve(dataDir)
      const { status, body } = await control(next, 'GET', '/requests?world=*')
      expect([status, Array.isArray(body)]).toEqual([200, true])
      expect((await listed(next)).map(({ name }) => name)).toEqual(NAMES.filter((name) => name !== NAMES[3]))
      expect(next.errors()).toContain(`world-${NAMES[3]}.sqlite: `)
      return next
    }))
})
