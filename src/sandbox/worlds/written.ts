import { type World, worldPart } from '../../work/world.ts'
import { holdsRecords } from './queries.ts'

/** Worlds that have written something since they were made or reset; logins do not count (contract C15). */

const written = worldPart(() => ({ isWritten: false }))

export const markWritten = (world: World): void => {
  world.of(written).isWritten = true
}

/**
 * A copy, a scenario and a file of an earlier process bring records that this world has not written. After a restart, a world
 * without records accepts any time, even if records were deleted from it: nothing is left that would be newer than its clock.
 */
export const isWritten = (world: World): boolean => world.of(written).isWritten || holdsRecords(world.db.query)
