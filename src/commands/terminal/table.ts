import { Amount, type List, type Row, textOf } from '../../acts/cells.ts'

/** A list for people: a table or, if the terminal is too narrow, lines of name and value. */

const GAP = '  '

interface Column {
  /** The name, and a text for each row. */
  texts: string[]
  width: number
  isNumeric: boolean
}

/** The most rows of a table, whose widths are computed before the first is printed. Further rows begin another table. */
const ROWS_MAX = 10_000

export function* tableOf({ columns, rows, total }: List): Generator<string> {
  let count = 0
  for (const part of partsOf(rows)) {
    yield* partOf(columns, part)
    count += part.length
  }
  if (count === 0) yield '(none)\n'
  else if (total !== undefined)
    yield total > count ? `${count} of ${total}: --limit shows more.\n` : `${count} in all.\n`
}

function* partsOf(rows: Iterable<Row>): Generator<Row[]> {
  let part: Row[] = []
  for (const row of rows) {
    if (part.push(row) < ROWS_MAX) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

function* partOf(names: readonly string[], rows: readonly Row[]): Generator<string> {
  const columns = names.map((name) => columnOf(name, rows))
  const width = columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length)
  if (process.stdout.isTTY && width > process.stdout.columns) {
    for (const row of rows) yield `${recordOf(row)}\n`
  } else {
    for (let line = 0; line <= rows.length; line++)
      yield `${columns
        .map((column) => cellOf(column, line))
        .join(GAP)
        .trimEnd()}\n`
  }
}

/** A row as lines of name and value. */
export const recordOf = (row: Row): string => {
  const width = Math.max(...Object.keys(row).map((name) => name.length))
  return Object.entries(row)
    .map(([name, cell]) => `${name.padEnd(width)}${GAP}${textOf(cell)}\n`)
    .join('')
}

const columnOf = (name: string, rows: readonly Row[]): Column => {
  const texts = [name, ...rows.map((row) => textOf(row[name]))]
  const width = Math.max(...texts.map((text) => Bun.stringWidth(text)))
  const isNumeric = rows.some((row) => typeof row[name] === 'number' || row[name] instanceof Amount)
  return { texts, width, isNumeric }
}

const cellOf = ({ texts, width, isNumeric }: Column, line: number): string => {
  const text = texts[line] ?? ''
  const padding = ' '.repeat(width - Bun.stringWidth(text))
  return isNumeric ? padding + text : text + padding
}
