import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import catalogPath from '../../seed/catalog.json' with { type: 'file' }
import categoriesJson from '../../seed/categories.json' with { type: 'text' }
import countriesJson from '../../seed/countries.json' with { type: 'text' }
import currenciesJson from '../../seed/currencies.json' with { type: 'text' }
import ratesJson from '../../seed/rates.json' with { type: 'text' }
import subcategoriesJson from '../../seed/subcategories.json' with { type: 'text' }
import { type CategoryNames, readCatalog } from '../catalog/document.ts'
import {
  type CatalogRows,
  type CategorySeed,
  defineCategories,
  type OnRows,
  productIds,
  replaceCatalog,
  replacingCatalog,
  seedCategories,
} from '../catalog/queries.ts'
import { forget, keep, keepDatabase, readKept } from '../db/data-folder.ts'
import { Database, PAGE_BYTES, type Query, type Tx } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { keepMode } from '../db/mode.ts'
import type { Clock } from '../kernel/clock.ts'
import { seedReference } from '../reference/queries.ts'
import { type CountryWire, type Currency, Reference, type ReferenceSeed } from '../reference/reference.ts'

/** What the program carries in `seed/`, and how it gets into a database: each seed once, and again when it changed. */

const seeds = sqliteTable('seeds', { name: text('name').primaryKey(), sha256: text('sha256').notNull() })

const carriedReference = (): ReferenceSeed => ({
  countries: JSON.parse(countriesJson) as CountryWire[],
  currencies: JSON.parse(currenciesJson) as Currency[],
})

/** The countries and currencies that this release knows. */
export const readReference = (): Reference => new Reference(carriedReference)

const REFERENCE_SOURCES = [countriesJson, currenciesJson, categoriesJson, subcategoriesJson]

/** Countries, currencies and categories, as this release knows them. */
export const seedReferenceData = (database: Database): void =>
  plant(database, 'reference', REFERENCE_SOURCES, (tx) => {
    seedReference(tx, carriedReference())
    seedCategories(tx, {
      categories: JSON.parse(categoriesJson) as CategorySeed['categories'],
      subcategories: JSON.parse(subcategoriesJson) as CategorySeed['subcategories'],
    })
  })

/**
 * Makes the database of a folder that has none, as a fresh one of this mode: in memory, and then written whole, so that
 * a process that is killed leaves all of it or none. Called under a lock on the folder.
 */
export const makeSeededDatabase = (dataDir: string, mode: 'sandbox' | 'live', clock: Clock): void => {
  const database = Database.inMemory()
  database.sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  migrate(database.sqlite, clock)
  keepMode(database.sqlite, mode)
  seedReferenceData(database)
  keepDatabase(dataDir, database.closeToImage())
}

const namesIn = (json: string): ReadonlySet<string> =>
  new Set((JSON.parse(json) as { name: string }[]).map(({ name }) => name))

/** The categories and subcategories that the program defines itself. */
export const PROGRAM_CATEGORIES: CategoryNames = {
  categories: namesIn(categoriesJson),
  subcategories: namesIn(subcategoriesJson),
}

/** Where the products of a database came from: the sandbox's own catalog gives way to one that was imported. */
const CATALOG_SEED = 'catalog'
const CATALOG_FILE = 'catalog-file'

/** The products of the sandbox, unless a catalog was imported. */
export const seedSandboxCatalog = (database: Database, reference: Reference): void => {
  if (findSeed(database.query, CATALOG_FILE)) return
  const catalogJson = readFileSync(catalogPath, 'utf8')
  plant(database, CATALOG_SEED, [catalogJson], (tx) =>
    replaceCatalog(tx, readCatalog(catalogJson, { reference, known: PROGRAM_CATEGORIES })),
  )
}

/**
 * Puts the products of a catalog file in the place of all that are there, and answers them.
 *
 * @throws CatalogFault, and then nothing has changed
 */
export const importCatalog = (
  database: Database,
  reference: Reference,
  file: string,
  onProgress?: OnRows,
): CatalogRows => {
  const rows = readCatalog(file, { reference, known: PROGRAM_CATEGORIES, onRows: onProgress })
  plant(database, CATALOG_FILE, [file], (tx) => {
    tx.delete(seeds).where(eq(seeds.name, CATALOG_SEED)).run()
    replaceCatalog(tx, rows, onProgress)
    defineCategories(tx, rows)
  })
  return rows
}

/** The catalog file of an import that has begun: whoever opens the folder next ends what was broken off. */
const NEXT_CATALOG = 'catalog.next'

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
 * catalog with the last of them. Called under the lock of imports.
 *
 * @throws CatalogFault, and then nothing has changed
 */
export const importCatalogInSteps = async (file: string, importing: Importing): Promise<CatalogRows> => {
  const { dataDir, query, write, reference, onProgress } = importing
  const rows = readCatalog(file, { reference, known: PROGRAM_CATEGORIES, onRows: onProgress })
  keep(dataDir, NEXT_CATALOG, file)
  const steps = [...replacingCatalog(rows, productIds(query))]
  for (const [index, step] of steps.entries()) {
    onProgress?.('writing products', index, steps.length)
    await write(step)
  }
  await write((tx) => {
    tx.delete(seeds).where(eq(seeds.name, CATALOG_SEED)).run()
    defineCategories(tx, rows)
    putSeed(tx, CATALOG_FILE, digestOf([file]))
  })
  forget(dataDir, NEXT_CATALOG)
  return rows
}

/** Ends an import that was broken off, before anyone reads the catalog. Called under the lock of imports, or of a server. */
export const endCatalogImport = (dataDir: string, database: Database, reference: Reference): void => {
  const file = readKept(dataDir, NEXT_CATALOG)?.toString('utf8')
  if (file === undefined) return
  importCatalog(database, reference, file)
  forget(dataDir, NEXT_CATALOG)
}

/** Tells one catalog from another: the digest of what was planted last. */
export const catalogVersion = ({ query }: Database): string | undefined =>
  (findSeed(query, CATALOG_FILE) ?? findSeed(query, CATALOG_SEED))?.sha256

/** The exchange rates of the sandbox. */
export const SANDBOX_RATES = ratesJson

const plant = (database: Database, name: string, sources: readonly string[], write: (tx: Tx) => void): void => {
  const sha256 = digestOf(sources)
  database.fill((tx) => {
    if (findSeed(tx, name)?.sha256 === sha256) return
    write(tx)
    putSeed(tx, name, sha256)
  })
}

const digestOf = (sources: readonly string[]): string => createHash('sha256').update(sources.join('\0')).digest('hex')

const putSeed = (tx: Tx, name: string, sha256: string): void => {
  tx.insert(seeds).values({ name, sha256 }).onConflictDoUpdate({ target: seeds.name, set: { sha256 } }).run()
}

const findSeed = (query: Query, name: string) => query.select().from(seeds).where(eq(seeds.name, name)).limit(1).get()
