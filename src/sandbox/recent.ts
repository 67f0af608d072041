/** The last items of a kind, numbered from 1. The oldest are dropped when there are too many, or when they take too many bytes. */
export class Recent<Item> {
  #items: Item[] = []
  #sizes: number[] = []
  #bytes = 0
  #last = 0

  constructor(private readonly options: { sizeOf: (item: Item) => number; bytesMax: number; countMax?: number }) {}

  get items(): readonly Item[] {
    return this.#items
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The number of the newest item; 0 before the first. */
  get last(): number {
    return this.#last
  }

  /** The number of the oldest item that is kept. */
  get first(): number {
    return this.#last - this.#items.length + 1
  }

  at(number: number): Item | undefined {
    return this.#items[number - this.first]
  }

  add(item: Item): void {
    const { sizeOf, bytesMax, countMax = Number.POSITIVE_INFINITY } = this.options
    const size = sizeOf(item)
    this.#last += 1
    this.#items.push(item)
    this.#sizes.push(size)
    this.#bytes += size
    while (this.#bytes > bytesMax || this.#items.length > countMax) {
      this.#items.shift()
      this.#bytes -= this.#sizes.shift() ?? 0
    }
  }

  forget(): void {
    this.#items = []
    this.#sizes = []
    this.#bytes = 0
  }

  /** Continues with earlier items, the last of which has this number. */
  restore(items: readonly Item[], last: number): void {
    this.forget()
    this.#last = last - items.length
    for (const item of items) this.add(item)
  }
}
