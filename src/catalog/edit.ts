import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Query, Tx } from '../db/database.ts'
import { DocumentFault, faultsIn } from '../http/document.ts'
import type { Reference } from '../reference/reference.ts'
import { problemsOf } from './file-entry.ts'
import { type ProductDocument, ProductEntry } from './file-schema.ts'
import { markEdited } from './import.ts'
import { findProduct, productsById, updateProduct } from './queries.ts'
import { changeOf, entryOf, type ProductTerms } from './rows.ts'

/** Changes one product of the catalog in force (contract C17), until an import replaces it. */

/** Members of an entry; of a handling fee, one part can be left out. */
export interface ProductEdit extends Partial<Omit<ProductTerms, 'handling_fee'>> {
  handling_fee?: Partial<ProductTerms['handling_fee']>
}

/** The product as an entry of a catalog file; undefined if there is none. */
export const productEntry = (query: Query, reference: Reference, id: number): ProductDocument | undefined => {
  const [product] = productsById(query, reference, [id])
  const texts = findProduct(query, id)
  return product && texts && entryOf({ ...texts, ...product })
}

/** The terms that an edit sets, and the entry as it is then. @throws FileFault with each rule of catalog files that it would break */
export const editEntry = (
  reference: Reference,
  entry: ProductDocument,
  { handling_fee: fee, ...rest }: ProductEdit,
) => {
  const terms: Partial<ProductTerms> = { ...rest, ...(fee && { handling_fee: { ...entry.handling_fee, ...fee } }) }
  const edited: ProductDocument = { ...entry, ...terms }
  const faults = faultsIn(TypeCompiler.Compile(ProductEntry), edited)
  const problems = faults.length > 0 ? faults : problemsOf(edited, reference)
  if (problems.length > 0) throw new DocumentFault('catalog', problems)
  return { terms, edited }
}

/** Returns the product as it is then. @throws FileFault */
export const editProduct = (tx: Tx, reference: Reference, entry: ProductDocument, edit: ProductEdit) => {
  const { terms, edited } = editEntry(reference, entry, edit)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (currency) updateProduct(tx, entry.id, changeOf(terms, currency))
  markEdited(tx, JSON.stringify([entry.id, terms]))
  return edited
}
