import type { Query } from '../db/database.ts'
import { withoutByteOrderMark } from '../http/document.ts'
import { counted } from '../kernel/counted.ts'
import { cellsIn, linesIn, type Numbered, recordsIn, SEPARATORS, type Separator } from '../kernel/csv.ts'
import { refused } from '../kernel/exit.ts'
import { toMajor, toMinor } from '../kernel/money.ts'
import { FileFault } from '../kernel/problems.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { canAdvance } from './progress.ts'
import { type Payout, payoutsNamed } from './queries.ts'

/** A list of payouts that were paid (contract C17): an id or a reference on each line, or the CSV of a bank. */

/** The choices of the person who reads a list. */
interface ListReading {
  to?: Payout['status'] | undefined
  /** The column of the reference, by its name. */
  column?: string | undefined
  /** The column of the amount, which has to be that of the payout. */
  amountColumn?: string | undefined
  /** Only payouts of this client are named. */
  clientId?: number | undefined
}

interface NamedPayouts {
  payouts: Payout[]
  /** The column of the reference, by its name or its number; undefined for plain lines. */
  column?: string
  /** Lines that name a payout and are left, each with its reason. */
  left: string[]
  /** Lines that name no payout. */
  unknown: string[]
}

/** @throws FileFault for a binary file, ProgramError if the column of the references is unclear */
export const payoutsIn = (query: Query, file: string, reference: Reference, how: ListReading = {}): NamedPayouts => {
  const text = withoutByteOrderMark(file).replace(/\r\n?/g, '\n')
  if (text.includes('\0')) throw new FileFault('payouts', ['the file holds NUL, as UTF-16 does: save it as CSV UTF-8'])
  const rows = rowsIn(text, how)
  const find = finder(query, how.clientId)
  const chosen = how.column === undefined ? columnAmong(rows, find, how.to) : columnCalled(rows, how.column)
  const amounts = how.amountColumn === undefined ? undefined : columnCalled(rows, how.amountColumn)
  const header = Math.max(chosen.header, amounts?.header ?? -1)
  const lines = rows
    .slice(header + 1)
    .map(({ cells, line }) => ({ cells, line, name: cells[chosen.index]?.trim() ?? '' }))
  const named = find(lines.map(({ name }) => name))
  const before = new Map<Payout, number>()
  const [left, unknown]: [string[], string[]] = [[], []]
  for (const { cells, line, name } of lines) {
    const [payout, other] = named(name)
    const amount = amounts && (cells[amounts.index]?.trim() ?? '')
    const reason = payout && reasonToLeave(payout, other, amount, reference)
    if (!payout) unknown.push(`line ${line}: ${shown(cells)}`)
    else if (reason !== undefined) left.push(`line ${line}: ${name} ${reason}`)
    else if (before.has(payout) && rows.isCsv)
      left.push(`line ${line}: ${name} is on line ${before.get(payout)} already`)
    else if (!before.has(payout)) before.set(payout, line)
  }
  return { payouts: [...before.keys()], left, unknown, ...(rows.isCsv && { column: chosen.name }) }
}

const reasonToLeave = (payout: Payout, other: Payout | undefined, amount: string | undefined, reference: Reference) => {
  if (other) return 'is a payout of several clients: name the client (--client)'
  if (amount === undefined) return undefined
  const currency = reference.shownCurrency(payout.currencyId)
  if (minorIn(amount, currency) === payout.amountMinor) return undefined
  const due = `${toMajor(payout.amountMinor, currency.precision).toFixed(currency.precision)} ${currency.currency}`
  return `is a payout of ${due}, and the list says ${amount === '' ? 'no amount' : amount}`
}

const SHOWN_MAX = 100

const shown = (cells: readonly string[]): string =>
  cut(
    cells
      .map((cell) => cell.trim())
      .filter((cell) => cell !== '')
      .join(', '),
  )

const cut = (text: string): string => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)

interface ListRow {
  cells: string[]
  line: number
}
type ListRows = ListRow[] & { isCsv: boolean }

/** Rows without the empty ones. */
const rowsIn = (text: string, { column, amountColumn }: ListReading): ListRows => {
  const lines = linesIn(text).filter(isFull)
  const separator = separatorOf(lines.map(([line]) => line))
  const isCsv = separator !== undefined || column !== undefined || amountColumn !== undefined
  const rows =
    separator === undefined ? lines.map(plainRow) : [...recordsIn(text)].filter(isFull).flatMap(rowsBy(separator))
  return Object.assign(rows, { isCsv })
}

const isFull = ([text]: Numbered): boolean => /[^\s,;]/.test(text)

const plainRow = ([text, line]: Numbered): ListRow => ({ cells: cellsIn(text, '\t') ?? [text], line })

/** A quote that nobody closed takes no other line with it. */
const rowsBy =
  (separator: Separator) =>
  ([record, line]: Numbered): ListRow[] => {
    const cells = cellsIn(record, separator)
    if (cells) return [{ cells, line }]
    return record.split('\n').map((one, index) => ({ cells: one.split(separator), line: line + index }))
  }

/** The separator that most lines have; undefined for plain lines. */
const separatorOf = (lines: readonly string[]): Separator | undefined => {
  const [most] = SEPARATORS.map((separator) => ({
    separator,
    count: lines.filter((line) => line.includes(separator)).length,
  })).sort((one, other) => other.count - one.count)
  return most && most.count * 2 > lines.length ? most.separator : undefined
}

interface Column {
  index: number
  name: string
  /** The index of the row that is the header; -1 without one. */
  header: number
}

const columnCalled = (rows: ListRows, name: string): Column => {
  const same = (cell: string): boolean => cell.trim().toLowerCase() === name.trim().toLowerCase()
  const header = rows.findIndex(({ cells }) => cells.some(same))
  if (header === -1) throw refused(`the list has no column ${name}\n${columnsOf(rows)}`)
  const [index = 0, another] = (rows[header]?.cells ?? []).flatMap((cell, at) => (same(cell) ? at : []))
  if (another !== undefined)
    throw refused(`the list has several columns ${name}\nGive them different names in the file.`)
  return { index, name, header }
}

/** The rows by which the column is chosen: a column is like its first thousand cells. */
const CHOSEN_BY = 1_000

type Find = (names: readonly string[]) => (name: string) => readonly Payout[]

/** The one column in which most cells name a payout that can take the step. A row number may look like a reference, so such a column is never chosen. */
const columnAmong = (rows: ListRows, find: Find, to: Payout['status'] | undefined): Column => {
  const sample = rows.slice(0, CHOSEN_BY).map(({ cells }) => cells.map((cell) => cell.trim()))
  const [first = []] = sample
  const named = find(sample.flat())
  /** The first row is a header if it has no number, and names no payout. */
  const isHeader = rows.length > 1 && first.every((cell) => !/\d/.test(cell))
  const headerOf = (index: number): number => (isHeader && named(first[index] ?? '').length === 0 ? 0 : -1)
  if (!rows.isCsv) return { index: 0, name: '', header: headerOf(0) }
  const isStep = (name: string): boolean => named(name).some((payout) => canAdvance(payout, to))
  // A file of another kind may have any number of columns.
  const naming = new Set(sample.flatMap((cells) => cells.flatMap((cell, index) => (isStep(cell) ? index : []))))
  const columns = [...naming]
    .sort((one, other) => one - other)
    .map((index) => {
      const header = headerOf(index)
      const names = sample.slice(header + 1).map((cells) => cells[index] ?? '')
      const count = names.filter(isStep).length
      const name = header === -1 ? `column ${index + 1}` : (first[index] ?? '')
      return { index, name, header, isChosen: count * 2 > names.length && !areRowNumbers(names) }
    })
    .filter(({ isChosen }) => isChosen)
  const [column, other] = columns
  if (column && !other) return column
  const problem = other
    ? `${columns.map(({ name }) => name).join(' and ')} both name payouts`
    : 'no column names a payout in most of its lines'
  throw refused(`${problem}\nName the column of the references (--column). ${columnsOf(rows)}`)
}

const COLUMNS_SHOWN_MAX = 30

const columnsOf = (rows: ListRows): string => {
  const cells = rows[0]?.cells ?? []
  const names = cells.slice(0, COLUMNS_SHOWN_MAX).map((cell) => cut(cell.trim() || '-'))
  const more = cells.length > names.length ? ` and ${counted(cells.length - names.length, 'more column')}` : ''
  return `The first line has ${names.join(', ')}${more}.`
}

/** 1, 2, 3 and so on. A single number says nothing. */
const areRowNumbers = (cells: readonly string[]): boolean =>
  cells.every((cell, index) => /^\d{1,9}$/.test(cell) && Number(cell) === Number(cells[0]) + index) &&
  (cells.length > 1 || Number(cells[0]) <= 1)

const NOBODY: readonly Payout[] = []

/** Finds the payouts of names: one by its id, or those that have it as their reference. */
const finder =
  (query: Query, clientId: number | undefined): Find =>
  (names) => {
    const found = payoutsNamed(
      query,
      [...new Set(names)].filter((name) => name !== ''),
    ).filter((payout) => clientId === undefined || payout.clientId === clientId)
    const [byId, byReference] = [
      Map.groupBy(found, ({ id }) => id),
      Map.groupBy(found, ({ referenceId }) => referenceId),
    ]
    return (name) => byId.get(name) ?? byReference.get(name) ?? NOBODY
  }

/** Digits, or groups of three: `1234`, `1,234`, `1'234`. */
const WHOLE = /^(?:\d+|\d{1,3}(?:([.,' \u00a0\u2019])\d{3})(?:\1\d{3})*)$/

/**
 * The amount of a bank, without its sign, in minor units of a currency: `1,234.50`, `1.234,50`, `-100`, `100.00 EUR`. Undefined if it is of
 * another currency, or cannot be read.
 */
const minorIn = (cell: string, { currency, precision }: Currency): number | undefined => {
  const bare = cell
    .replace(currency, '')
    .trim()
    .replace(/^[-+]|[-+]$/g, '')
  const [, whole = bare, point, decimals = '0'] = decimalsOf(precision).exec(bare) ?? []
  const [isWhole, group] = WHOLE.exec(whole) ?? []
  if (isWhole === undefined || (group !== undefined && group === point)) return undefined
  return toMinor(Number(`${whole.replace(/\D/g, '')}.${decimals}`), precision)
}

/** The decimals of a currency at most: 1.234 is a thousand, unless there are three. */
const decimalsOf = (precision: number): RegExp =>
  precision === 0 ? /^(\d+)([.,])(0+)$/ : new RegExp(`^(.*)([.,])(\\d{1,${precision}})$`)

/** The reading of a list in words: its column, and the lines that name no payout. */
export const readAs = ({ payouts, column, left, unknown }: NamedPayouts): string[] => {
  const total = payouts.length + left.length + unknown.length
  return [
    ...(column === undefined ? [] : [`${counted(total, 'line')}: ${payouts.length} name a payout in ${column}.`]),
    ...(unknown.length === 0 ? [] : [[`${counted(unknown.length, 'line')} without a payout:`, ...unknown].join('\n')]),
  ]
}
