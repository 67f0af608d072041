import { healthUrlOf } from '../config/config.ts'
import type { HealthOptions } from '../config/option-table.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { EXIT, ProgramError } from './exit.ts'

export const ANSWER_MS_MAX = 3 * SECOND_MS

export const health = async (options: HealthOptions): Promise<void> => {
  const url = healthUrlOf(options)
  const state = await readiness(url, ANSWER_MS_MAX)
  if (state !== READY) throw new ProgramError(EXIT.failed, `${url} is not ready: ${state}`)
  process.stdout.write('ready\n')
}

export const READY = 200

/** Asks without a proxy, which `fetch` would take from the environment: it may not reach a server beside it. */
export const readiness = async (url: string, timeoutMs: number): Promise<number | string> => {
  // Loaded where it is needed: it would take a tenth of the time that a server takes to start.
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    get(`${url}/readyz`, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 'no status')
    }).on('error', ({ message }) => resolve(message))
  })
}
