import { Type } from '@sinclair/typebox'
import { listOf } from '../../http/operation.ts'
import { EntrySchema, entryWire } from '../../wallets/ledger-entry.ts'
import { latestEntries } from '../../wallets/ledger-queries.ts'
import type { Parts } from '../parts.ts'
import { WorldQuery } from '../worlds/query.ts'
import { controlRoutes, limitUpTo } from './operation.ts'
import { caughtUpWorld } from './steps.ts'

/** The ledger as it is stored (contracts C11 and C15): it proves that money was moved once. */

const ENTRIES_MAX = 10_000

export const ledgerRoutes = (parts: Parts) =>
  controlRoutes('ledger.').get(
    '/ledger',
    async ({ query }) => {
      const { db } = await caughtUpWorld(parts, query.world)
      return latestEntries(db.query, query.limit).map((entry) => entryWire(entry, parts.reference))
    },
    {
      id: 'listLedgerEntries',
      summary: 'Read the ledger of a world',
      description: 'Every movement of money, the newest first, with its lines: a double entry.',
      query: Type.Object({ ...WorldQuery.properties, limit: limitUpTo(ENTRIES_MAX, ENTRIES_MAX) }),
      response: listOf('The entries', EntrySchema),
    },
  )
