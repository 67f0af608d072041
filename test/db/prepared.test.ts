import { afterAll, describe, expect, test } from 'bun:test'
import { desc, eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { Database, type Tx } from '../../src/db/database.ts'
import {
  preparedFirst,
  preparedInsert,
  preparedInsertCounted,
  preparedOne,
  preparedPut,
} from '../../src/db/prepared.ts'

/** Prepared statements give the rows that drizzle gives, and write what drizzle writes. */

const people = sqliteTable('people', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  isActive: integer('is_active', { mode: 'boolean' }).notNull(),
  note: text('note'),
})
const pets = sqliteTable('pets', {
  id: integer('id').primaryKey(),
  ownerId: integer('owner_id').notNull(),
  name: text('name').notNull(),
})

const open = (): Database => {
  const database = Database.inMemory()
  database.sqlite.run(
    'CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_active INTEGER NOT NULL, note TEXT)',
  )
  database.sqlite.run('CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, name TEXT NOT NULL)')
  return database
}
const database = open()
const ADA = { id: 1, name: 'Ada', isActive: true, note: null }
const BOB = { id: 2, name: 'Bob', isActive: false, note: 'asks "why?"' }
const insertPerson = preparedInsert(people)
const insertPet = preparedInsert(pets)
database.fill((tx) => {
  for (const person of [ADA, BOB]) insertPerson(tx, person)
  insertPet(tx, { id: null, ownerId: 2, name: 'Rex' })
})
afterAll(() => database.close())

describe('A prepared statement', () => {
  const byName = preparedOne(people, eq(people.name, sql.placeholder('name')))
  const firstActive = preparedFirst(people, eq(people.isActive, sql.placeholder('isActive')), desc(people.id))

  test('reads a row with booleans and null, or nothing', () => {
    expect(byName(database.query, { name: 'Ada' })).toEqual(ADA)
    expect(byName(database.query, { name: 'Eve' })).toBeUndefined()
  })

  test('reads the first of several rows, in order', () => {
    expect(firstActive(database.query, { isActive: 0 })).toEqual(BOB)
    expect(firstActive(database.query, { isActive: 2 })).toBeUndefined()
  })

  test('serves each connection with its own rows', () => {
    const other = open()
    expect(byName(other.query, { name: 'Ada' })).toBeUndefined()
    expect(byName(database.query, { name: 'Ada' })).toEqual(ADA)
    other.close()
  })
})

describe('A prepared insert', () => {
  test('returns the id that the database has counted, of a row with what the database computes', () => {
    const insert = preparedInsertCounted(pets, { name: sql`upper('max')` })
    const id = database.fill((tx: Tx) => insert(tx, { ownerId: 1 }))
    const row = database.query.select().from(pets).where(eq(pets.id, id)).get()
    expect(row).toEqual({ id: 2, ownerId: 1, name: 'MAX' })
  })

  test('puts a row in the place of the one with its key', () => {
    const put = preparedPut(people, [people.id])
    const renamed = { ...BOB, name: 'Robert', isActive: true }
    database.fill((tx: Tx) => put(tx, renamed))
    expect(database.query.select().from(people).where(eq(people.id, 2)).get()).toEqual(renamed)
  })
})
