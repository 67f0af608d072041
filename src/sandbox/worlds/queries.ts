import { sql } from 'drizzle-orm'
import type { Query, Tx } from '../../db/database.ts'
import { preparedPut } from '../../db/prepared.ts'
import type { IdState } from '../../kernel/ids.ts'
import { SEEDED } from '../seed/accounts.ts'
import type { ClockState, Pace } from './movable-clock.ts'
import { keptPace, keptRandomness, movedClock } from './tables.ts'

/** True if the world holds more than its seed data. */
export const holdsRecords = (query: Query): boolean => {
  const found = sql<number>`EXISTS (SELECT 1 FROM beneficiaries) OR EXISTS (SELECT 1 FROM orders)
    OR EXISTS (SELECT 1 FROM payouts) OR EXISTS (SELECT 1 FROM events)
    OR EXISTS (SELECT 1 FROM product_changes) OR EXISTS (SELECT 1 FROM webhooks)
    OR (SELECT count(*) FROM clients) > ${SEEDED.clients} OR (SELECT count(*) FROM wallets) > ${SEEDED.wallets}
    OR EXISTS (SELECT 1 FROM journal_entries WHERE id > ${SEEDED.entries})`
  return query.select({ found }).from(sql`(SELECT 1)`).get()?.found === 1
}

/** Stores the pace of a world in its data, so that it outlives a restart. */
export const keepPace = (tx: Tx, kept: Record<'payouts' | 'orders', Pace>): void => {
  tx.insert(keptPace)
    .values({ id: 1, ...kept })
    .onConflictDoUpdate({ target: keptPace.id, set: kept })
    .run()
}

export const findPace = (query: Query) =>
  query.select({ payouts: keptPace.payouts, orders: keptPace.orders }).from(keptPace).limit(1).get()

export const putClock = (tx: Tx, state: ClockState): void => {
  tx.insert(movedClock)
    .values({ id: 1, ...state })
    .onConflictDoUpdate({ target: movedClock.id, set: state })
    .run()
}

/** Undefined if the clock was never moved. */
export const findClock = (query: Query): ClockState | undefined =>
  query.select({ offsetMs: movedClock.offsetMs, frozenAtMs: movedClock.frozenAtMs }).from(movedClock).limit(1).get()

/** The positions of the random stream and the ids of a world. */
export interface RandomState {
  randomness: { seed: string; position: number }
  ids: IdState
}

const putRow = preparedPut(keptRandomness, [keptRandomness.id])

export const putRandomness = (tx: Tx, { randomness, ids }: RandomState): void =>
  putRow(tx, { id: 1, ...randomness, ...ids })

/** Undefined for a world that has drawn nothing yet. */
export const findRandomness = (query: Query): RandomState | undefined => {
  const row = query.select().from(keptRandomness).limit(1).get()
  if (!row) return undefined
  const { seed, position, lastMs, sequence } = row
  return { randomness: { seed, position }, ids: { lastMs, sequence } }
}
