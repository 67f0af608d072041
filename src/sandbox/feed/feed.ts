import { DomainError, unavailable } from '../../kernel/failure.ts'
import { listenToEvents } from '../../webhooks/publish.ts'
import type { World } from '../../worlds/world.ts'
import { Recent } from '../recent.ts'
import type { RecordingListener } from '../requests/request-log.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { bytesOf, type Item, messageOf, skippedMessage } from './messages.ts'
import { Reader } from './reader.ts'

const FLUSH_MS = 25
/** Less than the time after which an idle connection is closed. */
const HEARTBEAT_MS = 15_000
const READERS_MAX = 100
const RETRY_SECONDS = 10
/** Of one chunk. */
const CHARACTERS_MAX = 262_144
/** Of all items that are kept together. A recorded request counts with its bodies. */
const BYTES_MAX = 8_388_608
/** Of an event besides its data, roughly. */
const EVENT_BYTES = 512

const sizeOf = (item: Item): number =>
  item.kind === 'request' ? item.logged.bytes : EVENT_BYTES + Buffer.byteLength(item.event.data)

interface Sources {
  worlds: Pick<SandboxWorlds, 'onPresent'>
  onRecorded: (listener: RecordingListener) => void
}

/**
 * The requests and events of all worlds as they happen (contract C15). Nothing is kept before the first reader. Messages are made
 * apart from the requests that they report, and once a reader takes them (decision 14).
 */
export class Feed {
  readonly #kept = new Recent<Item>({ sizeOf, bytesMax: BYTES_MAX })
  readonly #readers = new Set<Reader>()
  #isWatching = false
  #isClosed = false
  #flush: ReturnType<typeof setTimeout> | undefined
  #heartbeat: ReturnType<typeof setInterval> | undefined

  constructor(private readonly sources: Sources) {}

  /**
   * What happens from now on, or after the item with this number. A number that is unknown resumes with the oldest item.
   *
   * @throws DomainError unavailable when too many feeds are open, or the server stops
   */
  open(world: string, lastNumber?: number): ReadableStream<Uint8Array> {
    if (this.#isClosed || this.#readers.size >= READERS_MAX) throw new DomainError(unavailable(RETRY_SECONDS))
    this.#watch()
    const { last } = this.#kept
    const from = lastNumber === undefined ? last : lastNumber > last ? this.#kept.first - 1 : lastNumber
    const reader = new Reader(world, from, { onWaiting: () => this.#flushSoon(), onLeft: () => this.#remove(reader) })
    this.#readers.add(reader)
    this.#heartbeat ??= setInterval(() => {
      for (const each of this.#readers) each.beat()
    }, HEARTBEAT_MS)
    return reader.stream
  }

  /** Whether somebody reads. */
  get isOpen(): boolean {
    return this.#readers.size > 0
  }

  /** Ends all feeds. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#flush)
    for (const reader of this.#readers) {
      this.#remove(reader)
      reader.end()
    }
  }

  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.sources.onRecorded((logged) => this.#add({ kind: 'request', logged }))
    this.sources.worlds.onPresent((world) => this.#listenTo(world))
  }

  #listenTo(world: World): void {
    listenToEvents(world, (event) => this.#add({ kind: 'event', world, event }))
  }

  #add(item: Item): void {
    this.#kept.add(item)
    if (this.#readers.size > 0) this.#flushSoon()
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0) return
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }

  #flushSoon(): void {
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined
      for (const reader of this.#readers) {
        if (reader.isWaiting) this.#sendTo(reader)
        else if (reader.last + 1 < this.#kept.first) this.#cutOff(reader)
      }
      if ([...this.#readers].some(({ isWaiting, last }) => isWaiting && last < this.#kept.last)) this.#flushSoon()
    }, FLUSH_MS)
  }

  /** The reader is too slow, and no more is kept for it. */
  #cutOff(reader: Reader): void {
    this.#remove(reader)
    reader.end()
  }

  #sendTo(reader: Reader): void {
    let text = ''
    const missed = this.#kept.first - 1 - reader.last
    if (missed > 0) {
      reader.last += missed
      text = skippedMessage(reader.last, missed)
    }
    while (reader.last < this.#kept.last && text.length < CHARACTERS_MAX) {
      reader.last += 1
      const item = this.#kept.at(reader.last)
      if (item && reader.wants(worldOf(item).name)) text += messageOf(reader.last, item) ?? ''
    }
    if (text !== '') reader.send(bytesOf(text))
  }
}

const worldOf = (item: Item): World => (item.kind === 'request' ? item.logged.world : item.world)
