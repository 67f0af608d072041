import { createApp } from '../app/app.ts'
import type { Deps } from '../app/services.ts'
import { Database } from '../db/database.ts'
import { Sandbox, type SandboxOptions } from '../sandbox/sandbox.ts'
import { play } from '../sandbox/scenario/play.ts'
import type { Stage } from '../sandbox/scenario/scenario.ts'
import { setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { firstState, worldFrom } from '../sandbox/worlds/state.ts'
import { TemporaryFiles, TemporaryFolder } from '../sandbox/worlds/temporary-folder.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'
import { seededImage } from './memory.ts'
import type { Sources } from './origin.ts'

interface Around {
  sources: Pick<Sources, 'clock' | 'seed'>
  deps: Omit<Deps, 'worlds' | 'extension'>
  options: Omit<SandboxOptions, 'worlds' | 'stage' | 'settings'>
}

/**
 * Plays each scenario in its own program around one seeded world. Its requests reach no other world and count nowhere. A
 * scenario that stops leaves nothing (decision 132).
 */
export const stageAround = ({ sources: { clock, seed }, deps, options }: Around): Stage => {
  const stage: Stage = async (name, steps) => {
    const world = worldFrom(name, Database.inMemory(seededImage()), firstState(seed), clock)
    if (name === DEFAULT_WORLD) setAccountPasswords(world.db)
    const folder = new TemporaryFolder(new TemporaryFiles(), seededImage)
    const worlds = new SandboxWorlds({
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
    const stageOptions = { host: '127.0.0.1', publicUrl: 'http://localhost', token: undefined, strict: false }
    const extension = new Sandbox({ ...options, ...stageOptions, worlds, stage, settings: undefined })
    const { deliveries } = createApp({
      ...deps,
      worlds,
      extension,
      isUnlimited: true,
      isServing: () => false, // deliveries wait until the world is placed
      listeners: [],
      addressOf: () => stageOptions.host,
    })
    try {
      await play(world, steps, (sent) => extension.send(world, sent))
    } catch (error) {
      worlds.close()
      throw error
    } finally {
      await deliveries.close(0)
    }
    return { world, [Symbol.dispose]: () => worlds.close() }
  }
  return stage
}
