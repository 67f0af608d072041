import { eq } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { holdAny } from '../db/search.ts'
import { type Order, orders } from './tables.ts'

/** Orders that may hold a text of a person. */
export const ordersWith = (query: Query, part: string): Iterable<Order> =>
  rowsById(query, orders, holdAny([orders.email, orders.reference, orders.failureReason], part))

export const updateTexts = (
  tx: Tx,
  { id }: Order,
  texts: Pick<Order, 'email' | 'reference' | 'failureReason'>,
): void => {
  tx.update(orders).set(texts).where(eq(orders.id, id)).run()
}
