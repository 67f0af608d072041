import { Amount, type Cell, type List } from './cells.ts'

/** CSV of RFC 4180 with a header. A spreadsheet takes no text for a formula (contract C17). */
export function* csvOf({ columns, rows }: List): Generator<string> {
  yield lineOf(columns)
  for (const row of rows) yield lineOf(columns.map((column) => textOf(row[column] ?? null)))
}

const lineOf = (texts: readonly string[]): string => `${texts.map(quoted).join(',')}\r\n`

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const textOf = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number' || typeof cell === 'boolean' || cell instanceof Amount) return String(cell)
  return disarmed(Array.isArray(cell) ? cell.join(' ') : String(cell))
}

const disarmed = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
