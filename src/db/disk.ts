import { closeSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HOUR_MS, systemClock } from '../kernel/clock.ts'

export const flushFile = (path: string): void => flush(path, 'r+')

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
/** A staging folder without writes for this long belongs to a process that was killed. */
const STALE_MS = HOUR_MS

/** Creates a private folder beside a file, on the same file system, removes it afterwards, and removes stale ones. */
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

/** Infinity for a folder that its owner has just removed. */
const lastWrittenMs = (draft: string): number => {
  try {
    return Math.max(
      ...[draft, ...readdirSync(draft).map((name) => join(draft, name))].map((path) => statSync(path).mtimeMs),
    )
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
