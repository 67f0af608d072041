import { Amount, type Cell, type List, type Row, textOf } from '../../acts/cells.ts'

/** A list for people: a table, of which a terminal shows one line a record (contract C17). */

const GAP = '  '

interface Column {
  /** The name, and a text for each row. */
  texts: string[]
  width: number
  kind: 'own' | 'number' | 'time' | 'text'
}

/** The most rows of a table, whose widths are computed before the first is printed. Further rows begin another table. */
const ROWS_MAX = 10_000

export function* tableOf({ columns, rows, total, brief, isWide }: List): Generator<string> {
  const room = process.stdout.isTTY && !isWide ? process.stdout.columns : undefined
  let count = 0
  for (const part of partsOf(rows)) {
    yield* room === undefined
      ? linesOf(columns.map((name) => columnOf(name, part)))
      : fitted(brief ?? columns, part, room)
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

/** Whole lines. */
function* linesOf(columns: readonly Column[]): Generator<string> {
  for (let line = 0; line < (columns[0]?.texts.length ?? 0); line++)
    yield `${columns
      .map((column) => cellOf(column, line))
      .join(GAP)
      .trimEnd()}\n`
}

/** The widths to which cells are cut, one after the other, until a line fits: a time to its minute and its day, a text to some letters. */
const WIDTHS: readonly { of: 'time' | 'text'; width: number }[] = [
  { of: 'time', width: '2026-11-28T22:25'.length },
  { of: 'text', width: 12 },
  { of: 'time', width: '2026-11-28'.length },
  { of: 'text', width: 4 },
]

/** The narrowest terminal that lists are made for: a narrower one cuts its lines at the end. */
const ROOM_MIN = 80

/** Lines that a terminal shows as one line each: ids of other records and texts are cut, and what still does not fit at the end. */
function* fitted(names: readonly string[], rows: readonly Row[], room: number): Generator<string> {
  const columns = names.map((name) => columnOf(name, rows, true))
  for (const { of, width } of WIDTHS) shrink(columns, of, width, Math.max(room, ROOM_MIN))
  for (const line of linesOf(columns)) yield `${shortened(line.slice(0, -1), room, true)}\n`
}

/** Narrows the widest columns of a kind first. */
const shrink = (columns: readonly Column[], kind: Column['kind'], width: number, room: number): void => {
  const ofKind = columns.filter((column) => column.kind === kind)
  let excess = columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) - room
  while (excess > 0) {
    const widest = ofKind.reduce<Column | undefined>(
      (one, other) => (one && one.width >= other.width ? one : other),
      undefined,
    )
    if (!widest || widest.width <= width) return
    // Half a time says nothing.
    const narrower = kind === 'time' ? width : widest.width - 1
    excess -= widest.width - narrower
    widest.width = narrower
  }
}

/** A row as lines of name and value. */
export const recordOf = (row: Row): string => {
  const width = Math.max(...Object.keys(row).map((name) => name.length))
  return Object.entries(row)
    .map(([name, cell]) => `${name.padEnd(width)}${GAP}${textOf(cell)}\n`)
    .join('')
}

/** A terminal shows an amount with its currency. */
const columnOf = (name: string, rows: readonly Row[], isShort = false): Column => {
  const cells = rows.map((row) => row[name])
  const texts = [name, ...cells.map((cell) => (isShort && cell instanceof Amount ? cell.words : textOf(cell)))]
  const width = Math.max(...texts.map((text) => Bun.stringWidth(text)))
  return { texts, width, kind: kindOf(name, cells) }
}

/** The record's own id stays whole, and so do the words that say what became of it. */
const kindOf = (name: string, cells: readonly (Cell | undefined)[]): Column['kind'] => {
  if (cells.some((cell) => typeof cell === 'number' || cell instanceof Amount)) return 'number'
  if (OWN.includes(name)) return 'own'
  return TIMES.test(name) ? 'time' : 'text'
}

const OWN = ['id', 'status', 'outcome', 'entry', 'finding', 'change']
const TIMES = /(?:^|_)(?:at|since|until)$/

const cellOf = ({ texts, width, kind }: Column, line: number): string => {
  const text = kind === 'time' ? (texts[line] ?? '').slice(0, width) : shortened(texts[line] ?? '', width, line === 0)
  const padding = ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
  return kind === 'number' ? padding + text : text + padding
}

/** A text that is cut, with a mark. An id keeps its end, which tells it from others. */
const shortened = (text: string, width: number, isAtEnd: boolean): string => {
  if (isAtEnd || text.includes(' ')) return Bun.sliceAnsi(text, 0, width, MARK)
  if (Bun.stringWidth(text) <= width) return text
  const end = Math.floor((width - MARK.length) / 2)
  return Bun.sliceAnsi(text, 0, width - end, MARK) + Bun.sliceAnsi(text, -end)
}

const MARK = '…'
