import { toMajor } from '../kernel/money.ts'
import { visible, visibleLines } from '../kernel/visible.ts'
import type { Currency } from '../reference/reference.ts'

/** An amount: printed with all of its decimals, and a number in major units in JSON. */
export class Amount {
  constructor(
    private readonly minor: number,
    private readonly currency: Pick<Currency, 'precision'>,
  ) {}

  toString(): string {
    return this.toJSON().toFixed(this.currency.precision)
  }

  toJSON(): number {
    return toMajor(this.minor, this.currency.precision)
  }
}

type Cell = string | number | boolean | null | Amount
export type Row = Record<string, Cell>
export type Result = Row | readonly Row[]

export const show = (result: Result, json: boolean): void => {
  const text = json ? escaped(JSON.stringify(result)) : isList(result) ? table(result) : record(result)
  process.stdout.write(`${text}\n`)
}

/** Prints a notice for people. Scripts get the result alone. */
export const note = (text: string, json: boolean): void => {
  if (!json) process.stderr.write(`${visibleLines(text)}\n`)
}

/** JSON without control characters, which a terminal would obey. */
const escaped = (json: string): string =>
  json.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const isList = (result: Result): result is readonly Row[] => Array.isArray(result)

const record = (row: Row): string => {
  const width = Math.max(...Object.keys(row).map((name) => name.length))
  return Object.entries(row)
    .map(([name, cell]) => `${name.padEnd(width)}  ${textOf(cell)}`)
    .join('\n')
}

/** Columns by the names of the first row. */
export const table = (rows: readonly Row[]): string => {
  const [first] = rows
  if (!first) return '(none)'
  const columns = Object.keys(first).map((name) => {
    const cells = rows.map((row) => textOf(row[name] ?? null))
    const isNumeric = rows.some((row) => typeof row[name] === 'number' || row[name] instanceof Amount)
    const width = Math.max(...[name, ...cells].map((text) => Bun.stringWidth(text)))
    return [name, ...cells].map((text) => {
      const padding = ' '.repeat(width - Bun.stringWidth(text))
      return isNumeric ? padding + text : text + padding
    })
  })
  return ['', ...rows]
    .map((_, line) =>
      columns
        .map((cells) => cells[line])
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const textOf = (cell: Cell): string => (cell === null ? '-' : visible(String(cell)))
