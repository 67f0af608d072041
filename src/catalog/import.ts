import { readFileSync } from 'node:fs'
import catalogPath from '../../seed/catalog.json' with { type: 'file' }
import { type Act, type AuditSeal, recordAct } from '../audit/audit.ts'
import { findAct } from '../audit/queries.ts'
import { findPrivateFile, removePrivateFile, writePrivateFileBeside } from '../db/data-folder.ts'
import type { Database, Query, Tx } from '../db/database.ts'
import { digestOf, dropSeed, findSeed, putSeed, seedOnce } from '../db/seeds.ts'
import type { Clock } from '../kernel/clock.ts'
import { atOnce, inTurns, linesOf } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { readCatalog } from './document.ts'
import { type CatalogRows, defineCategories, productIds, replaceCatalog, replacingCatalog } from './queries.ts'

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

/** A catalog file that was read and checked, as lines: who writes it reads some of them at a time. */
export const checkedCatalog = (file: string, reference: Reference): string => {
  const { products, bands, ...own } = readCatalog(file, reference)
  const bandsOf = Map.groupBy(bands, ({ productId }) => productId)
  const lines = products.map((product) => JSON.stringify([product, bandsOf.get(product.id) ?? []]))
  return [JSON.stringify({ digest: digestOf([file]), ...own }), ...lines].join('\n')
}

interface Checked {
  digest: string
  rows: CatalogRows
}

const LINES_PER_PART = 100

function* reading(lines: Iterator<string, undefined>): Generator<void, Checked> {
  const { digest, ...own } = JSON.parse(lines.next().value ?? '') as Checked &
    Pick<CatalogRows, 'categories' | 'subcategories'>
  const rows: CatalogRows = { products: [], bands: [], ...own }
  for (let line = lines.next(); !line.done; line = lines.next()) {
    const [product, bands] = JSON.parse(line.value) as [CatalogRows['products'][number], CatalogRows['bands']]
    rows.bands.push(...bands)
    if (rows.products.push(product) % LINES_PER_PART === 0) yield
  }
  return { digest, rows }
}

/** Who imports: with the file, it outlives a process that is killed. */
type Importer = Pick<Act, 'act' | 'user' | 'command' | 'subject'>

interface Importing {
  dataDir: string
  query: Query
  write: (work: (tx: Tx) => void) => Promise<void>
  importer: Importer
  onProgress: (what: string, done: number, total: number) => void
  /** Called in the last transaction. */
  record: (tx: Tx, change: { before: object; after: object }) => void
}

/**
 * Like {@link importCatalog} of a checked catalog, in small transactions between which others write; the last one makes it the
 * catalog. Called under the import lock. Returns the number of products.
 */
export const importCatalogInSteps = async (checked: string, importing: Importing): Promise<number> => {
  const { dataDir, query, write, importer, onProgress, record } = importing
  const { digest, rows } = await inTurns(reading(linesOf(checked)))
  await writePrivateFileBeside(dataDir, NEXT_CATALOG, `${JSON.stringify(importer)}\n${checked}`)
  const replaced = productIds(query)
  const steps = [...replacingCatalog(rows, replaced)]
  for (const [index, step] of steps.entries()) {
    onProgress('writing products', index, steps.length)
    await write(step)
  }
  await write((tx) => {
    finish(tx, { digest, rows })
    record(tx, changeOf(replaced, rows))
  })
  removePrivateFile(dataDir, NEXT_CATALOG)
  return rows.products.length
}

const finish = (tx: Tx, { digest, rows }: Checked): void => {
  dropSeed(tx, CATALOG_SEED)
  defineCategories(tx, rows)
  putSeed(tx, CATALOG_FILE, digest)
}

const changeOf = (replaced: readonly number[], { products }: CatalogRows) => ({
  before: { products: replaced.length },
  after: { products: products.length },
})

interface Finishing {
  dataDir: string
  database: Database
  seals: (query: Query) => AuditSeal | undefined
  clock: Clock
}

/** Finishes an import whose process was killed, before anything else is done with the folder. */
export const finishCatalogImport = ({ dataDir, database, seals, clock }: Finishing): void => {
  const lines = findPrivateFile(dataDir, NEXT_CATALOG)?.toString('utf8')
  if (lines === undefined) return
  const each = linesOf(lines)
  const importer = JSON.parse(each.next().value ?? '') as Importer
  const checked = atOnce(reading(each))
  database.fill((tx) => {
    if (findAct(tx, importer.act ?? '')) return // it was done, and the file is left
    const change = changeOf(productIds(tx), checked.rows)
    replaceCatalog(tx, checked.rows)
    finish(tx, checked)
    recordAct(tx, seals(tx), { ...importer, ...change, atMs: clock.nowMs(), outcome: 'done', address: null })
  })
  removePrivateFile(dataDir, NEXT_CATALOG)
}

/** The digest of the catalog that was written last. */
export const catalogVersion = ({ query }: Database): string | undefined =>
  findSeed(query, CATALOG_FILE) ?? findSeed(query, CATALOG_SEED)
