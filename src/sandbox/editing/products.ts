import type { Catalog } from '../../catalog/catalog.ts'
import { problemsOf } from '../../catalog/file-entry.ts'
import type { ProductDocument } from '../../catalog/file-schema.ts'
import type { Product, ProductChange } from '../../catalog/product.ts'
import { changeOf, entryOf, type ProductTerms } from '../../catalog/rows.ts'
import type { Query, Tx } from '../../db/database.ts'
import { DomainError, invalid, type Violation } from '../../kernel/failure.ts'
import type { Reference } from '../../reference/reference.ts'
import { type World, worldPart } from '../../work/world.ts'
import { takenOf } from '../seed/queries.ts'
import { findProductChange, productChangesIn, putProductChange } from './queries.ts'

/** The products that a world has changed (decision 56). They are in its data, so copies, snapshots and resets have them. */

const changes = worldPart(({ db }) => productChangesIn(db.query), 'derived')

export const changesOf = (world: World): ReadonlyMap<number, ProductChange> => world.of(changes)

/** Members of an entry; of a handling fee, one part can be left out. */
interface ProductEdit extends Partial<Omit<ProductTerms, 'handling_fee'>> {
  handling_fee?: Partial<ProductTerms['handling_fee']>
}

/** A product of a world as an entry of a catalog file, with the stock that is left. */
export const entryIn = (query: Query, catalog: Catalog, product: Product): ProductDocument => {
  const { terms, details, howToUse } = catalog.textsOf(product) ?? { terms: '', details: '', howToUse: '' }
  return { ...entryOf({ ...product, terms, details, howToUse }), stock: leftOf(query, product) }
}

const leftOf = (query: Query, { id, stock }: Pick<Product, 'id' | 'stock'>): number | null =>
  stock === null ? null : Math.max(0, stock - takenOf(query, id))

/** The change that an edit asks for. @throws DomainError validation where the entry would break a rule of catalog files */
export const readEdit = (
  reference: Reference,
  { currency }: Product,
  present: ProductDocument,
  { handling_fee: fee, ...edit }: ProductEdit,
): ProductChange => {
  const edited = { ...edit, ...(fee && { handling_fee: { ...present.handling_fee, ...fee } }) }
  const problems = problemsOf({ ...present, ...edited }, reference)
  if (problems.length === 0) return changeOf(edited, currency)
  throw new DomainError(invalid(problems.map(({ path, what }) => violationAt(path, what))))
}

/** A new stock counts from now on: earlier orders take nothing from it. */
export const changeProduct = (tx: Tx, productId: number, change: ProductChange): void => {
  const { stock } = change
  const counted = typeof stock === 'number' ? { stock: stock + takenOf(tx, productId) } : {}
  putProductChange(tx, productId, { ...findProductChange(tx, productId), ...change, ...counted })
}

/** A problem at a path of a document, such as /denominations/0/discount. */
export const violationAt = (path: string, problem: string): Violation => {
  const field = path.slice(1).replaceAll('/', '.')
  return { field, rule: 'format', problem, message: `${field}: ${problem}` }
}
