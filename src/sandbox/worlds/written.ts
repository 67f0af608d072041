import { type World, worldPart } from '../../worlds/world.ts'
import { holdsRecords } from './queries.ts'

/** Whether a world has written anything since it was made or reset; logins do not count (contract C15). */

const written = worldPart(() => ({ isWritten: false }))

export const markWritten = (world: World): void => {
  world.of(written).isWritten = true
}

/** What an earlier process has written is known from the records in a file. */
export const isWritten = (world: World): boolean =>
  world.of(written).isWritten || (world.db.onFile && holdsRecords(world.db.query))
