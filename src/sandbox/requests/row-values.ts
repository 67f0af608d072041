import type { Database } from '../../db/database.ts'
import { redactedMember } from './redaction.ts'

/** The values of rows that requests have written, as the detail of a request shows them (decision 14). */

/** The columns of a row and their values, without secrets. */
type RowValues = Record<string, unknown>

interface Column {
  name: string
  type: string
  /** The place in the primary key, from 1; 0 outside of it. */
  pk: number
}

/** All worlds have the schema of the program. */
const columnsByTable = new Map<string, Column[]>()

const columnsOf = (sqlite: Database['sqlite'], table: string): Column[] => {
  const known = columnsByTable.get(table)
  if (known) return known
  const columns = sqlite.query<Column, [string]>('SELECT name, type, pk FROM pragma_table_info(?)').all(table)
  columnsByTable.set(table, columns)
  return columns
}

export const keyOf = (sqlite: Database['sqlite'], table: string): string[] =>
  columnsOf(sqlite, table)
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name)

/** Of a text. */
const CHARACTERS_MAX = 2_000
/** Of a row whose texts are not cut. */
const ROW_CHARACTERS_MAX = 8_000
/** The search key of a voucher code. Encrypted values are BLOBs. */
const SECRET_COLUMN = 'fingerprint'

/** Makes a JSON array of the values of a row: secrets never leave the database. */
export const valuesSql = (sqlite: Database['sqlite'], table: string, row: string): string => {
  const values = columnsOf(sqlite, table).map(({ name, type }) => {
    const value = `${row}."${name}"`
    return type === 'BLOB' || name === SECRET_COLUMN ? `iif(${value} IS NULL, NULL, '[redacted]')` : value
  })
  return `json_array(${values.join(', ')})`
}

export const valuesFrom = (sqlite: Database['sqlite'], table: string, values: string | null): RowValues | null => {
  if (values === null) return null
  const list = JSON.parse(values) as unknown[]
  return Object.fromEntries(
    columnsOf(sqlite, table).map(({ name }, index) => [name, cut(redactedMember(name, list[index]))]),
  )
}

/** Shortens a row with much metadata, so that it takes little of the request log. Most rows are short, and stay as they are. */
export const shortened = (values: string | null): string | null =>
  values === null || values.length <= ROW_CHARACTERS_MAX
    ? values
    : JSON.stringify((JSON.parse(values) as unknown[]).map(cut))

const cut = (value: unknown): unknown =>
  typeof value === 'string' && value.length > CHARACTERS_MAX ? `${value.slice(0, CHARACTERS_MAX)}…` : value
