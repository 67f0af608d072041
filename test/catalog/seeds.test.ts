import { beforeEach, describe, expect, test } from 'bun:test'
import { seedSampleCatalog } from '../../src/catalog/import.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { Reference } from '../../src/reference/reference.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'

let database: Database
let reference: Reference
beforeEach(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  seedReferenceData(database)
  reference = readReference()
})

const valuesOf = (sql: string) => database.sqlite.query(sql).values()
const productNames = () => valuesOf('SELECT name FROM products ORDER BY id').flat()

describe('reference data', () => {
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
  test('of another release replaces the old one', () => {
    seedSampleCatalog(database, reference)
    database.sqlite.run("UPDATE products SET name = 'Old' WHERE id = 1")
    database.sqlite.run("UPDATE seeds SET sha256 = 'older' WHERE name = 'catalog'")
    seedSampleCatalog(database, reference)
    expect(productNames()[0]).toBe('Kettle & Crumb India')
  })
})
