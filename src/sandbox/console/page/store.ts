import { useEffect, useReducer, useState } from 'preact/hooks'
import type { FeedMessage } from '../../feed/messages.ts'
import { get } from './api.ts'
import { type Connection, follow } from './feed.ts'
import type { RequestHead, ScripEvent } from './types.ts'

/** The most requests that a list can hold and still filter quickly. */
export const REQUESTS_MAX = 10_000
/** The interval at which changing data is read again. */
const FRESH_MS = 1_000

/** The requests of a world, or of all, the newest first: those of the log, then those of the feed. */
class Store {
  worlds: readonly string[] = []
  requests: readonly RequestHead[] = []
  connection: Connection = 'connecting'
  isPaused = false
  /** False while the log is read. Messages of the feed wait meanwhile. */
  isRead = false
  /** The id of the last event, with which records have changed. */
  lastEvent = ''
  #pending: FeedMessage[] = []
  /** The last request of each world. */
  readonly #lastIds = new Map<string, number>()
  readonly #views = new Set<() => void>()
  #stop: () => void = () => undefined
  #world: string | undefined

  /** Follows a world, or all worlds; undefined stops following. */
  open(world: string | undefined): void {
    if (world === this.#world) return
    this.#world = world
    this.#stop()
    this.requests = []
    this.isRead = false
    this.#pending = []
    if (world === undefined) return
    this.#stop = follow(
      world,
      (messages) => {
        this.#pending.push(...messages)
        const over = this.#pending.length - REQUESTS_MAX
        // After a long pause, the dropped messages are read again from the log.
        if (over > 0) this.#pending.splice(0, over, { id: '', event: 'skipped', data: null })
        this.#tell()
      },
      (connection) => {
        if (connection === this.connection) return
        this.connection = connection
        // The feed is open before the log is read, so that no request is missed between them.
        if (connection === 'live') void this.#readLog(world)
        this.#tell()
      },
    )
  }

  async #readLog(world: string): Promise<void> {
    this.isRead = false
    const query = { limit: String(REQUESTS_MAX), bodies: 'false' }
    const heads = await get<RequestHead[]>('/requests', { world, query }).catch(() => [])
    if (world !== this.#world) return
    this.requests = heads
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
    this.requests = []
    this.#tell()
  }

  watch(view: () => void): () => void {
    this.#views.add(view)
    return () => this.#views.delete(view)
  }

  #take(): void {
    const added: RequestHead[] = []
    for (const { event, data } of this.#pending.splice(0)) {
      if (event === 'request') {
        const head = data as RequestHead
        // A lower id means that the world was reset: its earlier log can no longer be read.
        if (!this.#isNew(head)) this.requests = this.requests.filter(({ world }) => world !== head.world)
        this.#lastIds.set(head.world, head.id)
        added.push(head)
      } else if (event !== 'skipped') this.lastEvent = (data as ScripEvent).id
      // The log has the requests that the feed has skipped, unless too many have followed.
      else if (this.#world !== undefined) void this.#readLog(this.#world)
    }
    if (added.length > 0) this.requests = [...added.reverse(), ...this.requests].slice(0, REQUESTS_MAX)
  }

  #tell(): void {
    if (!this.isPaused && this.isRead) this.#take()
    for (const view of this.#views) view()
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
