import { expect, test } from 'bun:test'
import { Catalog } from '../../src/catalog/catalog.ts'
import { catalogVersion, importCatalog } from '../../src/catalog/import.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { catalogEntry } from './entry.ts'

/** Requests are served from the old catalog while another one is imported (decision 31). */

const reference = readReference()

const productsOf = (name: string, count: number): string =>
  JSON.stringify({ products: Array.from({ length: count }, (_, index) => catalogEntry({ id: index + 1, name })) })

/** A catalog that is served, and an import of another process. */
const served = (text: string) => {
  const database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  seedReferenceData(database)
  importCatalog(database, reference, text)
  const broken: unknown[] = []
  const onBroken = (error: unknown) => broken.push(error)
  const catalog = new Catalog({ database: () => database, version: catalogVersion, reference, publicUrl: '', onBroken })
  const replaceBy = (other: string, afterwards = '', before = ''): void => {
    if (before) database.sqlite.run(before)
    importCatalog(database, reference, other)
    if (afterwards) database.sqlite.run(afterwards)
    catalog.refresh()
  }
  return { catalog, replaceBy, broken }
}

const nameIn = (catalog: Catalog): string | undefined => catalog.shared.find(1)?.name

test('the present catalog stays in use while another one cannot be read, and that is logged', () => {
  const { catalog, replaceBy, broken } = served(productsOf('Tea', 1))
  expect(nameIn(catalog)).toBe('Tea')
  replaceBy(productsOf('Cup', 1), 'ALTER TABLE products RENAME TO lost')
  expect(nameIn(catalog)).toBe('Tea')
  expect(broken.map(String)).toEqual([expect.stringContaining('products')])
  replaceBy(productsOf('Jug', 1), undefined, 'ALTER TABLE lost RENAME TO products')
  expect(nameIn(catalog)).toBe('Jug')
})
