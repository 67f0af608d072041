import { Type } from '@sinclair/typebox'
import { oneOf, Timestamp } from '../http/schemas.ts'
import { parseTimestamp } from '../kernel/clock.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Period } from '../wallets/statement-queries.ts'
import { type Cells, CsvRecords, JsonRecords, type Problem, type Records } from './records.ts'

/** A partner's own list of orders and payouts (contract C19): CSV or JSON lines. */

export const TYPES = ['order', 'payout'] as const
export type RecordType = (typeof TYPES)[number]

/** A row as it is sent. Amounts may be texts. */
export const RowSchema = Type.Object(
  {
    reference: Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the record' }),
    type: oneOf(TYPES),
    amount: Type.Number({
      minimum: 0,
      description: 'What the wallet paid for an order; of a payout, the amount without fees',
    }),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    status: Type.Optional(Type.String()),
    at: Type.Optional(Timestamp),
  },
  { title: 'ReconcileRequest' },
)

/** A row of the list, once it is known to be right. */
export interface TheirRow {
  line: number
  type: RecordType
  /** The client's own name for the record. */
  reference: string
  amountMinor: number
  currencyId: number
  status: string | null
  atMs: number | null
}

/** As many are shown, and then reading ends (contract C19). */
const PROBLEMS_MAX = 20
const REFERENCE_CHARACTERS_MAX = 255
const BOM = '\ufeff'
const DECIMAL = /^-?\d+(?:\.\d+)?$/
const DAY = /^\d{4}-\d\d-\d\d$/

/** Reads a list piece by piece. Its first character decides the format. */
export class PartnerList {
  readonly problems: Problem[] = []
  #records: Records | undefined
  #waiting = ''

  constructor(
    private readonly reference: Reference,
    private readonly onRow: (row: TheirRow) => void,
  ) {}

  /** Whether there are too many problems to read on. */
  get isHopeless(): boolean {
    return this.problems.length >= PROBLEMS_MAX
  }

  push(text: string): void {
    if (this.isHopeless) return
    this.#waiting += text
    this.#records ??= this.#recordsOf(this.#waiting)
    if (!this.#records) return
    const piece = this.#waiting
    this.#waiting = ''
    this.#records.push(this.#records.line === 0 && piece.startsWith(BOM) ? piece.slice(BOM.length) : piece)
  }

  end(): void {
    this.#records?.end()
    if (!this.#records || this.#records.line === 0) this.#report({ line: 1, column: null, what: 'the file is empty' })
  }

  /** Undefined as long as there are only blanks. */
  #recordsOf(text: string): Records | undefined {
    const [first] = /[^\s\ufeff]/.exec(text) ?? []
    if (first === undefined) return undefined
    const options = {
      onRecord: (cells: Cells, line: number) => this.#read(cells, line),
      onProblem: (problem: Problem) => this.#report(problem),
    }
    return first === '{' ? new JsonRecords(options) : new CsvRecords(options)
  }

  #report(problem: Problem): void {
    if (!this.isHopeless) this.problems.push(problem)
  }

  #read(cells: Cells, line: number): void {
    const count = this.problems.length
    const wrong = (column: string, what: string): void => this.#report({ line, column, what })
    const reference = textIn(cells.reference)
    if (reference === null) wrong('reference', 'is missing')
    else if (reference.length > REFERENCE_CHARACTERS_MAX) wrong('reference', 'has more than 255 characters')
    const type = TYPES.find((one) => one === textIn(cells.type)?.toLowerCase())
    if (!type) wrong('type', textIn(cells.type) === null ? 'is missing' : 'is neither order nor payout')
    const currency = this.#currencyIn(cells.currency, wrong)
    const amountMinor = amountIn(cells.amount, currency, wrong)
    const atMs = timeIn(cells.at, wrong)
    if (this.problems.length > count || reference === null || !type || !currency || amountMinor === undefined) return
    const status = textIn(cells.status)
    this.onRow({ line, type, reference, amountMinor, currencyId: currency.id, status, atMs })
  }

  #currencyIn(cell: unknown, wrong: (column: string, what: string) => void): Currency | undefined {
    const code = textIn(cell)
    if (code === null) return void wrong('currency', 'is missing')
    const currency = this.reference.findCurrencyByCode(code.toUpperCase())
    if (!currency) wrong('currency', 'is not an ISO 4217 currency')
    return currency
  }
}

/** An empty cell counts as left out. Numbers do not count as names. */
const textIn = (cell: unknown): string | null => (typeof cell === 'string' && cell !== '' ? cell : null)

const amountIn = (
  cell: unknown,
  currency: Currency | undefined,
  wrong: (column: string, what: string) => void,
): number | undefined => {
  if (cell === undefined || cell === null || cell === '') return void wrong('amount', 'is missing')
  const text = String(cell)
  if ((typeof cell !== 'string' && typeof cell !== 'number') || !DECIMAL.test(text)) {
    return void wrong('amount', 'is not a decimal number, such as 1000.50')
  }
  const amount = Number(text)
  if (amount < 0) return void wrong('amount', 'is below zero')
  if (!currency) return undefined
  const minor =
    amount > Number.MAX_SAFE_INTEGER / 10 ** currency.precision ? undefined : toMinorOrNone(amount, currency)
  if (minor === undefined) wrong('amount', `is not an amount in ${currency.currency}: too large, or too many decimals`)
  return minor
}

const toMinorOrNone = (amount: number, { precision }: Currency): number | undefined => {
  try {
    return toMinor(amount, precision)
  } catch {
    return undefined
  }
}

/** A date is its midnight in UTC. */
const timeIn = (cell: unknown, wrong: (column: string, what: string) => void): number | null => {
  if (cell === undefined || cell === null || cell === '') return null
  const text = String(cell)
  const timeMs = parseTimestamp(DAY.test(text) ? `${text}T00:00:00Z` : text)
  if (timeMs === undefined) wrong('at', 'is neither a date nor an RFC 3339 time, such as 2026-11-05T10:00:00Z')
  return timeMs ?? null
}

/** Without a month. */
export const ALWAYS: Period = { sinceMs: Number.MIN_SAFE_INTEGER, untilMs: Number.MAX_SAFE_INTEGER }

/** Whether a row is taken: without a time it is of any month. */
export const isIn = ({ atMs }: TheirRow, { sinceMs, untilMs }: Period): boolean =>
  atMs === null || (atMs >= sinceMs && atMs < untilMs)
