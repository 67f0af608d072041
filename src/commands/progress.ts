import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'

/** What is done by now, of all that there is to do. */
export type OnProgress = (what: string, done: number, total: number) => void

/** From this size on, work is expected to take longer than a second, and is announced before it begins. */
const LONG_BYTES = 64 * 1_024 * 1_024
const ERASE_LINE = '\r\x1b[2K'

/**
 * Tells a person who waits what is being done: one line on standard error, on terminals only, for work that takes longer
 * than a second. It is gone when the work is done.
 */
export const withProgress = async <T>(bytes: number, work: (onProgress: OnProgress) => T | Promise<T>): Promise<T> => {
  const isShown = process.stderr.isTTY
  const isLong = bytes >= LONG_BYTES
  const beganMs = sinceStartMs()
  let isOpen = false
  const onProgress: OnProgress = (what, done, total) => {
    if (!isShown || (!isLong && sinceStartMs() - beganMs < SECOND_MS)) return
    const share = total === 0 ? '' : ` ${String(Math.floor((done / total) * 100)).padStart(3)} %`
    process.stderr.write(`${ERASE_LINE}${what}${share}`)
    isOpen = true
  }
  try {
    return await work(onProgress)
  } finally {
    if (isOpen) process.stderr.write(ERASE_LINE)
  }
}
