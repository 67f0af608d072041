import { DAY_MS } from '../kernel/clock.ts'
import type { DueSource } from '../worlds/due.ts'
import { deleteOldest, findOldestMs } from './queries.ts'

/** Contract C16. */
export const EVENT_KEPT_MS = 30 * DAY_MS

/** To delete as many takes about a millisecond. */
const DELETED_AT_ONCE = 50

/** Deletes events 30 days after they happened, the oldest first. */
export const expiringEvents: DueSource = {
  kind: 'events',
  first: (query, setAside) => {
    const oldestMs = findOldestMs(query)
    if (oldestMs === undefined || setAside.size > 0) return undefined
    return {
      id: 'the oldest',
      dueMs: oldestMs + EVENT_KEPT_MS,
      step: (tx, world) => deleteOldest(tx, world.clock.nowMs() - EVENT_KEPT_MS, DELETED_AT_ONCE),
    }
  },
  waiting: () => 0,
}
