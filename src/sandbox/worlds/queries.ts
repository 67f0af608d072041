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

/** The pace that was kept, if any. */
export const findPace = (query: Query) => query.select().from(keptPace).limit(1).get()

/** Writes down where a clock stands, in the place of what was there. */
export const putClock = (tx: Tx, state: ClockState): void => {
  tx.insert(movedClock)
    .values({ id: 1, ...state })
    .onConflictDoUpdate({ target: movedClock.id, set: state })
    .run()
}

/** Where the clock stood when it was kept, if it was ever moved. */
export const findClock = (query: Query) => query.select().from(movedClock).limit(1).get()
