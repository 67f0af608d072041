import { toMajor } from '../../kernel/money.ts'
import { visible } from '../../kernel/visible.ts'
import type { Currency } from '../../reference/reference.ts'

/** What commands show: rows of cells. */

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

/** Facts that are stored as JSON: an object in JSON, and their text elsewhere. */
export class Facts {
  constructor(private readonly json: string) {}

  toString(): string {
    return this.json
  }

  toJSON(): unknown {
    return JSON.parse(this.json)
  }
}

export type Cell = string | number | boolean | null | Amount | Facts | readonly string[]
export type Row = Readonly<Record<string, Cell>>

/** Rows that have the same columns. They can be read only once. */
export interface List {
  columns: readonly string[]
  rows: Iterable<Row>
}

export const listOf = <Column extends string>(
  columns: readonly Column[],
  rows: Iterable<Record<Column, Cell>>,
): List => ({ columns, rows })

export function* mapped<From, To>(items: Iterable<From>, to: (item: From) => To): Generator<To> {
  for (const item of items) yield to(item)
}

export const textOf = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '-'
  return visible(Array.isArray(cell) ? cell.join(' ') : String(cell))
}
