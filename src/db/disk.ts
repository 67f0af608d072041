import { close, closeSync, constants, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { copyFile, type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, sinceStartMs, systemClock } from '../kernel/clock.ts'

export const flushFile = (path: string): void => flush(path, 'r+')

export const flushFolder = (path: string): void => {
  if (process.platform !== 'win32') flush(path, 'r')
}

/** Copies a file beside the thread that serves requests. A durable copy is on the disk then. */
export const copyBeside = async (from: string, to: string, isDurable: boolean): Promise<void> => {
  if (!isDurable) return copyFile(from, to, constants.COPYFILE_FICLONE)
  if (await isCloned(from, to)) return synced(to)
  if ((await stat(from)).size > WHOLE_BYTES_MAX) return copyInPieces(from, to)
  return inTurn(async () => {
    await copyFile(from, to)
    await synced(to)
  })
}

const synced = async (path: string): Promise<void> => {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Whether the file system shares the blocks of both files. */
const isCloned = (from: string, to: string): Promise<boolean> =>
  copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  )

/** A file this small is one piece: the pauses between several would take longer than the copy. */
const WHOLE_BYTES_MAX = 8_388_608
/** A file system may let a commit wait until all is on the disk that was written before: to whatever file. */
const PIECE_BYTES = 524_288

const copyInPieces = async (from: string, to: string): Promise<void> => {
  await using source = await open(from, 'r')
  await using copy = await open(to, 'w', (await source.stat()).mode)
  for (let at = 0, bytes = -1; bytes !== 0; at += bytes) bytes = await inTurn(() => copyPiece(source, copy, at))
  await copy.sync()
}

/** Returns how many bytes: a disk that becomes full takes a part, and refuses only the rest. */
const copyPiece = async (source: FileHandle, copy: FileHandle, at: number): Promise<number> => {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  const { bytesRead } = await source.read(piece, 0, PIECE_BYTES, at)
  if (bytesRead === 0) return 0
  const { bytesWritten } = await copy.write(piece, 0, bytesRead, at)
  await copy.datasync()
  return bytesWritten
}

let lastPiece: Promise<unknown> = Promise.resolve()

/** One piece at a time, of all files. After each, commits have the disk to themselves for as long as the piece took. */
const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
  let beganMs = 0
  const pause = (): Promise<void> => Bun.sleep(sinceStartMs() - beganMs)
  const piece = lastPiece.then(() => {
    beganMs = sinceStartMs()
    return work()
  })
  lastPiece = piece.then(pause, pause)
  return piece
}

/**
 * Runs what removes or replaces a file, whose space is given back beside the thread that serves requests: for each 300 MB that
 * takes some 100 ms, for which commits may wait.
 */
export const releasingBeside = (path: string, work: () => void): void => {
  const held = process.platform === 'win32' ? undefined : heldFile(path) // Windows removes no open file
  try {
    work()
  } finally {
    if (held !== undefined) close(held, () => undefined)
  }
}

const heldFile = (path: string): number | undefined => {
  try {
    return openSync(path, 'r')
  } catch {
    return undefined // there is none
  }
}

/** A disk writes what is new in such a time in some milliseconds. */
const FLUSH_EVERY_MS = 20

/**
 * Brings a file to the disk while it is written. All of it at once, at its end, would hold up the commits of a server for
 * some tenths of a second.
 * @throws what the writing throws
 */
export const flushWhile = async (path: string, writing: Promise<unknown>): Promise<void> => {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  const over = writing.then(end, end)
  const file = await open(path, 'r+')
  try {
    while (!isOver) {
      await file.datasync()
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
