import type { Catalog } from '../../catalog/catalog.ts'
import type { ProductDocument } from '../../catalog/file-schema.ts'
import type { Product, ProductChange } from '../../catalog/product.ts'
import { entryOf } from '../../catalog/rows.ts'
import type { Query, Tx } from '../../db/database.ts'
import { type World, worldPart } from '../../work/world.ts'
import { takenOf } from '../seed/queries.ts'
import { findProductChange, productChangesIn, putProductChange } from './queries.ts'

/** The products that a world has changed (decision 56). They are in its data, so copies, snapshots and resets have them. */

const changes = worldPart(({ db }) => productChangesIn(db.query), 'derived')

export const changesOf = (world: World): ReadonlyMap<number, ProductChange> => world.of(changes)

/** A product of a world as an entry of a catalog file, with the stock that is left. */
export const entryIn = (query: Query, catalog: Catalog, product: Product): ProductDocument => {
  const { terms, details, howToUse } = catalog.textsOf(product) ?? { terms: '', details: '', howToUse: '' }
  return { ...entryOf({ ...product, terms, details, howToUse }), stock: leftOf(query, product) }
}

const leftOf = (query: Query, { id, stock }: Pick<Product, 'id' | 'stock'>): number | null =>
  stock === null ? null : Math.max(0, stock - takenOf(query, id))

/** A new stock counts from now on: earlier orders take nothing from it. */
export const changeProduct = (tx: Tx, productId: number, change: ProductChange): void => {
  const { stock } = change
  const counted = typeof stock === 'number' ? { stock: stock + takenOf(tx, productId) } : {}
  putProductChange(tx, productId, { ...findProductChange(tx, productId), ...change, ...counted })
}
