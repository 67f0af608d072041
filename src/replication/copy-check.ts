import { renameSync, rmSync } from 'node:fs'
import { type Position, positionIn } from '../db/copy-position.ts'
import { isDamage } from '../db/storage.ts'
import { flushFolder } from '../folder/disk.ts'
import { databasePath, hasDatabase } from '../folder/files.ts'
import { SECOND_MS, sinceStartMs, systemClock, toTimestamp } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { type Ask, PostgresAway } from './connection.ts'
import { checkKey, type Installation, installationOf, ServerUnfit } from './installation.ts'
import { KNOWN_SEQ } from './schema.ts'

/** The relation of the copy in a folder to PostgreSQL. */

/**
 * The copy does not continue PostgreSQL: its commits are not there, or PostgreSQL no longer has the changes
 * after it.
 */
export class CopyUnfit extends DataFault {
  constructor(
    message: string,
    /** True if the copy holds commits that PostgreSQL does not. */
    readonly isAhead: boolean,
  ) {
    super(message)
  }
}

/** The preparation of a folder before it follows. */
type Preparation = 'create' | 'pull' | 'follow'

/** @throws DataFault if the two do not belong together; CopyUnfit if the copy must be set aside */
export const preparationOf = (dataDir: string, installation: Installation | undefined): Preparation => {
  if (!hasDatabase(dataDir)) return installation ? 'pull' : 'create'
  const position = readPosition(dataDir)
  if (!installation) {
    throw new DataFault(
      position
        ? `this folder is a copy of the record ${position.installation}, and this record is empty\nSet SCRIP_POSTGRES to the record, or restore it.`
        : 'the record is empty, and this folder contains data\nRun scrip postgres init to upload it.',
    )
  }
  if (!position) {
    throw new DataFault(
      `this folder contains other data, and is not a copy of the record ${installation.id}\nUse an empty folder, or another record.`,
    )
  }
  if (position.installation !== installation.id) {
    throw new ServerUnfit(
      `this folder is a copy of the record ${position.installation}, and SCRIP_POSTGRES names the record ${installation.id}\nUse the right one, or an empty folder.`,
    )
  }
  return 'follow'
}

/** A start retries for this time while PostgreSQL cannot be reached (contract C18). */
const START_MS_MAX = 30 * SECOND_MS
const PAUSE_MS = 250

/** Checks PostgreSQL, signing key and folder. @throws DataFault; PostgresAway after 30 s; PostgresRefusal */
export const checkAtStart = async (
  ask: Ask,
  { dataDir, signingKey }: { dataDir: string; signingKey: Uint8Array },
): Promise<void> => {
  const untilMs = sinceStartMs() + START_MS_MAX
  for (;;) {
    try {
      const installation = await installationOf(ask)
      if (installation) await checkKey(ask, 'signing', signingKey)
      preparationOf(dataDir, installation)
      return
    } catch (error) {
      if (error instanceof CopyUnfit) return // it is set aside when the server follows
      if (!(error instanceof PostgresAway) || sinceStartMs() > untilMs) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** @throws CopyUnfit */
const readPosition = (dataDir: string): Position | undefined => {
  try {
    return positionIn(databasePath(dataDir))
  } catch (error) {
    if (isDamage(error)) throw new CopyUnfit(`the copy is damaged: ${(error as Error).message}`, true)
    throw error
  }
}

/** Requires that PostgreSQL continues from the commit of the copy. @throws CopyUnfit */
export const requireSameTimeline = async (ask: Ask, position: Position): Promise<void> => {
  const [state] = await ask<{ seq: string; first: string | null; epoch: string | null; at: string | null }>(
    `SELECT ${KNOWN_SEQ} AS seq, (SELECT min(seq) FROM scrip.changes) AS first, c.epoch,
        (extract(epoch FROM c.at) * 1000000)::bigint AS at
      FROM scrip.installation AS i LEFT JOIN scrip.changes AS c ON c.seq = $1`,
    [position.seq],
  )
  if (!state) throw new DataFault('the record is gone\nRestore it.')
  if (Number(state.seq) < position.seq) {
    throw new CopyUnfit(
      `the copy holds commits ${Number(state.seq) + 1} to ${position.seq}, which the record does not have: it was restored, or has lost them`,
      true,
    )
  }
  if (state.epoch === null) {
    if (state.first === null) throw lastCommitUnknown()
    if (position.seq < Number(state.first))
      throw new CopyUnfit(`the record no longer has the changes since commit ${position.seq}`, false)
    throw new CopyUnfit(`the record does not know commit ${position.seq} of the copy`, true)
  }
  if (Number(state.epoch) !== position.epoch || Number(state.at) !== position.atUs) {
    throw new CopyUnfit(
      `commit ${position.seq} of the copy differs from that of the record, which was restored: the copy holds data that is not in the record`,
      true,
    )
  }
}

/** The relation of a copy to such an installation is unknown: it would be pulled again and again. */
export const lastCommitUnknown = (): ServerUnfit =>
  new ServerUnfit(
    'scrip.changes lacks the last commit of the record: somebody has deleted it\nStop all servers, and run: INSERT INTO scrip.changes (seq, epoch, at) SELECT last_value, epoch, clock_timestamp() FROM scrip.last_seq, scrip.installation',
  )

/** Sets a copy aside that holds commits which PostgreSQL does not. Returns its new name. */
export const quarantine = (dataDir: string): string => {
  const path = databasePath(dataDir)
  const aside = `${path}.foreign-${toTimestamp(systemClock.nowMs()).replaceAll(':', '-')}`
  for (const suffix of ['-wal', '']) {
    try {
      renameSync(path + suffix, aside + suffix)
    } catch (error) {
      if (suffix === '') throw error
    }
  }
  rmSync(`${path}-shm`, { force: true })
  flushFolder(dataDir)
  return aside
}
