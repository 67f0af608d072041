import type { Query } from '../db/database.ts'
import type { ProductDocument } from './file-schema.ts'
import { type CatalogRows, type Named, productRecords } from './queries.ts'

/** The effect of an import on one product. */
interface ProductChange {
  change: 'added' | 'changed' | 'removed'
  product: Pick<ProductDocument, 'id' | 'name'>
  /** The members of a changed product whose values differ. */
  before: Partial<ProductDocument> | null
  after: Partial<ProductDocument> | null
}

/** The differences between two catalog files that the program has written, in the order of ids. */
export const changesBetween = (before: string, after: string): ProductChange[] => {
  const [old, next] = [productsIn(before), productsIn(after)]
  const ids = [...new Set([...old.keys(), ...next.keys()])].sort((one, other) => one - other)
  return ids.flatMap((id) => changeOf(old.get(id), next.get(id)) ?? [])
}

const productsIn = (catalog: string): ReadonlyMap<number, ProductDocument> => {
  const { products } = JSON.parse(catalog) as { products: ProductDocument[] }
  return new Map(products.map((product) => [product.id, product]))
}

/** The members of a product that differ. */
export const changeOf = (before?: ProductDocument, after?: ProductDocument): ProductChange | undefined => {
  if (!before) return after && { change: 'added', product: after, before: null, after: null }
  if (!after) return { change: 'removed', product: before, before: null, after: null }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof ProductDocument)[]
  const changed = names.filter((name) => !Bun.deepEquals(before[name], after[name]))
  if (changed.length === 0) return undefined
  const membersOf = (product: ProductDocument): Partial<ProductDocument> =>
    Object.fromEntries(changed.map((name) => [name, product[name] ?? null]))
  return { change: 'changed', product: after, before: membersOf(before), after: membersOf(after) }
}

interface CatalogChanges {
  added: number
  changed: number[]
  removed: Named[]
}

/** The effect of an import on the products of a database. It reads rows alone, because a catalog can have 100,000 products. */
export const changesByRows = (query: Query, next: CatalogRows): CatalogChanges => {
  const before = productRecords(query)
  const bands = Map.groupBy(next.bands, ({ productId }) => productId)
  const changes: CatalogChanges = { added: 0, changed: [], removed: [] }
  for (const row of next.products) {
    const old = before.get(row.id)
    if (!old) changes.added++
    else if (!Bun.deepEquals([old.row, old.bands], [row, bands.get(row.id) ?? []])) changes.changed.push(row.id)
    before.delete(row.id)
  }
  changes.removed = [...before.values()].map(({ row: { id, name } }) => ({ id, name }))
  return changes
}
