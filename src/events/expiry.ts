import type { Query, Tx } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import type { DueSource } from '../work/due.ts'
import { deleteOldest, findOldestMs } from './queries.ts'

/** Contract C16. */
export const EVENT_KEPT_MS = 30 * DAY_MS

/** Deleting this many takes about a millisecond. */
const DELETED_AT_ONCE = 50

/** Deletes records 30 days after they were written, the oldest first. */
export const expiring = (
  kind: DueSource['kind'],
  oldestMs: (query: Query) => number | undefined,
  deleteOldest: (tx: Tx, upToMs: number, countMax: number) => void,
): DueSource => ({
  kind,
  first: (query, quarantined) => {
    const writtenMs = oldestMs(query)
    if (writtenMs === undefined || quarantined.size > 0) return undefined
    return {
      id: 'the oldest',
      dueMs: writtenMs + EVENT_KEPT_MS,
      step: (tx, world) => deleteOldest(tx, world.clock.nowMs() - EVENT_KEPT_MS, DELETED_AT_ONCE),
    }
  },
  waiting: () => 0,
})

export const expiringEvents = expiring('events', findOldestMs, deleteOldest)
