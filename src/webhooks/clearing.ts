import type { Tx } from '../db/database.ts'
import { EVENT_KEPT_MS } from '../events/expiry.ts'
import { turns } from '../kernel/turns.ts'
import { type DueSource, schedule } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { deleteWebhookRow, updateWebhook, type Webhook, webhooksToClear } from './queries.ts'
import { deleteAttemptsOf, deleteDropped, deleteOldestAttempts, findOldestAttemptMs } from './queue-queries.ts'

/** To delete as many takes about a millisecond. */
const DELETED_AT_ONCE = 50

/** Deletes what was dropped from the queues of a world, and the rest of deleted webhooks. */
export const clearDropped = async (world: World): Promise<void> => {
  for (const webhook of webhooksToClear(world.db.query)) {
    while (await world.db.write((tx) => clearSome(tx, webhook))) await turns.next(world)
  }
  schedule(world, 'events', world.clock.nowMs()) // events that were kept for it
}

/** Returns whether there may be more. */
export const clearSome = (tx: Tx, webhook: Webhook): boolean => {
  const { id, clientId, droppedTo, deleted } = webhook
  if (deleteDropped(tx, { webhookId: id, droppedTo }, DELETED_AT_ONCE) === DELETED_AT_ONCE) return true
  if (!deleted) {
    updateWebhook(tx, webhook, { droppedTo: 0 })
    return false
  }
  if (deleteAttemptsOf(tx, id, clientId, DELETED_AT_ONCE) === DELETED_AT_ONCE) return true
  deleteWebhookRow(tx, id)
  return false
}

/** Attempts are kept as long as their events. */
export const expiringAttempts: DueSource = {
  kind: 'attempts',
  nextMs: (query) => {
    const oldestMs = findOldestAttemptMs(query)
    return oldestMs === undefined ? undefined : oldestMs + EVENT_KEPT_MS
  },
  waiting: () => 0,
  step: (tx, world) => deleteOldestAttempts(tx, world.clock.nowMs() - EVENT_KEPT_MS, DELETED_AT_ONCE),
}
