import { HOUR_MS, SECOND_MS, systemClock } from '../../../kernel/clock.ts'
import { refused } from '../../../kernel/exit.ts'
import type { Host, Question, Reply } from '../http-client.ts'

/** The number of requests for whose tokens it waits together, if the limit allows. */
const WAITED_FOR = 10
/** In all. */
const WAIT_MS_MAX = HOUR_MS
const ATTEMPTS_MAX = 3
const TOO_MANY_REQUESTS = 429

/** Sends requests within the limits of a host. If somebody else uses up the limit, it waits and tries again. */
export const paced = ({ ask }: Host, onWait: (seconds: number) => void): Host['ask'] => {
  let leftMs = WAIT_MS_MAX
  const wait = async (ms: number): Promise<void> => {
    if (ms > leftMs) throw refused('the host has no requests left for this client within an hour\nTry again later.')
    leftMs -= ms
    if (ms >= SECOND_MS) onWait(Math.ceil(ms / SECOND_MS))
    await Bun.sleep(ms)
  }
  let aheadMs = 0
  return async (question: Question): Promise<Reply> => {
    let waitMs = question.isPublic ? 0 : aheadMs
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      await wait(waitMs)
      const response = await ask(question)
      if (response.status !== TOO_MANY_REQUESTS) {
        if (!question.isPublic) aheadMs = waitMsAfter(response)
        return response
      }
      waitMs = (numberIn(response.headers, 'retry-after') ?? 1) * SECOND_MS
    }
    throw refused(
      'the host refuses this client because of too many requests\nTry again when nobody else uses the client.',
    )
  }
}

/**
 * The pause after a response that keeps the next request within the limit (spec section 8). A bucket refills
 * evenly, and is full at X-RateLimit-Reset.
 */
const waitMsAfter = ({ headers }: Reply): number => {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    numberIn(headers, `x-ratelimit-${name}`),
  )
  if (limit === undefined || remaining === undefined || reset === undefined || remaining > 0) return 0
  const fullInMs = Math.max(0, reset * SECOND_MS - timeOf(headers))
  return limit === 0 ? fullInMs : Math.ceil((fullInMs / limit) * Math.min(WAITED_FOR, limit))
}

const numberIn = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The host's own time, if it sends one: clocks differ. */
const timeOf = (headers: Headers): number => {
  const dateMs = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(dateMs) ? systemClock.nowMs() : dateMs
}
