import { useEffect, useReducer, useState } from 'preact/hooks'
import { get } from './api.ts'
import { type Connection, type FeedMessage, follow } from './feed.ts'
import type { RequestHead, ScripEvent } from './types.ts'

/** The most requests that a list can hold and still filter quickly. */
export const REQUESTS_MAX = 10_000
/** The interval at which changing data is read again. */
const FRESH_MS = 1_000

export interface Row {
  head: RequestHead
  /** The text that a search reads. */
  text: string
  /** The name that the client gives its test. */
  test: string | undefined
}

const rowOf = (head: RequestHead): Row => ({
  head,
  test: head.request.headers['x-test-name'],
  text: [
    head.method,
    head.path,
    head.route,
    head.response.status,
    head.outcome,
    head.message,
    head.request.headers['x-test-name'],
    head.world,
    head.client,
    head.request_id,
    head.fault,
  ]
    .join(' ')
    .toLowerCase(),
})

/** The requests of a world, or of all, the newest first: those of the log, then those of the feed. Views are notified once per frame. */
class Store {
  rows: readonly Row[] = []
  connection: Connection = 'connecting'
  isPaused = false
  /** True once the log has been read. */
  isRead = false
  /** The id of the last event, with which records have changed. */
  lastEvent = ''
  #pending: FeedMessage[] = []
  /** The last request of each world. */
  readonly #lastIds = new Map<string, number>()
  readonly #views = new Set<() => void>()
  #frame = 0
  #rereading = 0
  #stop: () => void = () => undefined
  #world: string | undefined

  /** Follows a world, or all worlds; undefined stops following. */
  open(world: string | undefined): void {
    if (world === this.#world) return
    this.#world = world
    this.#stop()
    this.rows = []
    this.isRead = false
    this.#pending = []
    if (world === undefined) return
    this.#stop = follow(
      world,
      (messages) => this.#receive(messages),
      (connection) => {
        if (connection === this.connection) return
        this.connection = connection
        // The feed is open before the log is read, so that no request is missed between them.
        if (connection === 'live') void this.#readLog(world)
        this.#tell()
      },
    )
  }

  /** Reads the log. Messages of the feed wait meanwhile. */
  async #readLog(world: string): Promise<void> {
    this.isRead = false
    const query = { limit: String(REQUESTS_MAX), bodies: 'false' }
    const heads = await get<RequestHead[]>('/requests', { world, query }).catch(() => [])
    if (world !== this.#world) return
    this.rows = heads.map(rowOf)
    this.#lastIds.clear()
    for (const { world: name, id } of heads) this.#lastIds.set(name, Math.max(id, this.#lastIds.get(name) ?? 0))
    this.#pending = this.#pending.filter(({ event, data }) => event !== 'request' || this.#isNew(data as RequestHead))
    this.isRead = true
    this.#tell()
  }

  #isNew({ world, id }: RequestHead): boolean {
    return id > (this.#lastIds.get(world) ?? 0)
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused
    this.#tell()
  }

  get waiting(): number {
    return this.#pending.filter(({ event }) => event === 'request').length
  }

  clear(): void {
    this.rows = []
    this.#tell()
  }

  watch(view: () => void): () => void {
    this.#views.add(view)
    return () => this.#views.delete(view)
  }

  #receive(messages: FeedMessage[]): void {
    this.#pending.push(...messages)
    const over = this.#pending.length - REQUESTS_MAX
    // After a long pause, the dropped messages are read again from the log.
    if (over > 0) this.#pending.splice(0, over, { event: 'skipped', data: undefined })
    this.#tell()
  }

  #take(): void {
    if (this.isPaused || !this.isRead || this.#pending.length === 0) return
    const added: Row[] = []
    for (const { event, data } of this.#pending) {
      if (event === 'request') {
        const head = data as RequestHead
        // A lower id means that the world was reset: its earlier log can no longer be read.
        if (!this.#isNew(head)) this.rows = this.rows.filter((row) => row.head.world !== head.world)
        this.#lastIds.set(head.world, head.id)
        added.push(rowOf(head))
      } else if (event === 'skipped') this.#readAgainSoon()
      else this.lastEvent = (data as ScripEvent).id
    }
    this.#pending = []
    if (added.length > 0) this.rows = [...added.reverse(), ...this.rows].slice(0, REQUESTS_MAX)
  }

  /** Reads requests that the feed has skipped. The log has them, unless too many have followed. */
  #readAgainSoon(): void {
    this.#rereading ||= window.setTimeout(() => {
      this.#rereading = 0
      if (this.#world !== undefined) void this.#readLog(this.#world)
    }, FRESH_MS)
  }

  #tell(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#take()
      for (const view of this.#views) view()
    })
  }
}

export const store = new Store()

/** Draws a view again when a message arrives. */
export const useStore = (): Store => {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => store.watch(() => redraw(undefined)), [])
  return store
}

/** A value that changes when events arrive, or with the result of `latest`, once a second at most. Records are then read again. */
export const useNews = (latest = (): string => store.lastEvent): string => {
  const [news, setNews] = useState('')
  useEffect(() => {
    let timer = 0
    const look = () => {
      timer ||= window.setTimeout(() => {
        timer = 0
        setNews(latest())
      }, FRESH_MS)
    }
    const unwatch = store.watch(look)
    return () => {
      unwatch()
      clearTimeout(timer)
    }
  }, [])
  return news
}

/** The request that made a record or an event, if it is in the list. */
export const makerOf = (world: string, made: { table: string; key: string } | { event: string }): Row | undefined =>
  store.rows.find(({ head }) => {
    if (head.world !== world) return false
    if ('event' in made) return head.events.includes(made.event)
    return head.changes.some(
      ({ table, key, operation }) => operation === 'insert' && table === made.table && key === made.key,
    )
  })
