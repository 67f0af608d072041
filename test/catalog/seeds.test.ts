import { beforeEach, describe, expect, test } from 'bun:test'
import { catalogVersion, importCatalog, seedSampleCatalog } from '../../src/catalog/import.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import type { Reference } from '../../src/reference/reference.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { catalogEntry } from './entry.ts'

let database: Database
let reference: Reference
beforeEach(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  seedReferenceData(database)
  reference = readReference()
})

const valuesOf = (sql: string) => database.sqlite.query(sql).values()
const catalogOf = (...names: string[]) =>
  JSON.stringify({ products: names.map((name, index) => catalogEntry({ id: index + 1, name })) })
const productNames = () => valuesOf('SELECT name FROM products ORDER BY id').flat()

describe('reference data', () => {
  test('is written completely', () => {
    expect(valuesOf('SELECT count(*) FROM countries')).toEqual([[249]])
    expect(valuesOf('SELECT count(*) FROM currencies')).toEqual([[155]])
    expect(valuesOf('SELECT count(*) FROM categories')).toEqual([[14]])
    expect(valuesOf('SELECT count(*) FROM subcategories')).toEqual([[46]])
  })

  test('is written once: a second start does not change it', () => {
    database.sqlite.run("UPDATE countries SET name = 'Changed' WHERE id = 105")
    seedReferenceData(database)
    expect(valuesOf('SELECT name FROM countries WHERE id = 105')).toEqual([['Changed']])
  })

  test('of another release is updated by id, and references stay valid', () => {
    seedSampleCatalog(database, reference)
    database.sqlite.run("UPDATE countries SET name = 'Old' WHERE id = 105")
    database.sqlite.run("UPDATE currencies SET name = 'Old' WHERE id = 58")
    database.sqlite.run("UPDATE categories SET name = 'Old' WHERE id = 1")
    database.sqlite.run("UPDATE subcategories SET name = 'Old', active = 0 WHERE id = 1")
    database.sqlite.run("UPDATE seeds SET sha256 = 'older' WHERE name = 'reference'")
    seedReferenceData(database)
    expect(valuesOf('SELECT name FROM countries WHERE id = 105')).toEqual([['India']])
    expect(valuesOf('SELECT name FROM currencies WHERE id = 58')).toEqual([['Indian Rupee']])
    expect(valuesOf('SELECT name FROM categories WHERE id = 1')).toEqual([['Food & Dining']])
    expect(valuesOf('SELECT name, active FROM subcategories WHERE id = 1')).toEqual([['Cafes & Bakeries', 1]])
    expect(valuesOf('SELECT count(*) FROM countries')).toEqual([[249]])
    expect(database.sqlite.query('PRAGMA foreign_key_check').all()).toEqual([])
  })
})

describe('the catalog of the sandbox', () => {
  test('is written once: a second start does not change it', () => {
    seedSampleCatalog(database, reference)
    expect(valuesOf('SELECT count(*), sum(active) FROM products')).toEqual([[471, 459]])
    const version = catalogVersion(database)
    database.sqlite.run("UPDATE products SET name = 'Changed' WHERE id = 1")
    seedSampleCatalog(database, reference)
    expect(productNames()[0]).toBe('Changed')
    expect(catalogVersion(database)).toBe(version as string)
  })

  test('of another release replaces the old one', () => {
    seedSampleCatalog(database, reference)
    database.sqlite.run("UPDATE products SET name = 'Old' WHERE id = 1")
    database.sqlite.run("UPDATE seeds SET sha256 = 'older' WHERE name = 'catalog'")
    seedSampleCatalog(database, reference)
    expect(productNames()[0]).toBe('Kettle & Crumb India')
  })
})

describe('a catalog of the user', () => {
  test("permanently replaces the sandbox's catalog", () => {
    seedSampleCatalog(database, reference)
    const version = catalogVersion(database)
    importCatalog(database, reference, catalogOf('Mine'))
    seedSampleCatalog(database, reference)
    expect(productNames()).toEqual(['Mine'])
    expect(valuesOf('SELECT count(*) FROM product_bands')).toEqual([[1]])
    expect(catalogVersion(database)).not.toBe(version as string)
  })

  test('replaces an earlier one and changes the version', () => {
    importCatalog(database, reference, catalogOf('One', 'Two'))
    const version = catalogVersion(database)
    importCatalog(database, reference, catalogOf('Three'))
    expect(productNames()).toEqual(['Three'])
    expect(catalogVersion(database)).not.toBe(version as string)
  })

  test('is refused completely if it is invalid, and nothing changes', () => {
    importCatalog(database, reference, catalogOf('One', 'Two'))
    const version = catalogVersion(database)
    const bad = JSON.stringify({ products: [catalogEntry({ name: 'Good' }), catalogEntry({ id: 2, currency: 'XXX' })] })
    expect(() => importCatalog(database, reference, bad)).toThrow(FileFault)
    expect(productNames()).toEqual(['One', 'Two'])
    expect(catalogVersion(database)).toBe(version as string)
  })
})
