import { readFileSync } from 'node:fs'
import catalogPath from '../../seed/catalog.json' with { type: 'file' }
import type { Database, Tx } from '../db/database.ts'
import { digestOf, dropSeed, findSeed, putSeed, seedOnce } from '../db/seeds.ts'
import type { Reference } from '../reference/reference.ts'
import { changesByRows } from './changes.ts'
import { readCatalog } from './document.ts'
import { type CatalogRows, countProducts, defineCategories, replaceCatalog } from './queries.ts'

/** Imports into a database: the sample catalog, or the operator's file (contract C8). */

/** The origins of a catalog. An imported one replaces the sample. */
const CATALOG_SEED = 'catalog'
const CATALOG_FILE = 'catalog-file'
/** The edits of its products. A start with the same file keeps them. */
const CATALOG_EDITS = 'catalog-edits'

/** Skipped if a catalog was imported. */
export const seedSampleCatalog = (database: Database, reference: Reference): void => {
  if (findSeed(database.query, CATALOG_FILE) !== undefined) return
  const catalogJson = readFileSync(catalogPath, 'utf8')
  seedOnce(database, CATALOG_SEED, [catalogJson], (tx) => replaceCatalog(tx, readCatalog(catalogJson, reference)))
}

/** Replaces all products, unless they are of this file already. @throws FileFault, and then nothing has changed */
export const importCatalog = (database: Database, reference: Reference, file: string): void => {
  if (findSeed(database.query, CATALOG_FILE) === digestOf([file])) return
  const checked = check(file, reference)
  database.fill((tx) => void importChecked(tx, checked))
}

interface Checked {
  digest: string
  rows: CatalogRows
}

const check = (file: string, reference: Reference): Checked => ({
  digest: digestOf([file]),
  rows: readCatalog(file, reference),
})

/** Reads and checks a catalog file, and returns it as JSON for the process that writes it. @throws FileFault */
export const checkedCatalog = (file: string, reference: Reference): string => JSON.stringify(check(file, reference))

/**
 * Replaces all products by those of a checked catalog. For 100,000 products, other requests wait a second (decision 31).
 * Returns the numbers of products before and after, and what has changed.
 */
export const importChecked = (tx: Tx, { digest, rows }: Checked) => {
  const before = { products: countProducts(tx) }
  const changes = changesByRows(tx, rows)
  dropSeed(tx, CATALOG_SEED)
  replaceCatalog(tx, rows)
  defineCategories(tx, rows)
  putSeed(tx, CATALOG_FILE, digest)
  dropSeed(tx, CATALOG_EDITS)
  return { before, after: { products: rows.products.length }, changes }
}

/** The digest of the present catalog. */
export const catalogVersion = ({ query }: Database): string | undefined => {
  const origin = findSeed(query, CATALOG_FILE) ?? findSeed(query, CATALOG_SEED)
  return origin && origin + (findSeed(query, CATALOG_EDITS) ?? '')
}

/** Gives the catalog another digest. */
export const markEdited = (tx: Tx, edit: string): void =>
  putSeed(tx, CATALOG_EDITS, digestOf([findSeed(tx, CATALOG_EDITS) ?? '', edit]))
