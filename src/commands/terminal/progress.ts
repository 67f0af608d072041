import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'

/** Reports progress. A total of 0 means that the total is not known. */
export type OnProgress = (what: string, done: number, total: number) => void

/** Longer than most work takes. People who wait, or read a log of cron or systemd, need signs of life. */
const EVERY_MS = 10 * SECOND_MS

/** `6 of 50, about 60 s left`, as long as the rest takes as much time as what is done. */
export const progressOf = (done: number, total: number, elapsedMs: number): string =>
  `${done} of ${total}, about ${Math.ceil(((elapsedMs / done) * (total - done)) / SECOND_MS)} s left`

/** Writes the progress of work on standard error, a line every ten seconds. */
export const withProgress = async <T>(
  work: (onProgress: OnProgress) => T | Promise<T>,
  write: (line: string) => unknown = (line) => process.stderr.write(line),
  nowMs: () => number = sinceStartMs,
): Promise<T> => {
  let dueMs = nowMs() + EVERY_MS
  let line: string | undefined
  const writeIfDue = (): void => {
    if (line === undefined || nowMs() < dueMs) return
    write(line)
    dueMs = nowMs() + EVERY_MS
  }
  // A statement of SQLite that runs beside reports no step meanwhile.
  const timer = setInterval(writeIfDue, SECOND_MS)
  try {
    return await work((what, done, total) => {
      line = total === 0 ? `${what}\n` : `${what} ${Math.floor(Math.min(done / total, 1) * 100)} %\n`
      writeIfDue()
    })
  } finally {
    clearInterval(timer)
  }
}
