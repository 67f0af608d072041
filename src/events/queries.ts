import { and, asc, eq, gt, gte, inArray, lte, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { counted, List } from '../db/lists.ts'
import { type Narrowing, narrowedRows, type Rows, rowsById, searched } from '../db/narrowing.ts'
import type { Personal } from '../db/personal.ts'
import { isOneOf, prepared, preparedInsert, preparedLastId, preparedOne } from '../db/prepared.ts'
import { type Event, events } from './tables.ts'

export type { Event }

const isQueued = sql<number>`EXISTS (SELECT 1 FROM webhook_queue WHERE webhook_queue.event_id = events.id)`

const byEventId = preparedOne(
  events,
  and(eq(events.eventId, sql.placeholder('eventId')), eq(events.clientId, sql.placeholder('clientId'))),
)
const byId = preparedOne(events, eq(events.id, sql.placeholder('id')))
const lastId = preparedLastId(events)

const oldestEvent = prepared((query: Query) =>
  query
    .select({ createdAtMs: events.createdAtMs, isQueued })
    .from(events)
    .where(eq(events.id, sql`(SELECT min(${events.id}) FROM ${events})`))
    .prepare(),
)

export const findEvent = (query: Query, clientId: number, eventId: string): Event | undefined =>
  byEventId(query, { clientId, eventId })

export const findAnyEvent = (query: Query, eventId: string): Event | undefined =>
  query.select().from(events).where(eq(events.eventId, eventId)).limit(1).get()

export const eventsOf = (query: Query, narrowing: Narrowing): Rows<Event> => narrowedRows(query, LISTED, narrowing)

const LISTED = {
  table: events,
  clientId: events.clientId,
  atMs: events.createdAtMs,
  texts: [events.eventId, events.type, events.requestId, events.data],
  counts: 'event_counts',
  indexes: { client: 'events_client', time: 'events_created' },
} as const

/** Undefined if it does not exist, which a foreign key of the queue rules out. */
export const findQueuedEvent = (query: Query, id: number): Event | undefined => byId(query, { id })

/** True if an event is unchanged since it was read: a person can have been erased from it. */
export const isUnchanged = (query: Query, { id, data }: Event): boolean => byId(query, { id })?.data === data

export const nextNumber = (query: Query): number => lastId(query) + 1

export const insertEvent = preparedInsert(events)

/** Undefined while the oldest event waits to be delivered, which takes hours at most. */
export const findOldestMs = (query: Query): number | undefined => {
  const oldest = oldestEvent(query).get()
  return oldest && !oldest.isQueued ? oldest.createdAtMs : undefined
}

/** Deletes the oldest events up to a time that wait for no delivery, and not more than `countMax`. */
export const deleteOldest = (tx: Tx, upToMs: number, countMax: number): void => {
  const oldest = tx.select({ id: events.id }).from(events).orderBy(asc(events.id)).limit(countMax)
  tx.delete(events)
    .where(and(inArray(events.id, oldest), lte(events.createdAtMs, upToMs), sql`NOT ${isQueued}`))
    .run()
}

/** The kind of record: order, payout or wallet. */
const kind = sql`substr(${events.type}, 1, instr(${events.type}, '.') - 1)`

export const eventList = new List({
  table: events,
  counts: 'event_counts',
  filters: {
    type: counted(events.type, 'events_type'),
    kind: counted(sql`${kind} = ${sql.placeholder('kind')}`, 'events_kind'),
    createdFromMs: { matches: gte(events.createdAtMs, sql.placeholder('createdFromMs')) },
    createdToMs: { matches: lte(events.createdAtMs, sql.placeholder('createdToMs')) },
  },
  sorts: { id: { columns: [], index: 'events_client' } },
})

/** A pattern selects all events, those of a kind of record, or one type. */
export const patternOf = (pattern?: string) => ({
  type: pattern?.endsWith('*') ? undefined : pattern,
  kind: pattern?.endsWith('.*') ? pattern.slice(0, -2) : undefined,
  createdFromMs: undefined,
  createdToMs: undefined,
})

/** The events of all clients, the newest first: with a limit those of a pattern are read client by client. */
export const latestEvents = (
  query: Query,
  {
    after = 0,
    type = '*',
    limit,
  }: { after?: number | undefined; type?: string | undefined; limit?: number | undefined },
): Iterable<Event> => {
  if (type === '*' || limit === undefined) {
    const isFound = and(gt(events.id, after), sql`${events.type} GLOB ${type}`)
    return rowsById(query, events, isFound, { newestFirst: true, limit })
  }
  const slice = { filters: patternOf(type), sort: 'id', direction: 'DESC', limit, offset: 0 } as const
  return query
    .selectDistinct({ id: sql<number>`client_id` })
    .from(sql`event_counts`)
    .all()
    .flatMap((client) => eventList.page({ world: { db: { query } }, client }, slice, (event) => event).entries)
    .filter(({ id }) => id > after)
    .sort((one, other) => other.id - one.id)
    .slice(0, limit)
}

/** The data that the events of a record have. */
export const EVENT_TEXTS = { table: events, texts: [], json: ['data'] } as const satisfies Personal<typeof events>

/** The last events of a record, the oldest first: an index leads to those of its client since it was made. */
export const lastEventsAbout = (
  query: Query,
  { clientId, record, sinceMs }: Pick<Event, 'clientId' | 'record'> & { sinceMs: number },
  countMax: number,
): Event[] => {
  const isOfKind = sql`${events.type} GLOB ${record.replace(/ .*/, '.*')}`
  const isAbout = and(
    eq(events.clientId, clientId),
    gte(events.createdAtMs, sinceMs),
    isOfKind,
    eq(events.record, record),
  )
  return [...rowsById(query, events, isAbout, { newestFirst: true, limit: countMax })].reverse()
}

export const eventsAbout = (query: Query, records: Iterable<string>): AsyncIterable<Event> =>
  searched(query, events, isOneOf(events.record, records))
