import { sinceStartMs } from './clock.ts'

/**
 * Returns a function that asks for work. The work runs once what runs now is over, however often it was asked for, and
 * starts at most once in so many milliseconds.
 */
export const paced = (work: () => void, pauseMs: number): (() => void) => {
  let isDue = false
  let ranAtMs = Number.NEGATIVE_INFINITY
  const run = (): void => {
    isDue = false
    ranAtMs = sinceStartMs()
    work()
  }
  return () => {
    if (isDue) return
    isDue = true
    if (sinceStartMs() < ranAtMs + pauseMs) setTimeout(run, pauseMs)
    else setImmediate(run)
  }
}
