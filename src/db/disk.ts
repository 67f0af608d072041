import { closeSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'

/** Waits until a file is on the disk. */
export const flushFile = (path: string): void => flush(path, 'r+')

/** Waits until the names in a folder are on the disk. Windows offers no such wait. */
export const flushFolder = (path: string): void => {
  if (process.platform !== 'win32') flush(path, 'r')
}

const flush = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const DRAFT_PREFIX = '.scrip-draft-'
/** A draft that nobody has written to for this long belongs to a process that was killed. */
const STALE_MS = HOUR_MS

/**
 * Gives some work a private folder beside a file, on the same file system, for what is not whole yet. The folder is
 * removed afterwards; the next draft in the same place removes those that killed processes left.
 */
export const withDraft = async <T>(beside: string, work: (folder: string) => T | Promise<T>): Promise<T> => {
  const place = dirname(beside)
  removeStaleDrafts(place)
  const folder = mkdtempSync(join(place, DRAFT_PREFIX))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const removeStaleDrafts = (place: string): void => {
  const staleBeforeMs = systemClock.nowMs() - STALE_MS
  for (const name of readdirSync(place)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue
    const draft = join(place, name)
    if (lastWrittenMs(draft) < staleBeforeMs) rmSync(draft, { recursive: true, force: true })
  }
}

/** Infinity for a draft that its owner has just removed. */
const lastWrittenMs = (draft: string): number => {
  try {
    return Math.max(
      ...[draft, ...readdirSync(draft).map((name) => join(draft, name))].map((path) => statSync(path).mtimeMs),
    )
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
