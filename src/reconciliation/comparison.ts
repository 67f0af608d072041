import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'
import type { Period } from '../wallets/statement-queries.ts'
import sql from './comparison.sql' with { type: 'text' }
import { type RecordType, type TheirRow, TYPES } from './partner-list.ts'

/**
 * Holds a partner's list against the ledger (contract C19). SQLite does it, in temporary tables of a connection that nobody
 * else uses: they are on the disk, so that a list of a million rows takes no more memory than a short one.
 */

export type FindingKind = 'only_ours' | 'only_theirs' | 'differs' | 'counted_twice'

/** A row of `temp.findings`: amounts in minor units, currencies by id, times in Unix milliseconds. */
export interface Finding {
  kind: FindingKind
  type: RecordType
  reference: string
  our_amount: number | null
  our_currency: number | null
  our_status: string | null
  our_at: number | null
  their_amount: number | null
  their_currency: number | null
  their_status: string | null
  their_at: number | null
  /** How often their list has it. */
  times: number
  status_differs: 0 | 1 | null
}

/** The first movement after which the sums part, and the sums after it. */
interface Parting {
  type: RecordType
  reference: string
  /** By our time; by theirs, if they have one, of what we do not have. */
  atMs: number | null
  currencyId: number
  oursMinor: number
  theirsMinor: number
}

/** Pairs that one step compares, in about 5 ms. */
const STEP = 1_000
/** 4 MiB: sorting a million references writes less to the disk than with the default. */
const CACHE_KIB = 4_096

/** By the name that stands above each; what follows a comma is a comment. */
const STATEMENTS = new Map(
  sql.split(/^-- (?=[a-z_]+(?:,.*)?\n)/m).map((part): [string, string] => {
    const [title = '', ...lines] = part.split('\n')
    return [title.replace(/,.*/, ''), lines.join('\n').trim()]
  }),
)

/** Both are in the order in which they were made, and have an index for it. */
const ORDERED: Record<RecordType, string> = { order: 'ours.id', payout: 'ours.at_ms, ours.id' }

const partOf = (name: string): string => STATEMENTS.get(name) ?? ''

const textOf = (name: string, type: RecordType): string =>
  partOf(name)
    .replaceAll('STATUS_DIFFERS', partOf('status_differs'))
    .replaceAll('COUNTED', partOf('counted'))
    .replaceAll('OURS', `(${partOf(`${type}s`)})`)
    .replaceAll('ORDERED', ORDERED[type])
    .replaceAll('THEIRS', `temp.their_${type}s`)
    .replaceAll('NAME', `their_${type}s`)
    .replaceAll('TYPE', `'${type}'`)

export class Comparison {
  readonly #insert: Record<RecordType, Statement>
  #matched = 0

  /** The connection compares one state of the data, whatever others write meanwhile, and is closed afterwards. */
  constructor(
    private readonly sqlite: Database,
    private readonly clientId: number,
    private readonly period: Period,
  ) {
    for (const pragma of ['temp_store = FILE', 'temp.journal_mode = OFF', `temp.cache_size = -${CACHE_KIB}`]) {
      sqlite.run(`PRAGMA ${pragma}`)
    }
    sqlite.run('BEGIN')
    sqlite.run(partOf('findings'))
    for (const type of TYPES) sqlite.run(textOf('theirs', type))
    this.#insert = { order: sqlite.query(textOf('add', 'order')), payout: sqlite.query(textOf('add', 'payout')) }
  }

  add({ line, type, reference, amountMinor, currencyId, status, atMs }: TheirRow): void {
    this.#insert[type].run(line, reference, amountMinor, currencyId, status, atMs)
  }

  /** Compares. Yields between steps. */
  *run(): Generator<undefined, void> {
    for (const type of TYPES) {
      this.sqlite.run(textOf('index', type))
      yield
      const named = yield* this.#pair(type)
      yield* this.#findForeign(type, named)
      this.#query('twice', type).run(this.#ours)
      yield
    }
  }

  /** Holds our records against the lines that name them, which it returns. Further lines of a record are not pairs. */
  *#pair(type: RecordType): Generator<undefined, LineSet> {
    const named = new LineSet()
    const differing = this.#query('differing', type)
    let previous: Pair['id'] | undefined
    let count = 0
    for (const { line, id, finding } of this.#query<Pair>('pairs', type).iterate(this.#ours)) {
      if (line !== null) named.add(line)
      if (id === previous) continue
      previous = id
      if (finding !== null) differing.run(finding)
      else this.#matched += 1
      if (++count % STEP === 0) yield
    }
    return named
  }

  /** Lines that name none of our records. */
  *#findForeign(type: RecordType, named: LineSet): Generator<undefined, void> {
    const foreign = this.#query('foreign', type)
    let count = 0
    for (const { line } of this.#query<{ line: number }>('lines', type).iterate()) {
      if (!named.has(line)) foreign.run({ line })
      if (++count % STEP === 0) yield
    }
  }

  #query<Row>(name: string, type: RecordType) {
    return this.sqlite.query<Row, SQLQueryBindings[]>(textOf(name, type))
  }

  /** How many records agree. */
  get matched(): number {
    return this.#matched
  }

  findings(kind: FindingKind): Iterable<Finding> {
    return this.sqlite.query<Finding, [{ kind: string }]>(partOf('kind')).iterate({ kind })
  }

  /** Undefined if the sums never part. */
  get parting(): Parting | undefined {
    type Row = Pick<Parting, 'type' | 'reference'> & Record<'our_counted' | 'their_counted' | 'currency_id', number>
    const found = this.sqlite.query<Row & { at_ms: number | null }, []>(partOf('parting')).get()
    if (!found) return undefined
    const { type, reference, at_ms: atMs, currency_id: currencyId } = found
    const oursMinor = TYPES.reduce((sum, each) => sum + this.#sum(each, currencyId, atMs), 0)
    const theirsMinor = oursMinor - found.our_counted + found.their_counted
    return { type, reference, atMs, currencyId, oursMinor, theirsMinor }
  }

  #sum(type: RecordType, currency: number, atMs: number | null): number {
    const at = atMs ?? Number.MAX_SAFE_INTEGER
    return this.#query<{ minor: number }>('sum', type).get({ ...this.#ours, currency, at })?.minor ?? 0
  }

  /** Which records are compared. */
  get #ours() {
    return { client: this.clientId, since: this.period.sinceMs, until: this.period.untilMs }
  }
}

/** One of our records, and a line that names it; null if none does. */
interface Pair {
  line: number | null
  id: number | string
  /** As a JSON array: it is written into the findings. */
  finding: string | null
}

const LINES_PER_CHUNK = 65_536

/** A set of lines, in an eighth of a byte each: they are as many as the list has. */
class LineSet {
  readonly #chunks: Uint8Array[] = []

  add(line: number): void {
    const chunk = Math.floor(line / LINES_PER_CHUNK)
    while (this.#chunks.length <= chunk) this.#chunks.push(new Uint8Array(LINES_PER_CHUNK / 8))
    const bits = this.#chunks[chunk] as Uint8Array
    const at = (line % LINES_PER_CHUNK) >> 3
    bits[at] = (bits[at] ?? 0) | (1 << (line & 7))
  }

  has(line: number): boolean {
    const bits = this.#chunks[Math.floor(line / LINES_PER_CHUNK)]
    return (((bits?.[(line % LINES_PER_CHUNK) >> 3] ?? 0) >> (line & 7)) & 1) === 1
  }
}
