import { Amount, type List, type Row, textOf } from './cells.ts'

/** A list for people: a table, or a block of lines for each row where a table is wider than the terminal. */

const GAP = '  '
/** Narrower columns of text cannot be read. */
const WIDTH_MIN = 8

interface Column {
  /** The name, and a text for each row. */
  texts: string[]
  width: number
  isNumeric: boolean
}

export const tableOf = ({ columns: names, rows: all }: List): string[] => {
  const rows = [...all]
  if (rows.length === 0) return ['(none)\n']
  const columns = names.map((name) => columnOf(name, rows))
  if (process.stdout.isTTY && !narrow(columns, process.stdout.columns)) return blocksOf(names, rows)
  return ['', ...rows].map(
    (_, line) =>
      `${columns
        .map((column) => cellOf(column, line))
        .join(GAP)
        .trimEnd()}\n`,
  )
}

const columnOf = (name: string, rows: readonly Row[]): Column => {
  const texts = [name, ...rows.map((row) => textOf(row[name]))]
  return {
    texts,
    width: Math.max(...texts.map((text) => Bun.stringWidth(text))),
    isNumeric: rows.some((row) => typeof row[name] === 'number' || row[name] instanceof Amount),
  }
}

/** Makes the widest columns of text narrower until a line fits. Returns whether it does. */
const narrow = (columns: readonly Column[], width: number): boolean => {
  const excess = () => columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) - width
  const flexible = columns.filter(({ isNumeric }) => !isNumeric)
  while (excess() > 0) {
    const widest = flexible.reduce((one, other) => (other.width > one.width ? other : one), { width: 0 })
    if (widest.width <= WIDTH_MIN) return false
    widest.width -= 1
  }
  return true
}

const cellOf = ({ texts, width, isNumeric }: Column, line: number): string => {
  const text = cut(texts[line] ?? '', width)
  const padding = ' '.repeat(width - Bun.stringWidth(text))
  return isNumeric ? padding + text : text + padding
}

const cut = (text: string, width: number): string => {
  if (Bun.stringWidth(text) <= width) return text
  const characters = [...text]
  while (Bun.stringWidth(characters.join('')) >= width) characters.pop()
  return `${characters.join('')}…`
}

const blocksOf = (names: readonly string[], rows: readonly Row[]): string[] => {
  const width = Math.max(...names.map((name) => name.length))
  return rows.map(
    (row, index) =>
      (index === 0 ? '' : '\n') + names.map((name) => `${name.padEnd(width)}${GAP}${textOf(row[name])}\n`).join(''),
  )
}
