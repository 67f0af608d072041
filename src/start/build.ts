import { createApp } from '../app/app.ts'
import type { Deps } from '../app/services.ts'
import { Catalog } from '../catalog/catalog.ts'
import { catalogVersion } from '../catalog/import.ts'
import { Database } from '../db/database.ts'
import { changesOf } from '../sandbox/editing/products.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { play } from '../sandbox/scenario/play.ts'
import type { Stage } from '../sandbox/scenario/scenario.ts'
import { setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { firstState, worldFrom } from '../sandbox/worlds/state.ts'
import { TemporaryFiles, TemporaryFolder } from '../sandbox/worlds/temporary-folder.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { World } from '../work/world.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'
import { seededImage } from './memory.ts'
import type { Opened } from './open.ts'
import { VERSION } from './version.ts'

/** The values that the program knows once it has an address. */
type Bound = Pick<Deps, 'publicUrl' | 'addressOf' | 'isClosing'> &
  Partial<Omit<Deps, keyof Opened>> &
  Partial<Pick<Deps, 'rates'>>

/** The second layer of a start: the app around the data, and its work. */
export const build = (opened: Opened, bound: Bound) => {
  const { log, reference, sandboxWorlds } = opened
  const { publicUrl } = bound
  const catalog =
    bound.catalog ??
    new Catalog({
      database: opened.catalogDatabase,
      version: catalogVersion,
      reference,
      publicUrl,
      onBroken: (error) => log.error('the catalog cannot be read', { cause: String(error) }),
      changesOf: sandboxWorlds && changesOf,
    })
  const { host, sandboxToken: token, strict, corsOrigins } = opened.config
  const sandbox =
    sandboxWorlds &&
    new Sandbox({
      ...{ ...opened, worlds: sandboxWorlds, catalog, version: VERSION, publicUrl },
      ...{ host, token, strict, corsOrigins, stage: stageOf(opened, { ...bound, catalog }) },
    })
  const deps: Deps = { ...opened, ...bound, version: VERSION, catalog, extension: sandbox }
  return { deps, sandbox, ...createApp(deps) }
}

const LOOPBACK = '127.0.0.1'

/**
 * Plays each scenario in its own program around one seeded world. Its requests reach no other world and count nowhere. A
 * scenario that stops leaves nothing (decision 132).
 */
export const stageOf =
  (opened: Opened, bound: Bound): Stage =>
  async (name, steps) => {
    const { clock, seed } = opened
    const world = worldFrom(name, Database.inMemory(seededImage()), firstState(seed), clock)
    if (name === DEFAULT_WORLD) setAccountPasswords(world.db)
    const worlds = worldsAround(world, opened)
    const config = { ...opened.config, host: LOOPBACK, sandboxToken: undefined, strict: false }
    const { sandbox, deliveries } = build(
      { ...opened, config, worlds, sandboxWorlds: worlds, settings: undefined },
      {
        ...{ ...bound, isUnlimited: true, listeners: [], precompile: false, addressOf: () => LOOPBACK },
        isServing: () => false, // deliveries wait until the world is placed
      },
    )
    if (!sandbox) throw new Error('a scenario is played in a sandbox')
    try {
      await play(world, steps, (sent) => sandbox.send(world, sent))
    } catch (error) {
      worlds.close()
      throw error
    } finally {
      await deliveries.close(0)
    }
    return { world, [Symbol.dispose]: () => worlds.close() }
  }

/** The worlds of a program that has a single one. */
const worldsAround = (world: World, { clock, seed }: Pick<Opened, 'clock' | 'seed'>): SandboxWorlds => {
  const folder = new TemporaryFolder(new TemporaryFiles(), seededImage)
  return new SandboxWorlds({
    clock,
    seed,
    default: world,
    reopenDefault: () => {
      throw new Error('a step has replaced its world')
    },
    folder,
    isLasting: false,
    snapshotFolder: folder,
    initial: seededImage,
    prepare: () => undefined,
    worldsMax: 0,
  })
}
