import { closeSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'

export const flushFile = (path: string): void => flush(path, 'r+')

export const flushFolder = (path: string): void => {
  if (process.platform !== 'win32') flush(path, 'r')
}

/** The space that the owner of a folder can fill. */
export const freeBytesIn = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** A disk writes the new data of this time within some milliseconds. */
const FLUSH_EVERY_MS = 20

/**
 * Syncs a file to the disk while it is written. A single sync at its end would hold up the commits of a server for some
 * tenths of a second.
 * @param onFlushed gets the size of the file so far
 * @throws the error of the writing
 */
export const flushWhile = async (
  path: string,
  writing: Promise<unknown>,
  onFlushed?: (bytes: number) => void,
): Promise<void> => {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  const over = writing.then(end, end)
  const file = await open(path, 'r+')
  try {
    while (!isOver) {
      await file.datasync()
      onFlushed?.((await file.stat()).size)
      await Promise.race([over, Bun.sleep(FLUSH_EVERY_MS)])
    }
  } finally {
    await over
    await file.close()
  }
  await writing
}

const flush = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The folder of a copy that is being made, or that a killed process has left. */
export const STAGING_PREFIX = '.scrip-draft-'
/** A staging folder without writes for this long belongs to a process that was killed. */
const STALE_MS = HOUR_MS

/** Creates a private folder, which disposal removes, and removes stale ones beside it. */
export const createStagingFolder = (parent: string): Disposable & { path: string } => {
  removeStale(parent)
  const path = mkdtempSync(join(parent, STAGING_PREFIX))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const removeStale = (parent: string): void => {
  const staleBeforeMs = systemClock.nowMs() - STALE_MS
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(STAGING_PREFIX)) continue
    const folder = join(parent, name)
    if (lastWrittenMs(folder) < staleBeforeMs) rmSync(folder, { recursive: true, force: true })
  }
}

/** Infinity for a folder that its owner has just removed. */
const lastWrittenMs = (folder: string): number => {
  try {
    const paths = [folder, ...readdirSync(folder).map((name) => join(folder, name))]
    return Math.max(...paths.map((path) => statSync(path).mtimeMs))
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
