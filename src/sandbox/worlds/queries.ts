import type { Query, Tx } from '../../db/database.ts'
import type { ClockState } from './movable-clock.ts'
import type { Pace } from './pace.ts'
import { keptPace, movedClock } from './tables.ts'

/** Keeps the pace of a world: in its data, so that it outlives a restart. */
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
