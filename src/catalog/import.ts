import { readFileSync } from 'node:fs'
import catalogPath from '../../seed/catalog.json' with { type: 'file' }
import { findPrivateFile, removePrivateFile, writePrivateFile } from '../db/data-folder.ts'
import type { Database, Tx } from '../db/database.ts'
import { digestOf, dropSeed, findSeed, putSeed, seedOnce } from '../db/seeds.ts'
import type { Reference } from '../reference/reference.ts'
import { readCatalog } from './document.ts'
import { defineCategories, productIds, replaceCatalog, replacingCatalog } from './queries.ts'

/** Imports into a database: the sample catalog, or the operator's file (contract C8). */

/** The origins of a catalog. The sample gives way to an imported one. */
const CATALOG_SEED = 'catalog'
const CATALOG_FILE = 'catalog-file'
/** The catalog file of an unfinished import. */
export const NEXT_CATALOG = 'catalog.next'

/** Skipped if a catalog was imported. */
export const seedSampleCatalog = (database: Database, reference: Reference): void => {
  if (findSeed(database.query, CATALOG_FILE) !== undefined) return
  const catalogJson = readFileSync(catalogPath, 'utf8')
  seedOnce(database, CATALOG_SEED, [catalogJson], (tx) => replaceCatalog(tx, readCatalog(catalogJson, reference)))
}

/** Replaces all products. @throws FileFault, and then nothing has changed */
export const importCatalog = (database: Database, reference: Reference, file: string): void => {
  const rows = readCatalog(file, reference)
  seedOnce(database, CATALOG_FILE, [file], (tx) => {
    dropSeed(tx, CATALOG_SEED)
    replaceCatalog(tx, rows)
    defineCategories(tx, rows)
  })
}

interface Importing {
  dataDir: string
  database: Pick<Database, 'query' | 'setDurable'>
  write: (work: (tx: Tx) => void) => Promise<void>
  reference: Reference
  onProgress?: (what: string, done: number, total: number) => void
  /** Called in the last transaction. */
  record?: (tx: Tx, change: { before: object; after: object }) => void
}

/**
 * Like {@link importCatalog}, in small transactions while a server runs, which switches over after the last one.
 * Called under the import lock. Returns the number of products. @throws FileFault, and then nothing has changed
 */
export const importCatalogInSteps = async (file: string, importing: Importing): Promise<number> => {
  const { dataDir, database, write, reference, onProgress, record } = importing
  const rows = readCatalog(file, reference)
  writePrivateFile(dataDir, NEXT_CATALOG, file)
  const digest = digestOf([file])
  const replaced = productIds(database.query)
  const steps = [...replacingCatalog(rows, replaced)]
  database.setDurable(false) // after a loss of power, the file that was just written is imported again
  try {
    for (const [index, step] of steps.entries()) {
      onProgress?.('writing products', index, steps.length)
      await write(step)
    }
  } finally {
    database.setDurable(true)
  }
  await write((tx) => {
    dropSeed(tx, CATALOG_SEED)
    defineCategories(tx, rows)
    putSeed(tx, CATALOG_FILE, digest)
    record?.(tx, { before: { products: replaced.length }, after: { products: rows.products.length } })
  })
  removePrivateFile(dataDir, NEXT_CATALOG)
  return rows.products.length
}

/** Finishes an interrupted import. Called under the import lock or the lock of a server, before the catalog is read. */
export const finishCatalogImport = (dataDir: string, database: Database, reference: Reference): void => {
  const file = findPrivateFile(dataDir, NEXT_CATALOG)?.toString('utf8')
  if (file === undefined) return
  importCatalog(database, reference, file)
  removePrivateFile(dataDir, NEXT_CATALOG)
}

/** The digest of the catalog that was written last. */
export const catalogVersion = ({ query }: Database): string | undefined =>
  findSeed(query, CATALOG_FILE) ?? findSeed(query, CATALOG_SEED)
