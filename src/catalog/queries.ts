import { and, asc, count, eq, getTableColumns, gte, inArray, type SQL, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { newValues, preparedInsert, preparedOne } from '../db/prepared.ts'
import type { Reference } from '../reference/reference.ts'
import type { Product, ProductChange } from './product.ts'
import { categories, clientDiscounts, productBands, products, subcategories } from './tables.ts'

export interface CatalogRows {
  products: (typeof products.$inferSelect)[]
  bands: (typeof productBands.$inferSelect)[]
  /** The categories of the catalog file, which the program does not define. */
  categories: readonly string[]
  subcategories: readonly string[]
}

const insertProduct = preparedInsert(products)
const insertBand = preparedInsert(productBands)

/** Denominations are deleted with their products. */
export const replaceCatalog = (tx: Tx, rows: CatalogRows): void => {
  tx.delete(products).run()
  for (const product of rows.products) insertProduct(tx, product)
  for (const band of rows.bands) insertBand(tx, band)
}

export const updateProduct = (tx: Tx, productId: number, { bands, ...change }: ProductChange): void => {
  if (Object.keys(change).length > 0) tx.update(products).set(change).where(eq(products.id, productId)).run()
  if (!bands) return
  tx.delete(productBands).where(eq(productBands.productId, productId)).run()
  for (const [position, band] of bands.entries()) insertBand(tx, { productId, position, ...band })
}

/** The rows of the seed files (spec 2.3). Inactive ones are never shown. */
export interface CategorySeed {
  categories: readonly { id: number; name: string; active: boolean }[]
  subcategories: readonly { id: number; name: string; category_id: number; active: boolean }[]
}

type CategoryTable = typeof categories | typeof subcategories

/** Categories of catalog files have ids from here on; no release uses them. */
const OWN_ID_MIN = 1_000_001

/** Replaces the categories of the previous catalog file. A category that is named again keeps its id. */
export const defineCategories = (tx: Tx, names: Record<'categories' | 'subcategories', readonly string[]>) => {
  // The column is required, but a subcategory of a file belongs to no category.
  define(tx, categories, names.categories, {})
  define(tx, subcategories, names.subcategories, { categoryId: 1 })
}

const define = (tx: Tx, table: CategoryTable, names: readonly string[], others: { categoryId?: number }): void => {
  tx.update(table).set({ active: false }).where(gte(table.id, OWN_ID_MIN)).run()
  const last =
    tx
      .select({ id: sql<number | null>`max(${table.id})` })
      .from(table)
      .get()?.id ?? 0
  let next = Math.max(OWN_ID_MIN, last + 1)
  for (const name of names) {
    const values = { id: next, name, active: true, ...others } as typeof subcategories.$inferInsert
    const [row] = tx
      .insert(table)
      .values(values)
      .onConflictDoUpdate({ target: table.name, set: { active: true } })
      .returning()
      .all()
    if (row?.id === next) next += 1
  }
}

/** Updates the rows of an earlier release: ids stay, names may change. */
export const seedCategories = (tx: Tx, seed: CategorySeed): void => {
  // The program's own category replaces one of a file with the same name.
  for (const [table, rows] of [[subcategories, seed.subcategories] as const, [categories, seed.categories] as const]) {
    const names = rows.map(({ name }) => name)
    tx.delete(table)
      .where(and(gte(table.id, OWN_ID_MIN), inArray(table.name, names)))
      .run()
  }
  tx.insert(categories)
    .values([...seed.categories])
    .onConflictDoUpdate({ target: categories.id, set: newValues(categories) })
    .run()
  tx.insert(subcategories)
    .values(seed.subcategories.map(({ category_id: categoryId, ...row }) => ({ ...row, categoryId })))
    .onConflictDoUpdate({ target: subcategories.id, set: newValues(subcategories) })
    .run()
}

/** Sets discounts of clients on products (contract C8). */
export const agreeDiscounts = (tx: Tx, agreed: readonly (typeof clientDiscounts.$inferInsert)[]): void => {
  tx.insert(clientDiscounts)
    .values([...agreed])
    .onConflictDoUpdate({
      target: [clientDiscounts.clientId, clientDiscounts.productId],
      set: newValues(clientDiscounts),
    })
    .run()
}

export const deleteDiscounts = (tx: Tx, clientId: number): void =>
  void tx.delete(clientDiscounts).where(eq(clientDiscounts.clientId, clientId)).run()

/** All products as an operator sees them, by their ids: on sale or not, with the bands in the order of the catalog file. */
export const productRecords = (query: Query) => {
  const rows = query.select().from(products).orderBy(asc(products.id)).all()
  const bands = bandsByProduct(query)
  return new Map(rows.map((row) => [row.id, { row, bands: bands.get(row.id) ?? [] }]))
}

const bandsByProduct = (query: Query, condition?: SQL) => {
  const { productId, position } = productBands
  const rows = query.select().from(productBands).where(condition).orderBy(asc(productId), asc(position)).all()
  return Map.groupBy(rows, (band) => band.productId)
}

/** The categories and subcategories of the catalog file, in its form; empty lists are left out. */
export const ownCategories = (query: Query): Partial<Record<'categories' | 'subcategories', { name: string }[]>> => {
  const namesIn = (table: CategoryTable) =>
    activeOf(query, table).flatMap(({ id, name }) => (id >= OWN_ID_MIN ? [{ name }] : []))
  const [names, subs] = [namesIn(categories), namesIn(subcategories)]
  return { ...(names.length > 0 && { categories: names }), ...(subs.length > 0 && { subcategories: subs }) }
}

const withId = preparedOne(products, eq(products.id, sql.placeholder('id')))

/** A product, on sale or not, with its long texts. */
export const findProduct = (query: Query, id: number) => withId(query, { id })

export const countProducts = (query: Query): number => query.select({ n: count() }).from(products).get()?.n ?? 0

export interface Named {
  id: number
  name: string
}

const activeOf = (query: Query, table: CategoryTable): Named[] =>
  query
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(eq(table.active, true))
    .orderBy(asc(table.id))
    .all()

export const activeCategories = (query: Query): Named[] => activeOf(query, categories)
export const activeSubcategories = (query: Query): Named[] => activeOf(query, subcategories)

export const productsOnSale = (query: Query, reference: Reference): Product[] =>
  productsWhere(query, reference, eq(products.active, true), undefined)

/** The products with these ids, on sale or not. Unknown ids are left out. */
export const productsById = (query: Query, reference: Reference, ids: readonly number[]): Product[] =>
  productsWhere(query, reference, inArray(products.id, [...ids]), inArray(productBands.productId, [...ids]))

const productsWhere = (query: Query, reference: Reference, where: SQL, wantedBands: SQL | undefined): Product[] => {
  const { terms, details, howToUse, ...columns } = getTableColumns(products)
  const rows = query.select(columns).from(products).where(where).orderBy(asc(products.id)).all()
  const bands = bandsByProduct(query, wantedBands)
  return rows.map(({ countryId, currencyId, ...row }) => ({
    ...row,
    country: reference.getCountry(countryId),
    currency: reference.getCurrency(currencyId),
    bands: bands.get(row.id) ?? [],
  }))
}

export const findInactiveId = (query: Query): number | undefined =>
  query
    .select({ id: products.id })
    .from(products)
    .where(eq(products.active, false))
    .orderBy(asc(products.id))
    .limit(1)
    .get()?.id

export const discountsOf = (query: Query, clientId: number): ReadonlyMap<number, number> => {
  const rows = query.select().from(clientDiscounts).where(eq(clientDiscounts.clientId, clientId)).all()
  return new Map(rows.map(({ productId, discountBasisPoints }) => [productId, discountBasisPoints]))
}
