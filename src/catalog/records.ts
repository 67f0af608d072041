import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { productBands, products } from './tables.ts'

/** A product as it stands in the database, on sale or not, for those who run the program. */
export interface ProductRecord {
  row: typeof products.$inferSelect
  /** In the order in which the catalog file names them. */
  bands: (typeof productBands.$inferSelect)[]
}

/** All products by id, in order of id. */
export const productRecords = (tx: Transaction): Map<number, ProductRecord> => {
  const rows = tx.select().from(products).orderBy(asc(products.id)).all()
  const records = new Map<number, ProductRecord>(rows.map((row) => [row.id, { row, bands: [] }]))
  const bands = tx.select().from(productBands).orderBy(asc(productBands.productId), asc(productBands.position)).all()
  for (const band of bands) records.get(band.productId)?.bands.push(band)
  return records
}

/** What a product is called, or undefined when there is none. */
export const findProductName = (tx: Transaction, id: number): string | undefined =>
  tx.select({ name: products.name }).from(products).where(eq(products.id, id)).limit(1).get()?.name
