import { useEffect, useReducer, useState } from 'preact/hooks'
import { get } from './api.ts'
import { type Connection, type FeedMessage, follow } from './feed.ts'
import type { RequestHead, ScripEvent } from './types.ts'

/** The most requests that a list can hold and still filter quickly. */
const REQUESTS_MAX = 10_000
const EVENTS_MAX = 1_000
/** How often changing data is read again. */
const FRESH_MS = 1_000

export interface Row {
  head: RequestHead
  /** The text that a search looks through. */
  text: string
  /** The name that the client gives its test. */
  test: string | undefined
  /** The log of this request has ended: the server or its world has restarted since. */
  isEarlier: boolean
}

export type WorldEvent = ScripEvent & { world: string }

const rowOf = (head: RequestHead): Row => ({
  head,
  test: head.request.headers['x-test-name'],
  isEarlier: false,
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

/** The requests from the feed, the newest first. Views are notified once per frame. */
class Store {
  rows: readonly Row[] = []
  events: readonly WorldEvent[] = []
  connection: Connection = 'connecting'
  isPaused = false
  #startedAt = ''
  #rereading = 0
  #pending: FeedMessage[] = []
  /** How long each request took, by world and id: the feed and the log report the same duration to the microsecond. */
  readonly #known = new Map<string, { last: number; durations: Map<number, number> }>()
  /** Requests from the feed that are about to enter the list. */
  #batch: Row[] = []
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
    this.#known.clear()
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

  /** Reads what the log holds. */
  async #readLog(world: string): Promise<void> {
    const { started_at } = await get<{ started_at: string }>('').catch(() => ({ started_at: this.#startedAt }))
    const heads = await get<RequestHead[]>('/requests', { world, query: { limit: String(REQUESTS_MAX) } }).catch(
      () => [],
    )
    if (world !== this.#world) return
    if (this.#startedAt !== '' && started_at !== this.#startedAt) this.#endLogs(() => true)
    this.#startedAt = started_at
    const older = heads.filter((head) => this.#isNew(head, false)).map(rowOf)
    this.rows = [...this.rows, ...older].sort(byTime).slice(0, REQUESTS_MAX)
    this.#tell()
  }

  /** What was logged stays in the list, but can no longer be read. */
  #endLogs(isOver: (world: string) => boolean): void {
    const end = (row: Row): Row => (row.isEarlier || !isOver(row.head.world) ? row : { ...row, isEarlier: true })
    this.rows = this.rows.map(end)
    this.#batch = this.#batch.map(end)
    for (const world of [...this.#known.keys()]) if (isOver(world)) this.#known.delete(world)
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

  /** Ids are consecutive in a world, and only the feed brings them in order: where they go back, the world has started again. */
  #isNew({ world, id, duration_ms: duration }: RequestHead, isInOrder: boolean): boolean {
    const before = this.#known.get(world)
    if (before?.durations.get(id) === duration) return false
    const isAnew = before && (before.durations.has(id) || (isInOrder && id < before.last))
    if (isAnew) this.#endLogs((name) => name === world)
    const known = (isAnew ? undefined : before) ?? { last: id, durations: new Map() }
    known.last = Math.max(known.last, id)
    known.durations.set(id, duration)
    if (known.durations.size > 2 * REQUESTS_MAX) known.durations.delete(known.durations.keys().next().value ?? id)
    this.#known.set(world, known)
    return true
  }

  #receive(messages: FeedMessage[]): void {
    this.#pending.push(...messages)
    const over = this.#pending.length - REQUESTS_MAX
    // A long pause: what is dropped is read again from the log.
    if (over > 0) this.#pending.splice(0, over, { event: 'skipped', data: undefined })
    this.#tell()
  }

  #take(): void {
    if (this.isPaused || this.#pending.length === 0) return
    const events: WorldEvent[] = []
    for (const { event, data } of this.#pending) {
      if (event === 'request') {
        const head = data as RequestHead
        if (this.#isNew(head, true)) this.#batch.push(rowOf(head))
      } else if (event === 'skipped') this.#readAgainSoon()
      else events.push(data as WorldEvent)
    }
    this.#pending = []
    if (this.#batch.length > 0) this.rows = [...this.#batch.reverse(), ...this.rows].slice(0, REQUESTS_MAX)
    this.#batch = []
    if (events.length > 0) this.events = [...events.reverse(), ...this.events].slice(0, EVENTS_MAX)
  }

  /** The log has what the feed has skipped, unless even more has come since. */
  #readAgainSoon(): void {
    this.#rereading ||= window.setTimeout(() => {
      this.#rereading = 0
      void this.#readLog(this.#world)
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

/** How many requests of each world are not in the list. Ids are consecutive, so gaps show; the oldest leave the list by age. */
export const missingIn = (rows: readonly Row[]): ReadonlyMap<string, number> => {
  const current = rows.filter(({ isEarlier }) => !isEarlier).map(({ head }) => head)
  const gaps = [...Map.groupBy(current, ({ world }) => world)].map(([world, heads]) => {
    const [first, last] = heads.reduce(
      ([low, high], { id }) => [Math.min(low, id), Math.max(high, id)],
      [Number.POSITIVE_INFINITY, 0],
    )
    return [world, last - first + 1 - heads.length] as const
  })
  return new Map(gaps.filter(([, count]) => count > 0))
}

const byTime = (a: Row, b: Row): number =>
  a.head.at < b.head.at ? 1 : a.head.at > b.head.at ? -1 : b.head.id - a.head.id

export const store = new Store()

/** Draws a view again when something new arrives. */
export const useStore = (): Store => {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => store.watch(() => redraw(undefined)), [])
  return store
}

/** Changes when events arrive, so that their records are read again. */
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

/** The request that made a record or an event, if it is in the list. */
export const makerOf = (world: string, made: { table: string; key: string } | { event: string }): Row | undefined =>
  store.rows.find(({ head, isEarlier }) => {
    if (isEarlier || head.world !== world) return false
    if ('event' in made) return head.events.includes(made.event)
    return head.changes.some(
      ({ table, key, operation }) => operation === 'insert' && table === made.table && key === made.key,
    )
  })
