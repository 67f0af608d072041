import { healthUrlOf } from '../../config/config.ts'
import type { HealthOptions, WaitOptions } from '../../config/option-table.ts'
import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'
import { EXIT, ProgramError, refused } from '../../kernel/exit.ts'
import { print } from '../terminal/output.ts'

const READY = 200
const PAUSE_MS = 50
const RESPONSE_MS_MAX = 3 * SECOND_MS

export const health = async (options: HealthOptions): Promise<void> => {
  const url = healthUrlOf(options)
  const state = await readiness(url, RESPONSE_MS_MAX)
  if (state !== READY)
    throw refused(`${url} is not ready: ${state}\nscrip serve starts a server; --url names another one.`)
  await print('ready\n')
}

/** `scrip wait` (contract C1). */
export const wait = async (options: WaitOptions): Promise<void> => {
  const url = healthUrlOf(options)
  const untilMs = sinceStartMs() + options.timeout
  for (;;) {
    const leftMs = Math.max(1, Math.ceil(untilMs - sinceStartMs())) // a pause may take longer than it should
    const state = await readiness(url, Math.min(leftMs, RESPONSE_MS_MAX))
    if (state === READY) break
    if (untilMs - sinceStartMs() <= PAUSE_MS) {
      throw new ProgramError(
        EXIT.timeout,
        `${url} was not ready within ${options.timeout / SECOND_MS} s: ${state}\nSee the log of the server, or set --timeout.`,
      )
    }
    await Bun.sleep(PAUSE_MS)
  }
  await print('ready\n')
}

/**
 * Connects without the proxy that `fetch` takes from the environment: a proxy may not reach a server on this machine.
 */
const readiness = async (url: string, timeoutMs: number): Promise<number | string> => {
  // Loaded when it is needed: it would take a tenth of the start of a server.
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    get(`${url}/readyz`, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 'no status')
    }).on('error', ({ message }) => resolve(message))
  })
}
