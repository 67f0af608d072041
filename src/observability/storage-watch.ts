import type { Database } from '../db/database.ts'
import { MINUTE_MS, sinceStartMs } from '../kernel/clock.ts'
import type { Log } from './log.ts'

/** Tells the log, once a minute instead of once a request, that writes are refused, and once that they work again. */
export class StorageWatch {
  #toldMs = Number.NEGATIVE_INFINITY
  #isTold = false

  constructor(private readonly log: Log) {}

  /** A look, each second. */
  look(database: Database): void {
    database.lookAfter()
    const { trouble } = database
    if (!trouble) this.#over()
    else if (sinceStartMs() - this.#toldMs >= MINUTE_MS) this.#tell(trouble)
  }

  #tell({ message }: Error): void {
    this.#toldMs = sinceStartMs()
    this.#isTold = true
    this.log.error('writes are refused', { cause: message })
  }

  #over(): void {
    if (this.#isTold) this.log.warn('writes work again')
    this.#isTold = false
  }
}
