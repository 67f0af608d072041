import { healthUrlOf } from '../config/config.ts'
import type { WaitOptions } from '../config/option-table.ts'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { EXIT, ProgramError } from './exit.ts'
import { ANSWER_MS_MAX, READY, readiness } from './health.ts'

const PAUSE_MS = 50

/** `scrip wait` (contract C1). */
export const wait = async (options: WaitOptions): Promise<void> => {
  const url = healthUrlOf(options)
  const untilMs = sinceStartMs() + options.timeout
  for (;;) {
    const leftMs = Math.max(1, Math.ceil(untilMs - sinceStartMs())) // a pause may take longer than it should
    const state = await readiness(url, Math.min(leftMs, ANSWER_MS_MAX))
    if (state === READY) break
    if (untilMs - sinceStartMs() <= PAUSE_MS) {
      throw new ProgramError(EXIT.timeout, `${url} was not ready within ${options.timeout / SECOND_MS} s: ${state}`)
    }
    await Bun.sleep(PAUSE_MS)
  }
  process.stdout.write('ready\n')
}
