import { EXIT } from '../../kernel/exit.ts'

/** Resolves at the first SIGTERM or SIGINT, or other signals that are named; a second one ends the program at once. */
export const nextStopSignal = (...others: NodeJS.Signals[]): Promise<void> =>
  new Promise((resolve) => {
    let count = 0
    const hear = () => {
      count += 1
      if (count === 1) resolve()
      else process.exit(EXIT.failed)
    }
    for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.on(signal, hear)
  })
