import { type Event, isWritten } from '../../events/queries.ts'
import { listenToEvents } from '../../webhooks/publish.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { ObservedRequest } from './request-log.ts'

/** Of a request, so that one whose record moves for years stays small. */
const EVENTS_MAX = 100
/** As many as there are requests in the log of a world: the oldest are forgotten. */
const RECORDS_MAX = 1_000

interface Causes {
  /** What the unit of work that runs now writes, if it is that of a request. */
  writing: Event[] | undefined
  /** The events of the request that last wrote one of a record: what the clock makes of the record belongs to it too. */
  byRecord: Map<string, string[]>
}

const causes = worldPart<Causes>(() => ({ writing: undefined, byRecord: new Map() }))

/** Finds the request that has caused an event, and calls back with each event of any world after its commit. */
export class EventObserver {
  constructor(private readonly onEvent: (world: World, event: Event) => void) {}

  watch(world: World): void {
    listenToEvents(world, (event, sourceId) => {
      const { writing, byRecord } = world.of(causes)
      if (writing) return void writing.push(event)
      note(byRecord.get(event.record) ?? purchaseOf(byRecord, sourceId), event)
      // A commit runs to its end before, and the writer goes on behind.
      queueMicrotask(() => this.#notifyIfCommitted(world, event))
    })
  }

  /** Runs the transaction of a request. What its unit of work writes is caused by the request. */
  async during<T>(
    observed: ObservedRequest,
    world: World,
    write: (work: (unit: () => T) => T) => Promise<T>,
  ): Promise<T> {
    let written: Event[] = []
    const value = await write((unit) => {
      const own = world.of(causes)
      own.writing = []
      try {
        return unit()
      } finally {
        written = own.writing
        own.writing = undefined
      }
    })
    const { byRecord } = world.of(causes)
    for (const event of written) {
      note(observed.events, event)
      // Many requests move a wallet.
      if (!event.record.startsWith('wallet ')) remember(byRecord, event.record, observed.events)
      this.onEvent(world, event)
    }
    return value
  }

  #notifyIfCommitted(world: World, event: Event): void {
    if (!world.closed && isWritten(world.db.query, event)) this.onEvent(world, event)
  }
}

/** The events of the request that has bought what moves a wallet now. The ids of orders and payouts differ. */
const purchaseOf = (byRecord: Causes['byRecord'], id: string | null): string[] | undefined =>
  byRecord.get(`order ${id}`) ?? byRecord.get(`payout ${id}`)

const remember = (byRecord: Causes['byRecord'], record: string, events: string[]): void => {
  byRecord.delete(record)
  byRecord.set(record, events)
  const [oldest] = byRecord.keys()
  if (byRecord.size > RECORDS_MAX && oldest !== undefined) byRecord.delete(oldest)
}

const note = (events: string[] | undefined, { eventId }: Event): void => {
  if (events && events.length < EVENTS_MAX) events.push(eventId)
}
