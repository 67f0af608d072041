import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { flushFolder } from '../../db/disk.ts'
import { MINUTE_MS, parseTimestamp, systemClock, toTimestamp } from '../../kernel/clock.ts'

/** A folder of backups named after their times: nothing else records when the next one is due (decision 29). */

const NAME = /^scrip-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.sqlite$/
/** The ending of a copy that failed its checks. */
export const UNSOUND_SUFFIX = '.unsound'

export const backupName = (): string => `scrip-${toTimestamp(systemClock.nowMs()).replaceAll(':', '-')}.sqlite`

/** The oldest first. */
const backupsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()

const takenMs = (name: string): number => {
  const [, hour, minute, second] = NAME.exec(name) ?? []
  return parseTimestamp(`${hour}:${minute}:${second}`) ?? 0
}

interface Schedule {
  everyMs: number
  /** After a failure, in Unix milliseconds. */
  notBeforeMs: number
  stopped: Promise<void>
}

/** Waits until the last backup is old enough. Resolves to false if it has to stop first. */
export const becomesDue = async (folder: string, { everyMs, notBeforeMs, stopped }: Schedule): Promise<boolean> => {
  const dueMs = Math.max(notBeforeMs, lastTakenMs(folder) + everyMs)
  for (;;) {
    // The clock may be set while this waits.
    const waitMs = Math.max(0, Math.min(dueMs - systemClock.nowMs(), MINUTE_MS))
    const goesOn = await Promise.race([stopped.then(() => false), Bun.sleep(waitMs).then(() => true)])
    if (!goesOn) return false
    if (dueMs <= systemClock.nowMs()) return true
  }
}

/** 0 without a backup, and for a folder that cannot be read: the next backup reports why. */
const lastTakenMs = (folder: string): number => {
  try {
    // A backup from the future was named while the clock was wrong.
    const times = backupsIn(folder).map(takenMs)
    return Math.max(0, ...times.filter((timeMs) => timeMs <= systemClock.nowMs()))
  } catch {
    return 0
  }
}

/** Removes the oldest backups beyond a number. */
export const rotate = (folder: string, keep: number): { kept: number; removed: number } => {
  const backups = backupsIn(folder)
  const removed = backups.slice(0, -keep)
  for (const name of removed) rmSync(join(folder, name))
  flushFolder(folder)
  return { kept: backups.length - removed.length, removed: removed.length }
}

/** Only the last one is kept: one for each try would fill the disk. */
export const removeUnsound = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const isUnsound = name.endsWith(UNSOUND_SUFFIX) && NAME.test(name.slice(0, -UNSOUND_SUFFIX.length))
    if (isUnsound) rmSync(join(folder, name))
  }
}
