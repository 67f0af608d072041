import { Database as SqliteDatabase } from 'bun:sqlite'
import { join } from 'node:path'
import { migrate } from '../../src/db/migrate.ts'

/** Makes `src/db/columns.ts` of a migrated database: `bun test/db/columns.ts`. */

export const COLUMNS_FILE = join(import.meta.dir, '../../src/db/columns.ts')

interface Column {
  name: string
  type: 'INTEGER' | 'TEXT' | 'REAL' | 'BLOB'
  notnull: number
  pk: number
}

/** The types of drizzle's columns; the program reads no table with another one. */
const TYPES = ['INTEGER', 'TEXT', 'REAL', 'BLOB']

const camelCase = (name: string): string =>
  name.replace(/_folded$/, '_lower_case').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The values that a CHECK of the column allows: 0 and 1 make a boolean, and texts their union. A later migration adds `, column`. */
const valuesOf = (sql: string, column: string): string[] => {
  const definition =
    new RegExp(
      `(?:^ +|, )${column} +(?:INTEGER|TEXT)\\b.*?(?:,\\n|\\n\\)|\\) STRICT|(?=, \\w+ (?:INTEGER|TEXT|REAL|BLOB)\\b))`,
      'ms',
    ).exec(sql)?.[0] ?? ''
  const [, list] = / IN \(([^)]*)\)/.exec(definition) ?? []
  if (list !== undefined) return list.split(',').map((value) => value.trim())
  return Array.from(definition.matchAll(new RegExp(`\\b${column} = ('[^']*')`, 'g')), ([, value = '']) => value)
}

const columnSource = (sql: string, { name, type, notnull }: Column, isOnlyKey: boolean): string => {
  const values = valuesOf(sql, name)
  const texts = values.filter((value) => value.startsWith("'"))
  const made = {
    INTEGER: () => (values.join() === '0,1' ? `integer('${name}', { mode: 'boolean' })` : `integer('${name}')`),
    TEXT: () => (texts.length > 0 ? `text('${name}', { enum: [${texts.join(', ')}] })` : `text('${name}')`),
    REAL: () => `real('${name}')`,
    BLOB: () => `blob('${name}', { mode: 'buffer' })`,
  }[type]()
  return `${made}${isOnlyKey ? '.primaryKey()' : ''}${notnull === 1 ? '.notNull()' : ''}`
}

export const columnsSource = (): string => {
  const sqlite = new SqliteDatabase(':memory:', { strict: true })
  migrate(sqlite, { nowMs: () => 0 })
  const tables = sqlite
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM pragma_table_list JOIN sqlite_schema USING (name) WHERE strict = 1 AND schema = 'main' ORDER BY name",
    )
    .all()
  const sources = tables.map(({ name, sql }) => {
    const columns = sqlite
      .query<Column, [string]>('SELECT name, type, "notnull", pk FROM pragma_table_info(?)')
      .all(name)
      .filter(({ type }) => TYPES.includes(type))
    const keys = columns.filter(({ pk }) => pk > 0).length
    const lines = columns.map(
      (column) => `    ${camelCase(column.name)}: ${columnSource(sql, column, column.pk > 0 && keys === 1)},`,
    )
    return [`  ${camelCase(name)}: {`, ...lines, '  },'].join('\n')
  })
  return `import { blob, integer, real, text } from 'drizzle-orm/sqlite-core'

/** The columns of a migrated database, made by \`bun test/db/columns.ts\`, so that a column is declared in its migration alone. */
export const columns = {
${sources.join('\n')}
}
`
}

if (import.meta.main) {
  await Bun.write(COLUMNS_FILE, columnsSource())
  await Bun.$`bunx biome format --write ${COLUMNS_FILE}`.quiet()
}
