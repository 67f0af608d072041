import { and, asc, eq, gte } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { OWN_ID_MIN } from './seed.ts'
import { categories, productBands, products, subcategories } from './tables.ts'

/** A product as it stands in the database, on sale or not, for those who run the program. */
export interface ProductRecord {
  row: typeof products.$inferSelect
  /** In the order in which the catalog file names them. */
  bands: (typeof productBands.$inferSelect)[]
}

/** All products by id, in order of id. */
export const productRecords = (tx: Tx): Map<number, ProductRecord> => {
  const rows = tx.select().from(products).orderBy(asc(products.id)).all()
  const records = new Map<number, ProductRecord>(rows.map((row) => [row.id, { row, bands: [] }]))
  const bands = tx.select().from(productBands).orderBy(asc(productBands.productId), asc(productBands.position)).all()
  for (const band of bands) records.get(band.productId)?.bands.push(band)
  return records
}

/** The categories and subcategories that a catalog file has defined, as it names them; members of none are left out. */
export const ownCategories = (tx: Tx): { categories?: { name: string }[]; subcategories?: { name: string }[] } => {
  const namesOf = (table: typeof categories | typeof subcategories) =>
    tx
      .select({ name: table.name })
      .from(table)
      .where(and(gte(table.id, OWN_ID_MIN), eq(table.active, true)))
      .orderBy(asc(table.id))
      .all()
  const [own, ownSub] = [namesOf(categories), namesOf(subcategories)]
  return { ...(own.length > 0 && { categories: own }), ...(ownSub.length > 0 && { subcategories: ownSub }) }
}

/** What a product is called, or undefined when there is none. */
export const findProductName = (tx: Tx, id: number): string | undefined =>
  tx.select({ name: products.name }).from(products).where(eq(products.id, id)).limit(1).get()?.name

/** How long the codes of a product are good for, as the catalog says it; or undefined when there is none. */
export const findValidity = (tx: Tx, id: number): string | undefined =>
  tx.select({ validity: products.validity }).from(products).where(eq(products.id, id)).limit(1).get()?.validity

/** The ids of all products, in order. */
export const productIds = (tx: Tx): number[] =>
  tx
    .select({ id: products.id })
    .from(products)
    .orderBy(asc(products.id))
    .all()
    .map(({ id }) => id)
