import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { holdAny } from '../db/search.ts'
import { type Attempt, webhookDeliveries } from './tables.ts'

/** Attempts to deliver some events, and those whose response may hold another. */
export const attemptsAbout = (
  query: Query,
  eventIds: Iterable<string>,
  part: string | undefined,
): Iterable<Attempt> => {
  const { eventId, responseBody } = webhookDeliveries
  const isAbout = sql`${eventId} IN (SELECT value FROM json_each(${JSON.stringify([...eventIds])}))`
  const holdsPart = part === undefined ? undefined : holdAny([responseBody], part)
  return rowsById(query, webhookDeliveries, and(isNotNull(responseBody), or(isAbout, holdsPart)))
}

export const eraseResponse = (tx: Tx, { id }: Attempt): void => {
  tx.update(webhookDeliveries).set({ responseBody: null }).where(eq(webhookDeliveries.id, id)).run()
}
