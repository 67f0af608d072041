import { type Static, Type } from '@sinclair/typebox'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Comparison, Finding, FindingKind } from './comparison.ts'
import { TYPES } from './partner-list.ts'

/** What a reconciliation found (contract C19). */

const Name = { reference: Type.String({ description: 'Your name for the record' }), type: oneOf(TYPES) }
const SideSchema = Type.Object(
  {
    amount: Type.Number({ description: 'What the wallet paid for an order; of a payout, the amount without fees' }),
    currency: Type.String(),
    status: nullable(Type.String()),
    at: nullable(Timestamp),
  },
  { title: 'ReconciledSide' },
)
const ReconciledRecord = Type.Object({ ...Name, ...SideSchema.properties }, { title: 'ReconciledRecord' })
const MEMBERS = ['amount', 'currency', 'status'] as const
const Difference = Type.Object(
  { ...Name, ours: SideSchema, theirs: SideSchema, members: Type.Array(oneOf(MEMBERS)) },
  { title: 'ReconciledDifference' },
)
const Repeated = Type.Object(
  { ...ReconciledRecord.properties, times: Type.Integer({ minimum: 2, description: 'How often your list has it' }) },
  { title: 'ReconciledRepetition' },
)
const PartsAt = Type.Object(
  {
    ...Name,
    currency: Type.String(),
    at: nullable(Timestamp),
    ours: Type.Number({ description: 'The sum in this currency after the movement' }),
    theirs: Type.Number(),
  },
  { title: 'ReconciledParting' },
)
export const ReportSchema = Type.Object(
  {
    agrees: Type.Boolean(),
    matched: Type.Integer({ minimum: 0, description: 'How many records agree' }),
    only_ours: Type.Array(ReconciledRecord),
    only_theirs: Type.Array(ReconciledRecord),
    differs: Type.Array(Difference),
    counted_twice: Type.Array(Repeated),
    parts_at: nullable(PartsAt),
  },
  { title: 'Reconciliation' },
)

type ReconciledRecord = Static<typeof ReconciledRecord>
type Difference = Static<typeof Difference>
type Repeated = Static<typeof Repeated>

/** Its lists are read as they are shown: each can have a million rows. */
export interface Report {
  agrees: boolean
  matched: number
  only_ours: Iterable<ReconciledRecord>
  only_theirs: Iterable<ReconciledRecord>
  differs: Iterable<Difference>
  counted_twice: Iterable<Repeated>
  parts_at: Static<typeof ReportSchema>['parts_at']
}

export const reportOf = (comparison: Comparison, reference: Reference): Report => {
  const listOf = <Wire>(kind: FindingKind, wire: (finding: Finding) => Wire): Iterable<Wire> => ({
    *[Symbol.iterator]() {
      for (const finding of comparison.findings(kind)) yield wire(finding)
    },
  })
  const isEmpty = (kind: FindingKind): boolean => {
    for (const _ of comparison.findings(kind)) return false
    return true
  }
  const amountIn = (currencyId: number, minor: number) => {
    const { currency, precision } = reference.getCurrency(currencyId)
    return { amount: toMajor(minor, precision), currency }
  }
  const sideOf = (amount: number | null, currency: number | null, status: string | null, atMs: number | null) => ({
    ...amountIn(currency ?? 0, amount ?? 0),
    status,
    at: toTimestampOrNull(atMs),
  })
  const ours = (one: Finding) => sideOf(one.our_amount, one.our_currency, one.our_status, one.our_at)
  const theirs = (one: Finding) => sideOf(one.their_amount, one.their_currency, one.their_status, one.their_at)
  const named = ({ reference, type }: Finding) => ({ reference, type })
  const differenceOf = (one: Finding): Difference => {
    const [left, right] = [ours(one), theirs(one)]
    const members = MEMBERS.filter((member) =>
      member === 'status' ? one.status_differs === 1 : left[member] !== right[member],
    )
    return { ...named(one), ours: left, theirs: right, members }
  }
  const { parting } = comparison
  return {
    agrees: FINDING_KINDS.every(isEmpty),
    matched: comparison.matched,
    only_ours: listOf('only_ours', (one) => ({ ...named(one), ...ours(one) })),
    only_theirs: listOf('only_theirs', (one) => ({ ...named(one), ...theirs(one) })),
    differs: listOf('differs', differenceOf),
    counted_twice: listOf('counted_twice', (one) => ({ ...named(one), ...theirs(one), times: one.times })),
    parts_at: parting
      ? {
          reference: parting.reference,
          type: parting.type,
          currency: reference.getCurrency(parting.currencyId).currency,
          at: parting.atMs === null ? null : toTimestamp(parting.atMs),
          ours: amountIn(parting.currencyId, parting.oursMinor).amount,
          theirs: amountIn(parting.currencyId, parting.theirsMinor).amount,
        }
      : null,
  }
}

const FINDING_KINDS = ['only_ours', 'only_theirs', 'differs', 'counted_twice'] as const satisfies FindingKind[]
