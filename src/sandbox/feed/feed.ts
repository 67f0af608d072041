import { eventWire } from '../../events/contract.ts'
import { listenToEvents } from '../../events/publish.ts'
import { type Event, findEvent } from '../../events/queries.ts'
import { DomainError, unavailable } from '../../kernel/failure.ts'
import type { World } from '../../work/world.ts'
import { Recent } from '../recent.ts'
import { headOf, type RecordingListener } from '../requests/request-log.ts'
import { ALL_WORLDS } from '../worlds/query.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'

/** Items gather for this long before readers get them. */
const GATHER_MS = 25
/** Less than the time after which an idle connection is closed. */
const HEARTBEAT_MS = 15_000
const READERS_MAX = 100
const RETRY_SECONDS = 10
/** The maximum of one chunk. */
const CHARACTERS_MAX = 262_144
/** The maximum of all kept items together. A recorded request counts with its bodies. */
const BYTES_MAX = 8_388_608
/** The rough overhead of an event, without its data. */
const EVENT_BYTES = 512

/** A recorded request, or an event. Its message is made once a reader takes it: an event may be undone with its transaction. */
interface Item {
  world: World
  bytes: number
  makeMessage: () => [type: string, data: object] | undefined
}

interface Sources {
  worlds: Pick<SandboxWorlds, 'onPresent'>
  onRecorded: (listener: RecordingListener) => void
}

type Controller = ReadableStreamDefaultController<Uint8Array>

/** The requests and events of all worlds as they happen (contract C15, decision 14). Nothing is kept before the first reader. */
export class Feed {
  readonly #kept = new Recent<Item>({ sizeOf: ({ bytes }) => bytes, bytesMax: BYTES_MAX })
  readonly #readers = new Set<Controller>()
  #isWatching = false
  #isClosed = false
  /** Resolves when there are new items, or no more feeds. */
  #news = Promise.withResolvers<void>()
  #gathering: ReturnType<typeof setTimeout> | undefined
  #heartbeat: ReturnType<typeof setInterval> | undefined

  constructor(private readonly sources: Sources) {}

  /**
   * Streams the items from now on, or after the item with this number. An unknown number resumes with the oldest item.
   *
   * @throws DomainError unavailable when too many feeds are open, or the server stops
   */
  open(world: string, lastNumber?: number): ReadableStream<Uint8Array> {
    if (this.#isClosed || this.#readers.size >= READERS_MAX) throw new DomainError(unavailable(RETRY_SECONDS))
    this.#watch()
    const { first, last } = this.#kept
    let read = lastNumber === undefined ? last : lastNumber > last ? first - 1 : lastNumber
    let pulls = 0
    const pull = async (controller: Controller): Promise<void> => {
      pulls += 1
      // A client does not see the headers until something is sent.
      if (pulls === 1) return controller.enqueue(openingMessage(read))
      // A reader that resumes is informed of the items that it missed. A connected reader that misses some is too slow.
      if (pulls > 2 && read + 1 < this.#kept.first) return this.#end(controller)
      while (this.#readers.has(controller)) {
        const unread = this.#unread(world, read)
        read = unread.last
        if (unread.text !== '') return controller.enqueue(bytesOf(unread.text))
        await this.#news.promise
      }
    }
    let ownController: Controller
    const start = (controller: Controller): void => {
      ownController = controller
      this.#add(controller)
    }
    return new ReadableStream({ start, pull, cancel: () => this.#remove(ownController) }, { highWaterMark: 0 })
  }

  close(): void {
    this.#isClosed = true
    for (const controller of this.#readers) this.#end(controller)
    clearTimeout(this.#gathering)
    this.#news.resolve()
  }

  #add(controller: Controller): void {
    this.#readers.add(controller)
    this.#heartbeat ??= setInterval(() => {
      for (const each of this.#readers) each.enqueue(HEARTBEAT)
    }, HEARTBEAT_MS)
  }

  #end(controller: Controller): void {
    this.#remove(controller)
    controller.close()
  }

  #remove(controller: Controller): void {
    this.#readers.delete(controller)
    if (this.#readers.size > 0) return
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }

  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.sources.onRecorded((logged) => this.#keep({ ...logged, makeMessage: () => ['request', headOf(logged)] }))
    this.sources.worlds.onPresent((world) => {
      listenToEvents(world, (event) => {
        const bytes = EVENT_BYTES + Buffer.byteLength(event.data)
        this.#keep({ world, bytes, makeMessage: () => eventMessage(world, event) })
      })
    })
  }

  #keep(item: Item): void {
    this.#kept.add(item)
    if (this.#readers.size === 0) return
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      this.#news.resolve()
      this.#news = Promise.withResolvers()
    }, GATHER_MS)
  }

  /** The messages that a reader of a world has not read, as far as a chunk holds them. */
  #unread(world: string, read: number): { text: string; last: number } {
    const missed = Math.max(0, this.#kept.first - 1 - read)
    let last = read + missed
    let text = missed > 0 ? `id: ${last}\nevent: skipped\ndata: ${JSON.stringify({ count: missed })}\n\n` : ''
    while (last < this.#kept.last && text.length < CHARACTERS_MAX) {
      last += 1
      const item = this.#kept.at(last)
      const message = item && (world === ALL_WORLDS || world === item.world.name) ? item.makeMessage() : undefined
      if (message) text += `id: ${last}\nevent: ${message[0]}\ndata: ${JSON.stringify(message[1])}\n\n`
    }
    return { text, last }
  }
}

const eventMessage = (world: World, event: Event): [type: string, data: object] | undefined =>
  !world.closed && !findEvent(world.db.query, event.clientId, event.eventId)
    ? undefined
    : [event.type, { world: world.name, ...eventWire(event) }]

/** Server-sent events (HTML Living Standard, 9.2). JSON has no line breaks, so that one line of data is enough. */
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The pause of a reader before it connects again, in milliseconds. */
const RETRY_MS = 1_000

/** The first message of a feed. A reader that receives nothing else resumes from its id. */
const openingMessage = (last: number): Uint8Array => bytesOf(`retry: ${RETRY_MS}\nid: ${last}\n\n`)

/** Keeps idle connections open. */
const HEARTBEAT = bytesOf(':\n\n')
