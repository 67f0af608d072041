import { existsSync, readFileSync } from 'node:fs'
import { EXIT } from '../../kernel/exit.ts'

/** Resolves at the first SIGTERM or SIGINT, or SIGHUP if it is named; a second one ends the program at once. */
export const nextStopSignal = (...others: 'SIGHUP'[]): Promise<void> =>
  new Promise((resolve) => {
    let count = 0
    const hear = () => {
      count += 1
      if (count === 1) resolve()
      else process.exit(EXIT.failed)
    }
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, hear)
    for (const signal of isHangupIgnored() ? [] : others) process.on(signal, hear)
  })

const STATUS_FILE = '/proc/self/status'

/** True below nohup, which a handler would undo. Only Linux says so. */
const isHangupIgnored = (): boolean =>
  existsSync(STATUS_FILE) && /^SigIgn:\s*[\da-f]*[13579bdf]$/m.test(readFileSync(STATUS_FILE, 'utf8'))
