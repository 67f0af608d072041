import { Amount, type Cell, type List } from '../../acts/cells.ts'
import { disarmed } from '../../kernel/formula.ts'

/**
 * CSV of RFC 4180 with a header. No text can become a formula of a spreadsheet (contract C17).
 * @param shown how a text is shown, which a terminal needs
 */
export function* csvOf({ columns, rows }: List, shown = (text: string): string => text): Generator<string> {
  const cellOf = (cell: Cell): string => {
    if (cell === null) return ''
    // Numbers need no quotes, and are not formulas.
    if (typeof cell === 'number' || typeof cell === 'boolean' || cell instanceof Amount) return String(cell)
    return csvText(disarmed(shown(Array.isArray(cell) ? cell.join(' ') : String(cell))))
  }
  yield `${columns.map(csvText).join(',')}\r\n`
  const [first = '', ...others] = columns
  for (const row of rows) {
    let line = cellOf(row[first] ?? null)
    for (const column of others) line = `${line},${cellOf(row[column] ?? null)}`
    yield `${line}\r\n`
  }
}

const csvText = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
