import { sinceStartMs } from './clock.ts'

/** Goes on with a value at once, or with that of a promise: most requests wait for nothing, and a wait costs more than their work. */
export const andThen = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Lets requests that have arrived come first. */
export const nextTurn = (): Promise<void> => new Promise(setImmediate)

/** Does a part of long work, then leaves the thread to others for as long as it took. Otherwise, their requests would pile up. */
export const doPart = async <T>(part: () => T | Promise<T>): Promise<T> => {
  const beganMs = sinceStartMs()
  const result = await part()
  await Bun.sleep(sinceStartMs() - beganMs)
  return result
}

/** A client may use the thread for this long in one turn of the event loop. */
const SHARE_MS = 10

/** Items of long work. The thread is left to others for as long as it took. */
export async function* inParts<T>(items: Iterable<T>): AsyncGenerator<T> {
  let beganMs = sinceStartMs()
  for (const item of items) {
    yield item
    const tookMs = sinceStartMs() - beganMs
    if (tookMs < SHARE_MS) continue
    await Bun.sleep(tookMs)
    beganMs = sinceStartMs()
  }
}

/**
 * One thread serves all clients. Its time counts for the client that took it last, until another does or the turn of the event loop ends. A
 * client that has used up its share waits for a turn before each further request, so that others come in between (decision 123).
 */
class Turns {
  /** In this turn. */
  readonly #usedMs = new Map<object, number>()
  /** The promise for which each client's last request waits. */
  readonly #last = new WeakMap<object, Promise<void>>()
  #running: { client: object; sinceMs: number } | undefined

  /** Called before something is done for a client. Undefined if it need not wait. */
  take(client: object): Promise<void> | undefined {
    this.#charge()
    if ((this.#usedMs.get(client) ?? 0) < SHARE_MS) return void this.#begin(client)
    const turn = (this.#last.get(client) ?? Promise.resolve()).then(nextTurn).then(() => this.#begin(client))
    this.#last.set(client, turn)
    return turn
  }

  #begin(client: object): void {
    this.#charge()
    if (this.#usedMs.size === 0) setImmediate(this.#endTurn)
    this.#usedMs.set(client, this.#usedMs.get(client) ?? 0)
    this.#running = { client, sinceMs: sinceStartMs() }
  }

  #charge(): void {
    if (!this.#running) return
    const { client, sinceMs } = this.#running
    this.#usedMs.set(client, (this.#usedMs.get(client) ?? 0) + sinceStartMs() - sinceMs)
    this.#running = undefined
  }

  readonly #endTurn = (): void => {
    this.#running = undefined
    this.#usedMs.clear()
  }
}

/** All worlds share it, because the process has one thread. */
export const turns = new Turns()
