import type { Database as SqliteDatabase, Statement } from 'bun:sqlite'

/** How many statements are remembered before those that are finalized are forgotten. */
const MADE_MAX = 512

/** The statements that a connection has made: it keeps its memory and its files until the last one is finalized. */
export class MadeStatements {
  #made: WeakRef<Statement>[] = []
  #madeMax = MADE_MAX

  constructor(sqlite: SqliteDatabase) {
    const prepare = sqlite.prepare.bind(sqlite)
    sqlite.prepare = ((...given: Parameters<typeof prepare>) => {
      const statement = prepare(...given)
      if (this.#made.length >= this.#madeMax) this.#forgetCollected()
      this.#made.push(new WeakRef(statement))
      return statement
    }) as typeof prepare
  }

  finalize(): void {
    for (const made of this.#made) made.deref()?.finalize()
    this.#made = []
  }

  #forgetCollected(): void {
    this.#made = this.#made.filter((made) => made.deref() !== undefined)
    this.#madeMax = Math.max(MADE_MAX, 2 * this.#made.length)
  }
}
