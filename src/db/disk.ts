import { closeSync, constants, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'

export const flushFile = (path: string): void => flush(path, 'r+')

export const flushFolder = (path: string): void => {
  if (process.platform !== 'win32') flush(path, 'r')
}

/** Copies a file beside the thread that serves requests. A durable copy is on the disk then. */
export const copyBeside = async (from: string, to: string, isDurable: boolean): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  if (!isDurable) return
  const copy = await open(to, 'r+')
  try {
    await copy.sync()
  } finally {
    await copy.close()
  }
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
