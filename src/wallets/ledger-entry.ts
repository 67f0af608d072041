import { type Static, Type } from '@sinclair/typebox'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { LedgerEntry } from './ledger-queries.ts'
import { ACCOUNTS, SOURCE_TYPES } from './queries.ts'

export const EntrySchema = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    source_type: oneOf(SOURCE_TYPES, { example: 'funding' }),
    source_id: nullable(Type.String()),
    created_at: Timestamp,
    lines: Type.Array(
      Type.Object(
        {
          account: oneOf(ACCOUNTS),
          wallet_id: nullable(Type.Integer({ description: 'Only of the accounts wallet and reserved' })),
          currency: Type.String(),
          amount: Type.Number({ description: 'Signed; the lines of an entry sum to zero in each currency' }),
        },
        { title: 'LedgerLine' },
      ),
      {
        example: [
          { account: 'wallet', wallet_id: 1, currency: 'USD', amount: 100_000 },
          { account: 'funding', wallet_id: null, currency: 'USD', amount: -100_000 },
        ],
      },
    ),
  },
  { title: 'LedgerEntry' },
)

export const entryWire = ({ lines, ...entry }: LedgerEntry, reference: Reference): Static<typeof EntrySchema> => ({
  id: entry.id,
  source_type: entry.sourceType,
  source_id: entry.sourceId,
  created_at: toTimestamp(entry.createdAtMs),
  lines: lines.map(({ account, walletId, currencyId, amountMinor }) => {
    const { currency, precision } = reference.shownCurrency(currencyId)
    return { account, wallet_id: walletId, currency, amount: toMajor(amountMinor, precision) }
  }),
})
