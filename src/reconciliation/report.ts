import { type Static, Type } from '@sinclair/typebox'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestampOrNull } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { type Compared, type Side, statusDiffers } from './comparison.ts'
import { TYPES } from './partner-list.ts'

/** The result of a reconciliation (contract C19). */

const Name = { reference: Type.String({ description: 'Your name for the record' }), type: oneOf(TYPES) }
const SideSchema = Type.Object(
  {
    amount: Type.Number({
      description: 'The payment of the wallet for an order; of a payout, the amount without fees',
    }),
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
  {
    ...ReconciledRecord.properties,
    times: Type.Integer({ minimum: 2, description: 'The number of times that your list has it' }),
  },
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
    matched: Type.Integer({ minimum: 0, description: 'The number of records that agree' }),
    only_ours: Type.Array(ReconciledRecord),
    only_theirs: Type.Array(ReconciledRecord),
    differs: Type.Array(Difference),
    counted_twice: Type.Array(Repeated),
    parts_at: nullable(PartsAt),
  },
  { title: 'Reconciliation' },
)

export type Report = Static<typeof ReportSchema>

export const reportOf = ({ matched, findings, parting }: Compared, reference: Reference): Report => {
  const amountIn = (currencyId: number, minor: number) => {
    const { currency, precision } = reference.shownCurrency(currencyId)
    return { amount: toMajor(minor, precision), currency }
  }
  const sideOf = ({ amountMinor, currencyId, status, atMs }: Side) => ({
    ...amountIn(currencyId, amountMinor),
    status,
    at: toTimestampOrNull(atMs),
  })
  const report: Report = {
    ...{ agrees: findings.length === 0, matched, only_ours: [], only_theirs: [], differs: [], counted_twice: [] },
    parts_at: parting
      ? {
          reference: parting.reference,
          type: parting.type,
          currency: reference.shownCurrency(parting.currencyId).currency,
          at: toTimestampOrNull(parting.atMs),
          ours: amountIn(parting.currencyId, parting.oursMinor).amount,
          theirs: amountIn(parting.currencyId, parting.theirsMinor).amount,
        }
      : null,
  }
  for (const finding of findings) {
    const { type, reference: name } = finding
    const named = { reference: name, type }
    if (finding.kind === 'only_ours') report.only_ours.push({ ...named, ...sideOf(finding.ours) })
    else if (finding.kind === 'only_theirs') report.only_theirs.push({ ...named, ...sideOf(finding.theirs) })
    else if (finding.kind === 'counted_twice')
      report.counted_twice.push({ ...named, ...sideOf(finding.theirs), times: finding.times })
    else {
      const [ours, theirs] = [sideOf(finding.ours), sideOf(finding.theirs)]
      const members = MEMBERS.filter((member) =>
        member === 'status' ? statusDiffers(finding.ours, finding.theirs) : ours[member] !== theirs[member],
      )
      report.differs.push({ ...named, ours, theirs, members })
    }
  }
  return report
}
