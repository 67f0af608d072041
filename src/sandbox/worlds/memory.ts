import type { Database } from '../../db/database.ts'
import { type World, worldPart } from '../../worlds/world.ts'

/** The memory of a world, roughly (decision 34). */

/** When nothing of it is open. */
const WORLD_BYTES = 28_672
/** The memory of a connection besides its data: its schema and triggers. */
const CONNECTION_BYTES = 262_144
/** The memory of a statement, with its objects and the pages that it copies. */
const STATEMENT_BYTES = 24_576
/** The maximum that is counted for a connection. */
const STATEMENTS_MAX = 48
/** Until the next tick counts them: hundreds of worlds may begin within a second, and most of them with little. */
const STATEMENTS_UNCOUNTED = 12

const measured = worldPart(() => ({ openBytes: 0, idleTicks: 0 }))

/** The bytes of a world's request log, and their limit, which the log itself enforces. */
export const logBudget = worldPart(() => ({
  bytes: 0,
  bytesMax: Number.POSITIVE_INFINITY,
  onLimited: (): void => undefined,
}))

export const memoryOf = (world: World): number => {
  const { openDatabase } = world
  const own = world.of(measured)
  if (openDatabase && own.openBytes === 0) own.openBytes = bytesOf(openDatabase, STATEMENTS_UNCOUNTED)
  return WORLD_BYTES + world.of(logBudget).bytes + (openDatabase ? own.openBytes : 0)
}

/** Pages of a file are on disk, apart from a small cache. */
const bytesOf = ({ onFile, byteCount }: Database, statementCount: number): number =>
  (onFile ? 0 : byteCount) + CONNECTION_BYTES + STATEMENT_BYTES * Math.min(statementCount, STATEMENTS_MAX)

/** Measures a world again if it was used since the last tick. Returns for how many ticks nobody has used it. */
export const tick = (world: World): number => {
  const { openDatabase, wasUsed } = world
  const own = world.of(measured)
  own.idleTicks = wasUsed ? 0 : own.idleTicks + 1
  if (wasUsed && openDatabase) own.openBytes = bytesOf(openDatabase, openDatabase.statementCount)
  world.wasUsed = false
  return own.idleTicks
}
