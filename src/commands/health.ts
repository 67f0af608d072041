import { type HealthOptions, healthUrlOf } from '../config.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { EXIT, ProgramError } from './exit.ts'

/** How long a server may take to say that it is ready. */
const ANSWER_MS_MAX = 3 * SECOND_MS

/** `scrip health`: says whether a server answers requests, for those who supervise it. */
export const health = async (options: HealthOptions): Promise<void> => {
  const url = healthUrlOf(options)
  const status = await statusOf(`${url}/readyz`)
  if (status !== 200) throw new ProgramError(EXIT.failed, `${url} is not ready: ${status}`)
  process.stdout.write('ready\n')
}

const statusOf = async (url: string): Promise<number | string> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })).status
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
