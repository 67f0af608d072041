import { readFileSync } from 'node:fs'
import catalogPath from '../../seed/catalog.json' with { type: 'file' }
import { forget, keep, readKept } from '../db/data-folder.ts'
import type { Database, Query, Tx } from '../db/database.ts'
import { dropSeed, findSeed, putSeed, seedOnce } from '../db/seeds.ts'
import type { Reference } from '../reference/reference.ts'
import { readCatalog } from './document.ts'
import { defineCategories, type OnRows, productIds, replaceCatalog, replacingCatalog } from './queries.ts'

/** How a catalog gets into a database: the one that the program carries, or a file of the operator's (contract C8). */

/** Where the products of a database came from: the sandbox's own catalog gives way to one that was imported. */
const CATALOG_SEED = 'catalog'
const CATALOG_FILE = 'catalog-file'
/** The catalog file of an import that has begun. */
const NEXT_CATALOG = 'catalog.next'

/** The products of the sandbox, unless a catalog was imported. */
export const seedSandboxCatalog = (database: Database, reference: Reference): void => {
  if (findSeed(database.query, CATALOG_FILE) !== undefined) return
  const catalogJson = readFileSync(catalogPath, 'utf8')
  seedOnce(database, CATALOG_SEED, [catalogJson], (tx) => replaceCatalog(tx, readCatalog(catalogJson, { reference })))
}

/**
 * Replaces all products by those of a catalog file.
 *
 * @throws CatalogFault, and then nothing has changed
 */
export const importCatalog = (database: Database, reference: Reference, file: string): void => {
  const rows = readCatalog(file, { reference })
  seedOnce(database, CATALOG_FILE, [file], (tx) => {
    dropSeed(tx, CATALOG_SEED)
    replaceCatalog(tx, rows)
    defineCategories(tx, rows)
  })
}

/** How a catalog is imported beside a server. */
interface Importing {
  dataDir: string
  query: Query
  write: (work: (tx: Tx) => void) => Promise<void>
  reference: Reference
  onProgress?: OnRows
}

/**
 * As {@link importCatalog}, in transactions of a few rows, so that a server goes on beside it. It takes over the new
 * catalog with the last of them. Called under the lock of imports. Answers how many products there are.
 *
 * @throws CatalogFault, and then nothing has changed
 */
export const importCatalogInSteps = async (file: string, importing: Importing): Promise<number> => {
  const { dataDir, query, write, reference, onProgress } = importing
  const rows = readCatalog(file, { reference, onRows: onProgress })
  keep(dataDir, NEXT_CATALOG, file)
  const steps = [...replacingCatalog(rows, productIds(query))]
  for (const [index, step] of steps.entries()) {
    onProgress?.('writing products', index, steps.length)
    await write(step)
  }
  await write((tx) => {
    dropSeed(tx, CATALOG_SEED)
    defineCategories(tx, rows)
    putSeed(tx, CATALOG_FILE, [file])
  })
  forget(dataDir, NEXT_CATALOG)
  return rows.products.length
}

/** Finishes an import that was interrupted, before anyone reads the catalog. Called under the lock of imports, or of a server. */
export const finishCatalogImport = (dataDir: string, database: Database, reference: Reference): void => {
  const file = readKept(dataDir, NEXT_CATALOG)?.toString('utf8')
  if (file === undefined) return
  importCatalog(database, reference, file)
  forget(dataDir, NEXT_CATALOG)
}

/** Tells one catalog from another: the digest of the one that was written last. */
export const catalogVersion = ({ query }: Database): string | undefined =>
  findSeed(query, CATALOG_FILE) ?? findSeed(query, CATALOG_SEED)
