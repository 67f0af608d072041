import { Amount, Facts, type List, type Row, textOf } from './cells.ts'

/** A list for people: a table. A terminal gets the columns for which it is wide enough. */

const GAP = '  '
/** Narrower columns of text, or of JSON, cannot be read. */
const TEXT_WIDTH_MIN = 16
const FACTS_WIDTH_MIN = 40

interface Column {
  /** The name, and a text for each row. */
  texts: string[]
  width: number
  isNumeric: boolean
  /** How narrow it can become: a name, and what is copied, are never cut. */
  widthMin: number
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT/

/** Rows whose widths are known before the first is printed. More of them begin a table of their own. */
const ROWS_MAX = 10_000

export function* tableOf({ columns, rows }: List): Generator<string> {
  let left: string[] | undefined
  for (const part of partsOf(rows)) {
    const table = linesOf(columns, part)
    yield* table.lines
    left = table.left
  }
  if (!left) yield '(none)\n'
  else if (left.length > 0) yield `\nMore with --json or --csv: ${left.join(', ')}\n`
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

/** The lines, and the columns for which there is no room. */
const linesOf = (names: readonly string[], rows: readonly Row[]): { lines: string[]; left: string[] } => {
  const columns = names.map((name, index) => columnOf(name, rows, index))
  const shown = process.stdout.isTTY ? fitting(columns, process.stdout.columns) : columns
  const lines = ['', ...rows].map(
    (_, line) =>
      `${shown
        .map((column) => cellOf(column, line))
        .join(GAP)
        .trimEnd()}\n`,
  )
  return { lines, left: names.slice(shown.length) }
}

const columnOf = (name: string, rows: readonly Row[], index: number): Column => {
  const texts = [name, ...rows.map((row) => textOf(row[name]))]
  const width = Math.max(...texts.map((text) => Bun.stringWidth(text)))
  const isNumeric = rows.some((row) => typeof row[name] === 'number' || row[name] instanceof Amount)
  const isWhole = isNumeric || index === 0 || texts.some((text) => TIMESTAMP.test(text))
  const readable = rows.some((row) => row[name] instanceof Facts) ? FACTS_WIDTH_MIN : TEXT_WIDTH_MIN
  return { texts, width, isNumeric, widthMin: isWhole ? width : Math.min(width, Math.max(readable, name.length)) }
}

/** The first columns, as many as fit when long texts are cut. */
const fitting = (columns: readonly Column[], width: number): readonly Column[] => {
  const least = columns.map(({ widthMin }) => widthMin)
  let count = columns.length
  while (count > 1 && sum(least.slice(0, count)) + GAP.length * (count - 1) > width) count -= 1
  const shown = columns.slice(0, count)
  narrow(shown, width - GAP.length * (count - 1))
  return shown
}

/** Makes the widest columns of text narrower until all of them fit. */
const narrow = (columns: readonly Column[], width: number): void => {
  let excess = sum(columns.map((column) => column.width)) - width
  for (; excess > 0; excess--) {
    const [widest] = columns
      .filter((column) => column.width > column.widthMin)
      .sort((one, other) => other.width - one.width)
    if (!widest) return
    widest.width -= 1
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const cellOf = ({ texts, width, isNumeric }: Column, line: number): string => {
  const text = cut(texts[line] ?? '', width)
  const padding = ' '.repeat(width - Bun.stringWidth(text))
  return isNumeric ? padding + text : text + padding
}

const cut = (text: string, width: number): string => Bun.sliceAnsi(text, 0, width, '…')
