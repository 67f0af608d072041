import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'

export type OnProgress = (what: string, done: number, total: number) => void

/** From this size on, work is expected to take longer than a second. */
const LONG_BYTES = 64 * 1_024 * 1_024
const ERASE_LINE = '\r\x1b[2K'

/** Shows the progress of work that takes longer than a second: one line on standard error, on terminals only. */
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
