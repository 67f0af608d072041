import { Type } from '@sinclair/typebox'
import { withoutByteOrderMark } from '../http/document.ts'
import { isObject } from '../http/json.ts'
import { oneOf, Timestamp } from '../http/schemas.ts'
import { timeIn } from '../kernel/clock.ts'
import { counted } from '../kernel/counted.ts'
import { cellsIn, linesIn, recordsIn } from '../kernel/csv.ts'
import { disarmed } from '../kernel/formula.ts'
import { jsonIn } from '../kernel/json.ts'
import { AMOUNT_MINOR_MAX, minorPerMajor, toMinor } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Period } from '../wallets/statement-queries.ts'

/** A partner's own list of orders and payouts (contract C19): CSV or JSON lines. */

export const TYPES = ['order', 'payout'] as const
export type RecordType = (typeof TYPES)[number]

/** A row of a sent list. Other members are ignored. */
export const RowSchema = Type.Object(
  {
    reference: Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the record' }),
    type: oneOf(TYPES),
    amount: Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: '^[0-9]+(?:[.][0-9]+)?$' })], {
      description:
        'The payment of the wallet for an order; of a payout, the amount without fees. A number, or its decimals',
    }),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    status: Type.Optional(Type.String()),
    at: Type.Optional(Timestamp),
  },
  { title: 'ReconcileRequest' },
)

/** A valid row of the list. */
export interface TheirRow {
  line: number
  type: RecordType
  /** The client's own name for the record. */
  reference: string
  /** Names that a cell of CSV stands for if no record has its exact text: without padding, and without our apostrophe. */
  otherwise?: string[] | undefined
  amountMinor: number
  currencyId: number
  status: string | null
  atMs: number | null
}

/** An error in a list and its place; without a column it concerns the whole line. */
export interface ListProblem {
  line: number
  column: string | null
  what: string
}

type Cells = Readonly<Record<string, unknown>>
/** Reports the problem of a cell; without a column, that of the line. */
type Wrong = (column: string | null, what: string) => void

/** Reading ends after this many problems (contract C19). */
const PROBLEMS_MAX = 20
/** A row has a few short cells: a longer record is a file of another kind. */
const RECORD_CHARACTERS_MAX = 65_536
/** The character that replaces bytes that are not UTF-8. */
const UNDECODED = '\ufffd'
const REFERENCE_CHARACTERS_MAX = 255
const DECIMAL = /^-?\d+(?:\.\d+)?$/
const REQUIRED = ['reference', 'type', 'amount', 'currency']
const KNOWN = [...REQUIRED, 'status', 'at']

/** Reads a list: JSON lines if it begins like JSON, otherwise CSV with a header. The rows are valid only without problems. */
export const readList = (file: string, reference: Reference): { rows: TheirRow[]; problems: ListProblem[] } => {
  const text = withoutByteOrderMark(file)
  const isJson = text.trimStart().startsWith('{')
  const rows: TheirRow[] = []
  const problems: ListProblem[] = []
  let columns: string[] | undefined
  for (const [record, line] of isJson ? linesIn(text) : recordsIn(text)) {
    if (NOTHING.test(record) || (!columns && SEPARATOR_LINE.test(record))) continue
    const wrong: Wrong = (column, what) => problems.push({ line, column, what })
    if (endsInside(record)) wrong(null, `has lines that end only with CR. ${SAVE_AS}`)
    else if (record.length > RECORD_CHARACTERS_MAX) wrong(null, 'is longer than 65,536 characters')
    else if (record.includes('\0')) wrong(null, `contains NUL, as UTF-16 does. ${SAVE_AS}`)
    else if (record.includes(UNDECODED)) wrong(null, 'contains bytes that are not UTF-8')
    else if (isJson) {
      const value = jsonIn(record)
      if (isObject(value)) rows.push(...rowIn(value, line, reference, wrong))
      else wrong(null, 'is not a JSON object')
    } else if (columns) {
      const cells = cellsIn(record)
      if (!cells) wrong(null, 'has a quote inside a cell, or no closing quote')
      else if (cells.length !== columns.length)
        wrong(null, `has ${counted(cells.length, 'cell')}, and the header ${columns.length}`)
      else {
        const read = rowIn(named(columns, cells), line, reference, wrong)
        rows.push(...read.map((row) => ({ ...row, otherwise: otherwiseOf(row.reference) })))
      }
    } else {
      columns = (cellsIn(record) ?? []).map((cell) => cell.trim().toLowerCase())
      checkHeader(columns, record, wrong)
      if (problems.length > 0) break
    }
    if (problems.length >= PROBLEMS_MAX || record.length > RECORD_CHARACTERS_MAX || record.includes('\0')) break
  }
  const isEmptyFile = !isJson && !columns && problems.length === 0
  if (isEmptyFile) problems.push({ line: 1, column: null, what: 'the file is empty' })
  return { rows, problems: problems.slice(0, PROBLEMS_MAX) }
}

/** A line of bare commas, as a spreadsheet writes an empty row. */
const NOTHING = /^[\s,]*$/
/** The line with which Excel names the separator. */
const SEPARATOR_LINE = /^"?sep=,"?,*\s*$/i

/** True if a line ends with CR alone, outside of quotes. */
const endsInside = (record: string): boolean =>
  record
    .slice(0, RECORD_CHARACTERS_MAX)
    .replace(/"(?:[^"]|"")*"/g, '')
    .trimEnd()
    .includes('\r')

/** Checks the header of a CSV file (RFC 4180). Columns come in any order; unknown ones are ignored. */
const checkHeader = (columns: readonly string[], record: string, wrong: Wrong): void => {
  if (columns.every((column) => !KNOWN.includes(column))) {
    wrong(null, `is neither CSV with a header nor JSON lines${adviceFor(record)}`)
    return
  }
  for (const column of KNOWN) {
    const count = columns.filter((one) => one === column).length
    if (count > 1) wrong(column, 'appears twice in the header')
    if (count === 0 && REQUIRED.includes(column)) wrong(column, 'is missing from the header')
  }
}

const SAVE_AS = 'Save it as CSV UTF-8 with commas'

/** Advice for files that spreadsheets write instead. */
const adviceFor = (record: string): string => {
  const separator = record.includes(';') ? 'semicolons' : record.includes('\t') ? 'tabs' : undefined
  return separator === undefined ? '' : `: its cells are separated by ${separator}. ${SAVE_AS}`
}

/** Other names that a cell may stand for, without padding or the apostrophe of our own CSV; undefined without any. */
const otherwiseOf = (text: string): string[] | undefined => {
  const trimmed = text.trim()
  const plain = disarmed(trimmed.slice(1)) === trimmed ? trimmed.slice(1) : trimmed
  const others = [...new Set([trimmed, plain])].filter((one) => one !== text && one !== '')
  return others.length > 0 ? others : undefined
}

/** The cells by their columns, without padding. A reference stays as it is: names are exact. */
const named = (columns: readonly string[], cells: readonly string[]): Cells =>
  Object.fromEntries(
    columns.flatMap((name, index) => {
      if (!KNOWN.includes(name)) return []
      return [[name, name === 'reference' ? cells[index] : cells[index]?.trim()]]
    }),
  )

/** The row, or none if it is invalid. */
const rowIn = (cells: Cells, line: number, known: Reference, wrong: Wrong): TheirRow[] => {
  const reference = textIn(cells.reference)
  const isTooLong = reference !== null && reference.length > REFERENCE_CHARACTERS_MAX
  if (reference === null) wrong('reference', 'is missing')
  else if (isTooLong) wrong('reference', 'has more than 255 characters')
  const type = TYPES.find((one) => one === textIn(cells.type)?.toLowerCase())
  if (!type) wrong('type', textIn(cells.type) === null ? 'is missing' : 'is neither order nor payout')
  const code = textIn(cells.currency)
  const currency = known.findCurrencyByCode(code?.toUpperCase() ?? '')
  if (!currency) wrong('currency', code === null ? 'is missing' : 'is not an ISO 4217 currency')
  const amountMinor = amountIn(cells.amount, currency, wrong)
  const atMs = timeOfCell(cells.at, wrong)
  if (reference === null || isTooLong || !type || !currency) return []
  if (amountMinor === undefined || atMs === undefined) return []
  return [{ line, type, reference, amountMinor, currencyId: currency.id, status: textIn(cells.status), atMs }]
}

/** The text of a cell; null for an empty cell. A number is not a text. */
const textIn = (cell: unknown): string | null => (typeof cell === 'string' && cell !== '' ? cell : null)

const isEmpty = (cell: unknown): boolean => cell === undefined || cell === null || cell === ''

/** In minor units; undefined if it is wrong, or nobody knows its currency. */
const amountIn = (cell: unknown, currency: Currency | undefined, wrong: Wrong): number | undefined => {
  if (isEmpty(cell)) return void wrong('amount', 'is missing')
  if ((typeof cell !== 'string' && typeof cell !== 'number') || !DECIMAL.test(String(cell))) {
    return void wrong('amount', 'is not a decimal number, such as 1000.50')
  }
  const amount = Number(cell)
  if (amount < 0) return void wrong('amount', 'is below zero')
  if (!currency) return undefined
  // A text is as strict as on the command line: 1.000 may be a thousand, where a number can only be one.
  const decimals = typeof cell === 'string' ? (cell.split('.')[1]?.length ?? 0) : 0
  const isTooLarge = amount * minorPerMajor(currency.precision) > AMOUNT_MINOR_MAX
  const minor = isTooLarge || decimals > currency.precision ? undefined : toMinor(amount, currency.precision)
  if (minor === undefined) wrong('amount', `is not an amount in ${currency.currency}: too large, or too many decimals`)
  return minor
}

/** A time as tools save it, without the T and perhaps without a zone. */
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/

/** The time in a cell; null for an empty cell, undefined if it is wrong. A date is its midnight, and without a zone the time is UTC. */
const timeOfCell = (cell: unknown, wrong: Wrong): number | null | undefined => {
  if (isEmpty(cell)) return null
  const text = String(cell).replace(SPACED, (_, day, time, zone = 'Z') => `${day}T${time}${zone}`)
  const timeMs = timeIn(text)
  if (timeMs === undefined) wrong('at', 'is neither a date nor an RFC 3339 time, such as 2026-11-05T10:00:00Z')
  return timeMs
}

/** The period of a comparison without a month. */
export const ALWAYS: Period = { sinceMs: Number.MIN_SAFE_INTEGER, untilMs: Number.MAX_SAFE_INTEGER }
