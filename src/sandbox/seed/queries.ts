import { eq, sql } from 'drizzle-orm'
import type { Query, Tx } from '../../db/database.ts'
import { stockTaken } from './tables.ts'

export const takenOf = (query: Query, productId: number): number =>
  query.select().from(stockTaken).where(eq(stockTaken.productId, productId)).limit(1).get()?.quantity ?? 0

export const setTaken = (tx: Tx, productId: number, quantity: number): void => {
  tx.insert(stockTaken)
    .values({ productId, quantity })
    .onConflictDoUpdate({ target: stockTaken.productId, set: { quantity } })
    .run()
}

export const giveBackTaken = (tx: Tx, productId: number, quantity: number): void => {
  tx.update(stockTaken)
    // Orders from a time of unlimited stock are not counted.
    .set({ quantity: sql`max(0, ${stockTaken.quantity} - ${quantity})` })
    .where(eq(stockTaken.productId, productId))
    .run()
}
