import type { Database } from '../db/database.ts'
import { MINUTE_MS, sinceStartMs } from '../kernel/clock.ts'
import type { Log } from './log.ts'

/** Logs refused writes once a minute instead of once a request, and their recovery once. */
export class StorageWatch {
  #reportedMs = Number.NEGATIVE_INFINITY
  #isReported = false

  constructor(private readonly log: Log) {}

  look(database: Database): void {
    database.lookAfter()
    const { trouble } = database
    if (!trouble) this.#over()
    else if (sinceStartMs() - this.#reportedMs >= MINUTE_MS) this.#report(trouble)
  }

  #report({ message }: Error): void {
    this.#reportedMs = sinceStartMs()
    this.#isReported = true
    this.log.error('writes are refused', { cause: message })
  }

  #over(): void {
    if (this.#isReported) this.log.warn('writes work again')
    this.#isReported = false
  }
}
