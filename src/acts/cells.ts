import { jsonIn } from '../kernel/json.ts'
import { toMajor } from '../kernel/money.ts'
import { visible } from '../kernel/visible.ts'
import type { Currency } from '../reference/reference.ts'

/** The output of commands: rows of cells. */

/** An amount: printed with all of its decimals, and a number in major units in JSON. */
export class Amount {
  constructor(
    private readonly minor: number,
    private readonly currency: Pick<Currency, 'precision' | 'currency'>,
  ) {}

  get parts(): { minor: number; precision: number; currency: string } {
    const { precision, currency } = this.currency
    return { minor: this.minor, precision, currency }
  }

  /** The amount for people: `1,000.50 USD`. */
  get words(): string {
    const { precision, currency } = this.currency
    const digits = { minimumFractionDigits: precision, maximumFractionDigits: precision }
    return `${this.toJSON().toLocaleString('en', digits)} ${currency}`
  }

  toString(): string {
    return this.toJSON().toFixed(this.currency.precision)
  }

  toJSON(): number {
    return toMajor(this.minor, this.currency.precision)
  }
}

/** A column that holds JSON: an object in JSON, and its text elsewhere. */
export class StoredJson {
  constructor(private readonly json: string) {}

  toString(): string {
    return this.json
  }

  toJSON(): unknown {
    const value = jsonIn(this.json)
    return value === undefined ? this.json : value // it is as text what it is not as JSON
  }
}

export type Cell = string | number | boolean | null | Amount | StoredJson | readonly string[]
export type Row = Readonly<Record<string, Cell>>

/** Rows that have the same columns. They can be read only once. */
export interface List {
  columns: readonly string[]
  rows: Iterable<Row>
  /** The number of all rows, of which the list may hold the first. */
  total?: number
  /** The columns that a terminal shows; by default, all. */
  brief?: readonly string[] | undefined
  /** True if a terminal shows every column as it is. */
  isWide?: boolean
}

/** The cell of an item in each column, the most important column first (decision 60). */
export type Columns<Item, Context = unknown> = Readonly<Record<string, (item: Item, context: Context) => Cell>>

export const rowOf = <Item, Context>(columns: Columns<Item, Context>, item: Item, context: Context): Row => {
  const row: Record<string, Cell> = {}
  for (const column in columns) row[column] = columns[column]?.(item, context) ?? null
  return row
}

export const listOf = <Item, Context>(
  columns: Columns<Item, Context>,
  items: Iterable<Item>,
  context: Context,
): List => ({
  columns: Object.keys(columns),
  rows: Iterator.from(items).map((item) => rowOf(columns, item, context)),
})

export const textOf = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '-'
  return visible(Array.isArray(cell) ? cell.join(' ') : String(cell))
}
