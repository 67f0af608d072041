import { useEffect, useReducer, useState } from 'preact/hooks'
import { get } from './api.ts'
import { type Connection, type FeedMessage, follow } from './feed.ts'
import type { RequestHead, ScripEvent } from './types.ts'

/** As many as a list can hold that stays quick to filter. */
const REQUESTS_MAX = 10_000
const EVENTS_MAX = 1_000

export interface Row {
  head: RequestHead
  /** What a search looks at. */
  text: string
}

export type WorldEvent = ScripEvent & { world: string }

const rowOf = (head: RequestHead): Row => ({
  head,
  text: [
    head.method,
    head.path,
    head.route,
    head.response.status,
    head.outcome,
    head.world,
    head.client,
    head.request_id,
    head.fault,
  ]
    .join(' ')
    .toLowerCase(),
})

/** What the feed has brought, the newest first. Views are told once for each frame. */
class Store {
  rows: readonly Row[] = []
  events: readonly WorldEvent[] = []
  connection: Connection = 'connecting'
  isPaused = false
  skipped = 0
  #pending: FeedMessage[] = []
  readonly #seen = new Set<string>()
  readonly #views = new Set<() => void>()
  #frame = 0
  #stop: () => void = () => undefined
  #world = ''

  /** Follows a world, or all. */
  open(world: string): void {
    if (world === this.#world) return
    this.#world = world
    this.#stop()
    this.rows = []
    this.events = []
    this.#pending = []
    this.#seen.clear()
    this.skipped = 0
    this.#stop = follow(
      world,
      (messages) => this.#receive(messages),
      (connection) => {
        if (connection === this.connection) return
        this.connection = connection
        // The feed is open before the log is read, so that nothing falls between them.
        if (connection === 'live') void this.#readLog(world)
        this.#tell()
      },
    )
  }

  async #readLog(world: string): Promise<void> {
    const heads = await get<RequestHead[]>('/requests', { world }).catch(() => [])
    if (world !== this.#world) return
    const older = heads.filter((head) => this.#isNew(head)).map(rowOf)
    this.rows = [...this.rows, ...older].sort(byTime).slice(0, REQUESTS_MAX)
    this.#tell()
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

  #isNew({ world, id, request_id }: RequestHead): boolean {
    const key = `${world} ${id} ${request_id}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  #receive(messages: FeedMessage[]): void {
    this.#pending.push(...messages)
    if (this.#pending.length > REQUESTS_MAX) this.#pending.splice(0, this.#pending.length - REQUESTS_MAX)
    this.#tell()
  }

  #take(): void {
    if (this.isPaused || this.#pending.length === 0) return
    const rows: Row[] = []
    const events: WorldEvent[] = []
    for (const { event, data } of this.#pending) {
      if (event === 'request') {
        const head = data as RequestHead
        if (this.#isNew(head)) rows.push(rowOf(head))
      } else if (event === 'skipped') this.skipped += (data as { count: number }).count
      else events.push(data as WorldEvent)
    }
    this.#pending = []
    if (rows.length > 0) this.rows = [...rows.reverse(), ...this.rows].slice(0, REQUESTS_MAX)
    if (events.length > 0) this.events = [...events.reverse(), ...this.events].slice(0, EVENTS_MAX)
  }

  #tell(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#take()
      for (const view of this.#views) view()
    })
  }
}

const byTime = (a: Row, b: Row): number =>
  a.head.at < b.head.at ? 1 : a.head.at > b.head.at ? -1 : b.head.id - a.head.id

export const store = new Store()

/** Draws a view again when something has come. */
export const useStore = (): Store => {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => store.watch(() => redraw(undefined)), [])
  return store
}

/** How often a page that shows records reads them again while they change. */
const FRESH_MS = 1_000

/** Changes when events have come, so that what they are about is read again. */
export const useNews = (): string => {
  const [news, setNews] = useState('')
  useEffect(() => {
    let timer = 0
    const look = () => {
      timer ||= window.setTimeout(() => {
        timer = 0
        setNews(store.events[0]?.id ?? '')
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
