import { Database as SqliteDatabase } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { migrate } from '../../src/db/migrate.ts'
import { COLUMNS_FILE, columnsSource } from './columns.ts'

interface Column {
  name: string
  type: string
  notnull: number
  pk: number
}

const SOURCE = `${import.meta.dir}/../../src`

/** Every table that the source declares, by the name of the file. */
const declaredTables = async () => {
  const tables: { file: string; table: SQLiteTable }[] = []
  for (const file of [...new Bun.Glob('**/tables.ts').scanSync(SOURCE)].sort()) {
    const module = (await import(`${SOURCE}/${file}`)) as Record<string, unknown>
    for (const exported of Object.values(module)) {
      if (is(exported, SQLiteTable)) tables.push({ file, table: exported })
    }
  }
  return tables
}

const sqlite = new SqliteDatabase(':memory:', { strict: true })
migrate(sqlite, { nowMs: () => 0 })
const declared = await declaredTables()
const names = sqlite
  .query<{ name: string; strict: number }, []>(
    "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  .all()

const columnsOf = (table: string) =>
  sqlite.query<Column, [string]>('SELECT name, lower(type) AS type, "notnull", pk FROM pragma_table_info(?)').all(table)

describe('the tables of the source are the tables of the database', () => {
  test.each(declared.map(({ file, table }) => [getTableConfig(table).name, file, table] as const))(
    '%s, declared in %s',
    (name, _, declaredTable) => {
      const inDatabase = columnsOf(name)
      const keys = inDatabase.filter(({ pk }) => pk > 0).length
      expect(inDatabase).not.toBeEmpty()
      expect(
        getTableConfig(declaredTable).columns.map((column) => ({
          name: column.name,
          type: column.getSQLType(),
          isRequired: column.notNull,
          isKey: column.primary,
        })),
      ).toEqual(
        inDatabase.map(({ name: column, type, notnull, pk }) => ({
          name: column,
          type,
          isRequired: notnull === 1 || pk > 0,
          isKey: pk > 0 && keys === 1,
        })),
      )
    },
  )

  test('their columns are made of a migrated database', async () => {
    const withoutLayout = (source: string) => source.replace(/\s+|,(?=\s*[\]}])/g, '')
    expect(withoutLayout(await Bun.file(COLUMNS_FILE).text())).toBe(withoutLayout(columnsSource()))
  })
})

describe('the schema', () => {
  test('has only STRICT tables', () => {
    expect(names.length).toBeGreaterThanOrEqual(declared.length)
    expect(names.filter(({ strict }) => strict !== 1)).toEqual([])
  })
})

describe('constraints of the database', () => {
  beforeAll(() => {
    sqlite.run('PRAGMA foreign_keys = ON')
  })

  test.each([
    ['a country code of three letters', "INSERT INTO countries VALUES (1, 'X', 'X', 'XXX', 'XXX', '001', '+1')"],
    ['a precision beyond 4', "INSERT INTO currencies VALUES (1, 'X', 'XXX', 5)"],
    ['text where a number belongs', "INSERT INTO categories VALUES (1, 'X', 'yes')"],
    ['a discount above 100 %', 'INSERT INTO client_discounts VALUES (1, 1, 10001)'],
    ['a band that ends before it starts', 'INSERT INTO product_bands VALUES (1, 0, 2, 1, 0)'],
    [
      'metadata that is no JSON',
      "INSERT INTO beneficiaries VALUES ('b', 1, '', '', '', '', '', '', '', NULL, NULL, '{', 0, 0, NULL, 0)",
    ],
    [
      'a beneficiary of nobody',
      "INSERT INTO beneficiaries VALUES ('b', 9, '', '', '', '', '', '', '', NULL, NULL, '{}', 0, 0, NULL, 0)",
    ],
    ['a key of nobody', "INSERT INTO idempotency_keys VALUES (9, 'k', 's', 200, '', 0)"],
    ['a subcategory of no category', "INSERT INTO subcategories VALUES (1, 9, 'X', 1)"],
  ])('%s', (_, statement) => {
    expect(() => sqlite.run(statement)).toThrow(/constraint failed|cannot store/)
  })
})
