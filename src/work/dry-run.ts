import type { Tx } from '../db/database.ts'
import { type World, worldPart } from './world.ts'

/** Dry runs (contract C19): a unit of work is done, its result is made, and all of it is undone. */

type Write = <T>(work: (tx: Tx) => T) => Promise<T>

/** The state of the current unit of work: in a dry run it is undone afterwards. */
const running = worldPart(() => ({ isDryRun: false }))

/** True in a dry run, whose unit of work notifies nobody and queues nothing. */
export const isInDryRun = (world: World): boolean => world.of(running).isDryRun

/** Ends a unit of work that is undone, with its result. */
class Undone extends Error {
  constructor(readonly result: unknown) {
    super('dry run')
  }
}

/** Writes that are undone. Ids and secrets that they draw are drawn again by the next write that is not. */
export const undoing =
  (world: World, write: Write): Write =>
  async <T>(work: (tx: Tx) => T): Promise<T> => {
    try {
      return await write((tx) => {
        throw new Undone(world.ids.rewinding(() => during(world, () => work(tx))))
      })
    } catch (error) {
      if (error instanceof Undone) return error.result as T
      throw error
    }
  }

const during = <T>(world: World, work: () => T): T => {
  const state = world.of(running)
  state.isDryRun = true
  try {
    return work()
  } finally {
    state.isDryRun = false
  }
}
