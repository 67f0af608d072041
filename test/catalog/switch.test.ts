import { expect, test } from 'bun:test'
import { Catalog } from '../../src/catalog/catalog.ts'
import { catalogVersion, importCatalog } from '../../src/catalog/import.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { catalogEntry } from './entry.ts'

/** What is served while another catalog is imported (decision 86). */

const MANY = 1_000
const reference = readReference()

const productsOf = (name: string, count: number): string =>
  JSON.stringify({ products: Array.from({ length: count }, (_, index) => catalogEntry({ id: index + 1, name })) })

/** A catalog that is served, and an import of another process. */
const served = (text: string) => {
  const databases = [0, 1].map(() => {
    const database = Database.inMemory()
    migrate(database.sqlite, { nowMs: () => 0 })
    seedReferenceData(database)
    return database
  }) as [Database, Database]
  let current = databases[0]
  importCatalog(current, reference, text)
  const catalog = new Catalog({ database: () => current, version: catalogVersion, reference, publicUrl: '' })
  const replaceBy = (other: string): void => {
    importCatalog(current, reference, other)
    catalog.refresh()
  }
  const restore = (other: string): void => {
    current = databases[1]
    importCatalog(current, reference, other)
  }
  return { catalog, replaceBy, restore }
}

const isSwitched = async (catalog: Catalog, name: string): Promise<void> => {
  while (catalog.shared.find(1)?.name !== name) {
    expect(catalog.ready()).toBeUndefined()
    await Bun.sleep(1)
  }
}

test('a large catalog is loaded while the old one is served, whole, and nobody waits', async () => {
  const { catalog, replaceBy } = served(productsOf('Tea', MANY))
  await catalog.ready()
  replaceBy(productsOf('Cup', MANY - 1))
  expect(catalog.ready()).toBeUndefined()
  expect([catalog.shared.find(1)?.name, catalog.shared.find(MANY)?.name]).toEqual(['Tea', 'Tea'])
  await isSwitched(catalog, 'Cup')
  expect([catalog.shared.find(MANY - 1)?.name, catalog.shared.find(MANY)]).toEqual(['Cup', undefined])
})

test('a small catalog is served from the next request on', async () => {
  const { catalog, replaceBy } = served(productsOf('Tea', MANY))
  await catalog.ready()
  replaceBy(productsOf('Cup', 99))
  expect([catalog.shared.find(1)?.name, catalog.shared.find(100)]).toEqual(['Cup', undefined])
})

test('the last of several imports is served, however quickly they follow one another', async () => {
  const { catalog, replaceBy } = served(productsOf('Tea', MANY))
  await catalog.ready()
  replaceBy(productsOf('Cup', MANY))
  await Bun.sleep(1)
  replaceBy(productsOf('Jug', MANY))
  await isSwitched(catalog, 'Jug')
  await Bun.sleep(1)
  expect(catalog.shared.find(MANY)?.name).toBe('Jug')
})

test('requests wait for the first catalog, and for that of a database that was restored', async () => {
  const { catalog, restore } = served(productsOf('Tea', MANY))
  expect(catalog.ready()).toBeInstanceOf(Promise)
  await catalog.ready()
  expect(catalog.shared.find(MANY)?.name).toBe('Tea')
  restore(productsOf('Cup', MANY))
  await catalog.ready()
  expect(catalog.shared.find(MANY)?.name).toBe('Cup')
})
