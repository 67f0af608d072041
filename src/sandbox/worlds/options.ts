import type { SteadyClock } from '../../kernel/clock.ts'
import type { World } from '../../worlds/world.ts'
import type { Saved, WorldStore } from './store.ts'

export interface SandboxWorldsOptions {
  clock: SteadyClock
  default: World
  /** Opens the default world anew once it was closed: as it is seeded, or from what was saved. */
  reopenDefault: (saved?: Saved) => World
  /** Where the other worlds and the snapshots are. */
  store: WorldStore
  /** The clients that a new world has, besides those that every world has. */
  initialClients?: readonly string[]
  /** The random seed of a copy of a world that draws from the machine. */
  seed: string
  /** What all worlds may take of the memory together (contract C15). */
  memoryBytesMax: number
}
