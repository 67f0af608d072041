import type { Event } from '../../events/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { LoggedRequest } from '../requests/request-log.ts'

/** What a feed reports: a recorded request, or an event of a world. */
export type Item = { kind: 'request'; logged: LoggedRequest } | { kind: 'event'; world: World; event: Event }

/** Of all items together. A recorded request counts with its bodies. */
const BYTES_MAX = 8_388_608
/** Of an event besides its data, roughly. */
const EVENT_BYTES = 512
const bytesOf = (item: Item): number =>
  item.kind === 'request' ? item.logged.bytes : EVENT_BYTES + item.event.data.length

/** The last items, numbered from 1, the oldest of which are dropped when they take too much memory. */
export class KeptItems {
  readonly #items: Item[] = []
  #bytes = 0
  #last = 0

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

  /** Counts an item that is not kept. */
  skip(): void {
    this.#last += 1
  }

  forget(): void {
    this.#items.length = 0
    this.#bytes = 0
  }

  add(item: Item): void {
    this.#last += 1
    this.#items.push(item)
    this.#bytes += bytesOf(item)
    while (this.#bytes > BYTES_MAX) {
      const oldest = this.#items.shift()
      this.#bytes -= oldest ? bytesOf(oldest) : this.#bytes
    }
  }
}
