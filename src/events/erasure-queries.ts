import { and, eq, gt, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { type Event, events } from './tables.ts'

/** The events of some records, after one of them. */
export const eventsAbout = (query: Query, records: Iterable<string>, afterId: number): Iterable<Event> => {
  const isAbout = sql`${events.record} IN (SELECT value FROM json_each(${JSON.stringify([...records])}))`
  return rowsById(query, events, and(gt(events.id, afterId), isAbout))
}

export const updateData = (tx: Tx, { id }: Event, data: string): void => {
  tx.update(events).set({ data }).where(eq(events.id, id)).run()
}
