import type { ProductDocument } from './file-schema.ts'

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
  const added = [...next.values()].filter(({ id }) => !old.has(id))
  const removed = [...old.values()].filter(({ id }) => !next.has(id))
  const changed = [...next.values()].flatMap((product) => changeOf(old.get(product.id), product) ?? [])
  const nothing = { before: null, after: null }
  return [
    ...added.map((product) => ({ change: 'added' as const, product, ...nothing })),
    ...changed,
    ...removed.map((product) => ({ change: 'removed' as const, product, ...nothing })),
  ].sort((one, other) => one.product.id - other.product.id)
}

const productsIn = (catalog: string): ReadonlyMap<number, ProductDocument> => {
  const { products } = JSON.parse(catalog) as { products: ProductDocument[] }
  return new Map(products.map((product) => [product.id, product]))
}

const changeOf = (before: ProductDocument | undefined, after: ProductDocument): ProductChange | undefined => {
  if (!before) return undefined
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof ProductDocument)[]
  const changed = names.filter((name) => !Bun.deepEquals(before[name], after[name]))
  if (changed.length === 0) return undefined
  const membersOf = (product: ProductDocument): Partial<ProductDocument> =>
    Object.fromEntries(changed.map((name) => [name, product[name] ?? null]))
  return { change: 'changed', product: after, before: membersOf(before), after: membersOf(after) }
}
