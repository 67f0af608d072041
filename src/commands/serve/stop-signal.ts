import { EXIT } from '../../kernel/exit.ts'

/** Resolves at the first SIGTERM or SIGINT; a second one ends the program at once. */
export const nextStopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    let count = 0
    const hear = () => {
      count += 1
      if (count === 1) resolve()
      else process.exit(EXIT.failed)
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
  })
