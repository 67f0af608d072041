import { and, asc, count, eq, getTableColumns, gte, inArray, type SQL, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { preparedFirst, preparedInsert } from '../db/prepared.ts'
import type { Reference } from '../reference/reference.ts'
import type { Product, ProductTexts } from './product.ts'
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

/** The rows of the seed files (spec 2.3). Inactive ones are never shown. */
export interface CategorySeed {
  categories: readonly { id: number; name: string; active: boolean }[]
  subcategories: readonly { id: number; name: string; category_id: number; active: boolean }[]
}

/** Categories of catalog files have ids from here on; no release uses them. */
const OWN_ID_MIN = 1_000_001

/** Replaces the categories of the previous catalog file. A category that is named again keeps its id. */
export const defineCategories = (tx: Tx, names: Record<'categories' | 'subcategories', readonly string[]>) => {
  // The column is required, but a subcategory of a file belongs to no category.
  define(tx, categories, names.categories, {})
  define(tx, subcategories, names.subcategories, { categoryId: 1 })
}

const define = (
  tx: Tx,
  table: typeof categories | typeof subcategories,
  names: readonly string[],
  others: { categoryId?: number },
): void => {
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
  const improved = { name: sql`excluded.name`, active: sql`excluded.active` }
  tx.insert(categories)
    .values([...seed.categories])
    .onConflictDoUpdate({ target: categories.id, set: improved })
    .run()
  tx.insert(subcategories)
    .values(seed.subcategories.map(({ category_id: categoryId, ...row }) => ({ ...row, categoryId })))
    .onConflictDoUpdate({ target: subcategories.id, set: { ...improved, categoryId: sql`excluded.category_id` } })
    .run()
}

/** A discount of one client on one product (contract C8). */
interface AgreedDiscount {
  clientId: number
  productId: number
  discountBasisPoints: number
}

export const agreeDiscounts = (tx: Tx, agreed: readonly AgreedDiscount[]): void => {
  tx.insert(clientDiscounts)
    .values([...agreed])
    .onConflictDoUpdate({
      target: [clientDiscounts.clientId, clientDiscounts.productId],
      set: { discountBasisPoints: sql`excluded.discount_basis_points` },
    })
    .run()
}

export const deleteDiscounts = (tx: Tx, clientId: number): void =>
  void tx.delete(clientDiscounts).where(eq(clientDiscounts.clientId, clientId)).run()

/** A product as an operator sees it, on sale or not. */
export interface ProductRecord {
  row: typeof products.$inferSelect
  /** In the order of the catalog file. */
  bands: (typeof productBands.$inferSelect)[]
}

export const productRecords = (query: Query): Map<number, ProductRecord> => {
  const rows = query.select().from(products).orderBy(asc(products.id)).all()
  const bands = bandsByProduct(query)
  return new Map(rows.map((row) => [row.id, { row, bands: bands.get(row.id) ?? [] }]))
}

/** The record of one product. */
export const findProductRecord = (query: Query, id: number): ProductRecord | undefined => {
  const row = findProduct(query, id)
  return row && { row, bands: bandsByProduct(query, eq(productBands.productId, id)).get(id) ?? [] }
}

const bandsByProduct = (query: Query, condition?: SQL) => {
  const { productId, position } = productBands
  const rows = query.select().from(productBands).where(condition).orderBy(asc(productId), asc(position)).all()
  return Map.groupBy(rows, (band) => band.productId)
}

/** The categories and subcategories of the catalog file, in its form; empty lists are left out. */
export const ownCategories = (
  query: Query,
): { categories?: { name: string }[]; subcategories?: { name: string }[] } => {
  const namesOf = (table: typeof categories | typeof subcategories) =>
    query
      .select({ name: table.name })
      .from(table)
      .where(and(gte(table.id, OWN_ID_MIN), eq(table.active, true)))
      .orderBy(asc(table.id))
      .all()
  const [own, ownSub] = [namesOf(categories), namesOf(subcategories)]
  return { ...(own.length > 0 && { categories: own }), ...(ownSub.length > 0 && { subcategories: ownSub }) }
}

/** A product, on sale or not. */
export const findProduct = (query: Query, id: number): ProductRecord['row'] | undefined =>
  query.select().from(products).where(eq(products.id, id)).limit(1).get()

export const countProducts = (query: Query): number => query.select({ n: count() }).from(products).get()?.n ?? 0

export interface Named {
  id: number
  name: string
}

const activeOf = (query: Query, table: typeof categories | typeof subcategories): Named[] =>
  query
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(eq(table.active, true))
    .orderBy(asc(table.id))
    .all()

export const activeCategories = (query: Query): Named[] => activeOf(query, categories)
export const activeSubcategories = (query: Query): Named[] => activeOf(query, subcategories)

export const productsOnSale = (query: Query, reference: Reference): Product[] => {
  const bands = bandsByProduct(query)
  return productRows(query, eq(products.active, true)).map((row) => productOf(row, bands, reference))
}

/** The products with these ids, on sale or not. Unknown ids are left out. */
export const productsById = (query: Query, reference: Reference, ids: readonly number[]): Product[] => {
  const bands = bandsByProduct(query, inArray(productBands.productId, [...ids]))
  return productRows(query, inArray(products.id, [...ids])).map((row) => productOf(row, bands, reference))
}

const productRows = (query: Query, condition: SQL | undefined) => {
  const { terms, details, howToUse, ...columns } = getTableColumns(products)
  return query.select(columns).from(products).where(condition).orderBy(asc(products.id)).all()
}

const productOf = (
  { countryId, currencyId, ...row }: ReturnType<typeof productRows>[number],
  bands: ReturnType<typeof bandsByProduct>,
  reference: Reference,
): Product => ({
  ...row,
  country: reference.getCountry(countryId),
  currency: reference.getCurrency(currencyId),
  bands: bands.get(row.id) ?? [],
})

export const findInactiveId = (query: Query): number | undefined =>
  query
    .select({ id: products.id })
    .from(products)
    .where(eq(products.active, false))
    .orderBy(asc(products.id))
    .limit(1)
    .get()?.id

const withTexts = preparedFirst(products, eq(products.id, sql.placeholder('id')), asc(products.id))

/** The long texts of a product, or undefined when another process has just removed it. */
export const findTexts = (query: Query, id: number): ProductTexts | undefined => {
  const row = withTexts(query, { id })
  return row && { terms: row.terms, details: row.details, howToUse: row.howToUse }
}

export const discountsOf = (query: Query, clientId: number): ReadonlyMap<number, number> => {
  const rows = query.select().from(clientDiscounts).where(eq(clientDiscounts.clientId, clientId)).all()
  return new Map(rows.map(({ productId, discountBasisPoints }) => [productId, discountBasisPoints]))
}
