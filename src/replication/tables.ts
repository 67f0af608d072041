import type { Database as SqliteDatabase } from 'bun:sqlite'
import { isOfCounts } from '../db/counts.ts'

/** The tables of the data, as the migrations have made them. The tables in PostgreSQL follow from them (contract C18). */

export interface Column {
  name: string
  type: 'INTEGER' | 'TEXT' | 'REAL' | 'BLOB'
  isRequired: boolean
}

export interface Table {
  name: string
  columns: readonly Column[]
  key: readonly string[]
  /** The unique constraints besides the key. */
  unique: readonly { name: string; columns: readonly string[]; condition: string | undefined }[]
  /** True if the ids of deleted rows are not reused. */
  countsIds: boolean
}

/** The type of PostgreSQL that holds the same values. */
export const POSTGRES_TYPES: Readonly<Record<Column['type'], string>> = {
  INTEGER: 'bigint',
  TEXT: 'text',
  REAL: 'float8',
  BLOB: 'bytea',
}

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Tables that belong to one database alone: its migrations, and its position as a copy. So do counts, which its triggers keep. */
const OWN = ['migrations', 'record_copy']
/** SQLite's own table with the last id of tables that count their ids. It has no key and takes no triggers. */
export const COUNTERS = 'sqlite_sequence'

export const tablesOf = (sqlite: SqliteDatabase): Table[] => {
  const names = sqlite
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_litestream%' ESCAPE '\\' ORDER BY name",
    )
    .all()
    .filter(({ name }) => !OWN.includes(name) && !isOfCounts(name))
  return [...names.map(({ name, sql }) => tableOf(sqlite, name, sql)), COUNTER_TABLE]
}

const COUNTER_TABLE: Table = {
  name: COUNTERS,
  columns: [
    { name: 'name', type: 'TEXT', isRequired: true },
    { name: 'seq', type: 'INTEGER', isRequired: true },
  ],
  key: ['name'],
  unique: [],
  countsIds: false,
}

const tableOf = (sqlite: SqliteDatabase, name: string, sql: string): Table => {
  const info = sqlite
    .query<{ name: string; type: Column['type']; notnull: number; pk: number }, [string]>(
      'SELECT name, type, "notnull", pk FROM pragma_table_info(?)',
    )
    .all(name)
  const key = info
    .filter(({ pk }) => pk > 0)
    .sort((one, other) => one.pk - other.pk)
    .map((column) => column.name)
  return {
    name,
    columns: info.map((column) => ({
      name: column.name,
      type: column.type,
      isRequired: column.notnull === 1 || column.pk > 0,
    })),
    key,
    unique: uniqueOf(sqlite, name),
    countsIds: /\bAUTOINCREMENT\b/.test(sql),
  }
}

const uniqueOf = (sqlite: SqliteDatabase, table: string): Table['unique'] =>
  sqlite
    .query<{ name: string; sql: string | null }, [string]>(
      `SELECT l.name, s.sql FROM pragma_index_list(?) AS l JOIN sqlite_schema AS s ON s.name = l.name
        WHERE l."unique" = 1 AND l.origin <> 'pk' ORDER BY l.name`,
    )
    .all(table)
    .map(({ name, sql }) => {
      const columns = sqlite
        .query<{ name: string }, [string]>('SELECT name FROM pragma_index_info(?) ORDER BY seqno')
        .all(name)
        .map((column) => column.name)
      const condition = /\bWHERE\b(.*)$/is.exec(sql ?? '')?.[1]?.trim()
      return { name: `${table}_${columns.join('_')}_unique`, columns, condition }
    })
