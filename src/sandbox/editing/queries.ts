import { asc, eq } from 'drizzle-orm'
import type { ProductChange } from '../../catalog/product.ts'
import type { Query, Tx } from '../../db/database.ts'
import { productChanges } from './tables.ts'

export const productChangesIn = (query: Query): ReadonlyMap<number, ProductChange> => {
  const rows = query.select().from(productChanges).orderBy(asc(productChanges.productId)).all()
  return new Map(rows.map(({ productId, change }) => [productId, read(change)]))
}

export const findProductChange = (query: Query, productId: number): ProductChange | undefined => {
  const row = query.select().from(productChanges).where(eq(productChanges.productId, productId)).limit(1).get()
  return row && read(row.change)
}

const read = (change: string): ProductChange => JSON.parse(change) as ProductChange

export const putProductChange = (tx: Tx, productId: number, changed: ProductChange): void => {
  const change = JSON.stringify(changed)
  tx.insert(productChanges)
    .values({ productId, change })
    .onConflictDoUpdate({ target: productChanges.productId, set: { change } })
    .run()
}
