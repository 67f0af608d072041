import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'

/** Reports how far work has come; a total of 0 is not known. */
export type OnProgress = (what: string, done: number, total: number) => void

/** From this size on, work is expected to take longer than a second. */
const LONG_BYTES = 64 * 1_024 * 1_024
const ERASE_LINE = '\r\x1b[2K'
const BAR_WIDTH = 20
/** Of a terminal that does not report its width. */
const WIDTH = 80
/** Logs of cron, systemd and pipelines are read later: they need signs of life, not every step. */
const LINE_EVERY_MS = 10 * SECOND_MS

interface Step {
  what: string
  /** From 0 to 1; undefined when the total is not known. */
  share: number | undefined
}

interface Screen {
  isTTY?: boolean
  columns?: number
  write: (text: string) => unknown
}

/**
 * Shows on standard error how far work has come: a bar on a terminal once it takes longer than a second, and elsewhere a line
 * every ten seconds (decision 82).
 */
export const withProgress = async <T>(
  bytes: number,
  work: (onProgress: OnProgress) => T | Promise<T>,
  screen: Screen = process.stderr,
  nowMs: () => number = sinceStartMs,
): Promise<T> => {
  const { isTTY = false, columns = WIDTH } = screen
  const beganMs = nowMs()
  const everyMs = isTTY ? SECOND_MS : LINE_EVERY_MS
  let step: Step | undefined
  let dueMs = isTTY && bytes >= LONG_BYTES ? beganMs : beganMs + everyMs
  let isBarShown = false

  const write = ({ what, share }: Step): void => {
    const percent = share === undefined ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`
    if (isTTY) {
      const bar = share === undefined ? '' : `${barOf(share)}${percent}  `
      const seconds = Math.floor((nowMs() - beganMs) / SECOND_MS)
      // A line that wraps could not be erased.
      screen.write(ERASE_LINE + Bun.sliceAnsi(`${bar}${seconds} s  ${what}`, 0, columns - 1, '…'))
      isBarShown = true
    } else {
      screen.write(`${what}${percent}\n`)
      dueMs = nowMs() + everyMs
    }
  }
  const writeIfDue = (): void => {
    if (step && nowMs() >= dueMs) write(step)
  }
  // A statement of SQLite that runs beside reports no step meanwhile.
  const timer = setInterval(writeIfDue, SECOND_MS)
  try {
    return await work((what, done, total) => {
      step = { what, share: total === 0 ? undefined : Math.min(done / total, 1) }
      writeIfDue()
    })
  } finally {
    clearInterval(timer)
    if (isBarShown) screen.write(ERASE_LINE)
  }
}

const barOf = (share: number): string => {
  const filled = Math.floor(share * BAR_WIDTH)
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
}
