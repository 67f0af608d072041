import { afterAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { Database, type Query, type Tx } from '../../src/db/database.ts'
import { prepared } from '../../src/db/planned.ts'
import { preparedInsert, preparedInsertCounted, preparedPut } from '../../src/db/prepared.ts'

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
  const activeOnes = prepared((query: Query) =>
    query
      .select()
      .from(people)
      .where(eq(people.isActive, true))
      .orderBy(people.id)
      .limit(sql.placeholder('count'))
      .prepare(),
  )
  const byName = prepared((query: Query) =>
    query
      .select()
      .from(people)
      .where(eq(people.name, sql.placeholder('name')))
      .limit(1)
      .prepare(),
  )
  const petsOf = prepared((query: Query) =>
    query
      .select({ owner: people.name, pet: pets.name })
      .from(people)
      .leftJoin(pets, eq(pets.ownerId, people.id))
      .where(eq(people.isActive, sql.placeholder('isActive')))
      .limit(5)
      .prepare(),
  )

  test('reads a row with booleans and null', () => {
    expect(byName(database.query).get({ name: 'Ada' })).toEqual(ADA)
    expect(byName(database.query).get({ name: 'Bob' })).toEqual(BOB)
  })

  test('reads nothing where there is no row', () => {
    expect(byName(database.query).get({ name: 'Eve' })).toBeUndefined()
    expect(activeOnes(database.query).all({ count: 0 })).toEqual([])
  })

  test('reads all rows up to a limit', () => {
    expect(activeOnes(database.query).all({ count: 5 })).toEqual([ADA])
  })

  test('of two tables names what it reads of them, which may be nothing', () => {
    expect(petsOf(database.query).all({ isActive: true })).toEqual([{ owner: 'Ada', pet: null }])
    expect(petsOf(database.query).get({ isActive: false })).toEqual({ owner: 'Bob', pet: 'Rex' })
  })

  test('of whole rows of two tables is refused', () => {
    const whole = prepared((query: Query) =>
      query.select().from(people).innerJoin(pets, eq(pets.ownerId, people.id)).prepare(),
    )
    expect(() => whole(database.query)).toThrow('a row of several tables names its members: people')
  })

  test('serves each connection with its own rows', () => {
    const other = open()
    expect(byName(other.query).get({ name: 'Ada' })).toBeUndefined()
    expect(byName(database.query).get({ name: 'Ada' })).toEqual(ADA)
    other.close()
  })

  test('names a value that is missing', () => {
    expect(() => byName(database.query).get({})).toThrow('the statement has no value for name')
  })

  test('refuses a text with a question mark that is no parameter', () => {
    const asking = prepared((query: Query) =>
      query.select({ n: sql<number>`1` }).from(people).where(sql`${people.note} = 'why?'`).prepare(),
    )
    expect(() => asking(database.query)).toThrow('a question mark is not a parameter')
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
