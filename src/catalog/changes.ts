import type { ProductDocument } from './file-schema.ts'

/** What an import changes of a product. */
export interface ProductChange {
  change: 'added' | 'changed' | 'removed'
  product: Pick<ProductDocument, 'id' | 'name'>
  /** The members that have another value. */
  members: string[]
}

/** The difference between two catalog files that the program has written, in the order of ids. */
export const changesBetween = (before: string, after: string): ProductChange[] => {
  const [old, next] = [productsIn(before), productsIn(after)]
  const added = [...next.values()].filter(({ id }) => !old.has(id))
  const removed = [...old.values()].filter(({ id }) => !next.has(id))
  const changed = [...next.values()].flatMap((product) => {
    const members = changedMembers(old.get(product.id), product)
    return members.length === 0 ? [] : [{ change: 'changed' as const, product, members }]
  })
  return [
    ...added.map((product) => ({ change: 'added' as const, product, members: [] })),
    ...changed,
    ...removed.map((product) => ({ change: 'removed' as const, product, members: [] })),
  ].sort((one, other) => one.product.id - other.product.id)
}

const productsIn = (catalog: string): ReadonlyMap<number, ProductDocument> => {
  const { products } = JSON.parse(catalog) as { products: ProductDocument[] }
  return new Map(products.map((product) => [product.id, product]))
}

const changedMembers = (before: ProductDocument | undefined, after: ProductDocument): string[] => {
  if (!before) return []
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof ProductDocument)[]
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}
