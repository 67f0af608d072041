import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { count, parameter } from '../../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../../http/schemas.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { toMajor } from '../../kernel/money.ts'
import { turns } from '../../kernel/turns.ts'
import type { Reference } from '../../reference/reference.ts'
import { entriesBefore, type LedgerEntry } from '../../wallets/ledger-queries.ts'
import { ACCOUNTS, SOURCE_TYPES } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { WorldQuery } from '../worlds/operations.ts'
import { controlOperation } from './operation.ts'
import { caughtUpWorld } from './operator-routes.ts'

/** The ledger as it is kept (contracts C11 and C15): what proves that money was moved once. */

const Entry = Type.Object(
  {
    id: Type.Integer(),
    source_type: oneOf(SOURCE_TYPES),
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
    ),
  },
  { title: 'LedgerEntry' },
)

const ENTRIES_MAX = 10_000

const listEntries = controlOperation('ledger')({
  id: 'listLedgerEntries',
  summary: 'Read the ledger of a world',
  description: 'Every movement of money, the newest first, with its lines: a double entry.',
  query: Type.Object({
    ...WorldQuery.properties,
    limit: parameter<number>(
      Type.Integer({ minimum: 1, maximum: ENTRIES_MAX, default: ENTRIES_MAX, description: 'Maximum number of items' }),
      count(ENTRIES_MAX),
    ),
  }),
  success: {
    status: 200,
    description: 'The entries',
    schema: Type.Array(Entry),
    example: [
      {
        id: 1,
        source_type: 'funding',
        source_id: null,
        created_at: '2026-01-01T00:00:00.000Z',
        lines: [
          { account: 'wallet', wallet_id: 1, currency: 'USD', amount: 100_000 },
          { account: 'funding', wallet_id: null, currency: 'USD', amount: -100_000 },
        ],
      },
    ],
  },
  errors: {},
})

export const ledgerRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-ledger' }).get(
    '/ledger',
    async ({ query }) => {
      const world = await caughtUpWorld(parts, query.world)
      const entries = await readEntries(world, query.limit)
      return entries.map((entry) => entryWire(entry, parts.reference))
    },
    listEntries,
  )

const ENTRIES_PER_SLICE = 500

/** Read in slices: ten thousand entries take longer than other requests should wait. */
const readEntries = async (world: World, limit: number): Promise<LedgerEntry[]> => {
  const entries: LedgerEntry[] = []
  for (;;) {
    const wanted = Math.min(ENTRIES_PER_SLICE, limit - entries.length)
    const slice = await turns.take(world, () => entriesBefore(world.db.query, entries.at(-1)?.id, wanted))
    entries.push(...slice)
    if (slice.length < wanted || entries.length === limit) return entries
  }
}

const entryWire = ({ lines, ...entry }: LedgerEntry, reference: Reference): Static<typeof Entry> => ({
  id: entry.id,
  source_type: entry.sourceType,
  source_id: entry.sourceId,
  created_at: toTimestamp(entry.createdAtMs),
  lines: lines.map(({ account, walletId, currencyId, amountMinor }) => {
    const { currency, precision } = reference.getCurrency(currencyId)
    return { account, wallet_id: walletId, currency, amount: toMajor(amountMinor, precision) }
  }),
})
