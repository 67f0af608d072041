import type { Query } from '../db/database.ts'
import { ordersOf } from '../orders/queries.ts'
import { payoutsOf } from '../payouts/queries.ts'
import { walletsOfClient } from '../wallets/queries.ts'
import type { Period } from '../wallets/statement-queries.ts'
import type { RecordType, TheirRow } from './partner-list.ts'

/** Compares a partner's list with the records of a client (contract C19). */

interface Named {
  type: RecordType
  reference: string
}

/** The compared part of a record of ours, or of a row of theirs. */
export interface Side {
  amountMinor: number
  currencyId: number
  status: string | null
  atMs: number | null
}

interface OurRecord extends Named, Side {
  status: string
  atMs: number
  isReturned: boolean
  /** True if it moved nothing in the end: only a row with a status matches it. */
  hasEnded: boolean
  /** Its number among all records: orders before payouts, each in the order of creation. */
  place: number
}

type Finding = Named &
  (
    | { kind: 'only_ours'; ours: OurRecord; theirs?: undefined; times: 0 }
    | { kind: 'only_theirs'; ours?: undefined; theirs: TheirRow; times: 1 }
    | { kind: 'differs'; ours: OurRecord; theirs: TheirRow; times: 1 }
    | { kind: 'counted_twice'; ours: OurRecord | undefined; theirs: TheirRow; times: number; countedMinor: number }
  )

/** The first movement after which the sums differ, and the sums after it. */
interface Parting extends Named {
  /** Our time of the movement; for one that we do not have, their time, if they give one. */
  atMs: number | null
  currencyId: number
  oursMinor: number
  theirsMinor: number
}

export interface Compared {
  /** The number of records that agree. */
  matched: number
  findings: Finding[]
  /** Undefined if the sums never differ. */
  parting: Parting | undefined
}

export const compare = (query: Query, clientId: number, period: Period, rows: readonly TheirRow[]): Compared => {
  const inPeriod = rows.filter((row) => isIn(row, period))
  const listed = Map.groupBy(asNamed(inPeriod, recordsOf(query, clientId, period)), keyOf)
  const known = new Map<string, OurRecord>()
  const findings: Finding[] = []
  let matched = 0
  for (const ours of recordsOf(query, clientId, period)) {
    const key = keyOf(ours)
    const all = listed.get(key)
    if (all) known.set(key, ours)
    const [theirs] = rowsFor(ours, all)
    const { type, reference } = ours
    if (theirs && differ(ours, theirs)) findings.push({ kind: 'differs', type, reference, ours, theirs, times: 1 })
    else if (theirs) matched += 1
    else if (!ours.hasEnded) findings.push({ kind: 'only_ours', type, reference, ours, times: 0 })
  }
  for (const [key, all] of listed) {
    const [theirs] = all
    if (!theirs) continue
    const { type, reference } = theirs
    const ours = known.get(key)
    if (!ours || rowsFor(ours, all)[0] !== theirs) {
      findings.push({ kind: 'only_theirs', type, reference, theirs, times: 1 })
    }
    if (all.length > 1) {
      const countedMinor = all.reduce((sum, row) => sum + countedOf(row), 0)
      findings.push({ kind: 'counted_twice', type, reference, ours, theirs, times: all.length, countedMinor })
    }
  }
  return { matched, findings, parting: partingOf(findings, recordsOf(query, clientId, period)) }
}

/** The rows with the names of the records they stand for: the exact text of a cell, or else what it may stand for. */
const asNamed = (rows: readonly TheirRow[], records: Iterable<OurRecord>): readonly TheirRow[] => {
  const spelled = new Set(
    rows.flatMap((row) => (row.otherwise ? [keyOf(row), ...row.otherwise.map((one) => keyAs(row, one))] : [])),
  )
  if (spelled.size === 0) return rows
  const known = new Set<string>()
  for (const record of records) if (spelled.has(keyOf(record))) known.add(keyOf(record))
  return rows.map((row) => {
    if (known.has(keyOf(row))) return row
    const reference = row.otherwise?.find((one) => known.has(keyAs(row, one)))
    return reference === undefined ? row : { ...row, reference }
  })
}

/** A row without a time belongs to any month. */
const isIn = ({ atMs }: TheirRow, { sinceMs, untilMs }: Period): boolean =>
  atMs === null || (atMs >= sinceMs && atMs < untilMs)

const keyOf = ({ type, reference }: Named): string => `${type} ${reference}`
const keyAs = ({ type }: Named, reference: string): string => keyOf({ type, reference })

function* recordsOf(query: Query, clientId: number, period: Period): Generator<OurRecord> {
  const currencies = new Map(walletsOfClient(query, { clientId }).map(({ id, currencyId }) => [id, currencyId]))
  let place = 0
  for (const { reference, payableMinor, walletId, status, placedAtMs } of ordersOf(query, { clientId, ...period })) {
    yield {
      ...{ type: 'order', reference, amountMinor: payableMinor, currencyId: currencies.get(walletId) ?? 0 },
      ...{ status, atMs: placedAtMs, isReturned: false, place: place++ },
      hasEnded: status === 'CANCELLED' || status === 'FAILED',
    }
  }
  for (const payout of payoutsOf(query, { clientId, ...period })) {
    const { referenceId: reference, amountMinor, currencyId, status, createdAtMs: atMs, returned: isReturned } = payout
    yield {
      ...{ type: 'payout', reference, amountMinor, currencyId, status, atMs, isReturned, place: place++ },
      hasEnded: isReturned || status === 'cancelled' || status === 'failed' || status === 'expired',
    }
  }
}

const rowsFor = ({ hasEnded }: OurRecord, all: readonly TheirRow[] = []): readonly TheirRow[] =>
  hasEnded ? all.filter(({ status }) => status !== null) : all

const differ = (ours: OurRecord, theirs: TheirRow): boolean =>
  ours.amountMinor !== theirs.amountMinor || ours.currencyId !== theirs.currencyId || statusDiffers(ours, theirs)

export const statusDiffers = ({ status, isReturned }: OurRecord, theirs: TheirRow): boolean => {
  const named = theirs.status?.toLowerCase()
  return named !== undefined && named !== status.toLowerCase() && !(isReturned && named === 'returned')
}

const ENDED = new Set(['cancelled', 'canceled', 'failed', 'expired', 'returned'])

/** The amount that a row moves in the end. */
const countedOf = ({ status, amountMinor }: TheirRow): number =>
  status !== null && ENDED.has(status.toLowerCase()) ? 0 : amountMinor

const theirCountedOf = (finding: Finding): number => {
  if (finding.kind === 'counted_twice') return finding.countedMinor
  return finding.theirs ? countedOf(finding.theirs) : 0
}

const ourCountedOf = ({ ours }: Finding): number => (ours && !ours.hasEnded ? ours.amountMinor : 0)

const isInAnother = ({ ours, theirs }: Finding): boolean =>
  ours !== undefined && theirs !== undefined && ours.currencyId !== theirs.currencyId

const timeOf = ({ ours, theirs }: Finding): number | null => ours?.atMs ?? theirs?.atMs ?? null

/** Sorts by time. At the same time, our records come first, by their ids, and rows that only they have last. */
const byTime = (one: Finding, other: Finding): number =>
  (timeOf(one) ?? Number.MAX_VALUE) - (timeOf(other) ?? Number.MAX_VALUE) ||
  (one.ours?.place ?? Number.MAX_VALUE) - (other.ours?.place ?? Number.MAX_VALUE) ||
  Number(other.kind === 'counted_twice') - Number(one.kind === 'counted_twice') ||
  (keyOf(one) < keyOf(other) ? -1 : 1)

const partingOf = (findings: readonly Finding[], records: Iterable<OurRecord>): Parting | undefined => {
  const [first, ...others] = findings.filter((one) => ourCountedOf(one) !== theirCountedOf(one) || isInAnother(one))
  if (!first) return undefined
  const finding = others.reduce((earliest, one) => (byTime(one, earliest) < 0 ? one : earliest), first)
  const { type, reference, ours, theirs } = finding
  const [atMs, currencyId] = [timeOf(finding), (ours ?? theirs)?.currencyId ?? 0]
  let oursMinor = 0
  for (const record of records) {
    const isLater = atMs !== null && (record.atMs > atMs || (record.atMs === atMs && ours && record.place > ours.place))
    if (!isLater && !record.hasEnded && record.currencyId === currencyId) oursMinor += record.amountMinor
  }
  const theirCounted = isInAnother(finding) ? 0 : theirCountedOf(finding)
  return { type, reference, atMs, currencyId, oursMinor, theirsMinor: oursMinor - ourCountedOf(finding) + theirCounted }
}
