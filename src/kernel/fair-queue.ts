/** A queue whose owners take turns: however many entries one has, each other owner waits for one of them at a time. */
export class FairQueue<Entry> {
  readonly #byOwner = new Map<unknown, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(owner: unknown, entry: Entry): void {
    this.#size += 1
    this.#entriesOf(owner).push(entry)
  }

  /** Adds an entry before the others of its owner. */
  unshift(owner: unknown, entry: Entry): void {
    this.#size += 1
    this.#entriesOf(owner).unshift(entry)
  }

  /** Removes the next entry; undefined if there is none. */
  shift(): Entry | undefined {
    const [first] = this.#byOwner
    if (!first) return undefined
    const [owner, own] = first
    this.#size -= 1
    const entry = own.shift()
    this.#byOwner.delete(owner)
    if (own.length > 0) this.#byOwner.set(owner, own) // behind all others
    return entry
  }

  /** Removes the entries that match, of all owners. */
  remove(matches: (entry: Entry) => boolean): Entry[] {
    const removed: Entry[] = []
    for (const [owner, own] of [...this.#byOwner]) {
      const kept = own.filter((entry) => !matches(entry))
      if (kept.length === own.length) continue
      removed.push(...own.filter(matches))
      if (kept.length > 0) this.#byOwner.set(owner, kept)
      else this.#byOwner.delete(owner)
    }
    this.#size -= removed.length
    return removed
  }

  #entriesOf(owner: unknown): Entry[] {
    const own = this.#byOwner.get(owner) ?? []
    this.#byOwner.set(owner, own)
    return own
  }
}
