import type { Tx } from '../db/database.ts'
import { expiring } from '../events/expiry.ts'
import { nextTurn } from '../kernel/turns.ts'
import { schedule } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { deleteWebhookRow, findWebhookEvenDeleted, updateWebhook, webhooksToClear } from './queries.ts'
import { deleteDropped, deleteOldestAttempts, findOldestAttemptMs } from './queue-queries.ts'

/** Deleting this many rows takes about a millisecond. */
const DELETED_AT_ONCE = 50

/** Deletes dropped deliveries of a world, and the rest of deleted webhooks. Several calls can run at the same time. */
export const clearDropped = async (world: World): Promise<void> => {
  const dropped = webhooksToClear(world.db.query)
  for (const { id } of dropped) {
    while (await world.db.write((tx) => clearSome(tx, id))) await nextTurn()
  }
  if (dropped.length > 0) schedule(world, 'events', world.clock.nowMs()) // events that were kept for the queue
}

/** Returns whether there may be more. The webhook is read at each step: it can be dropped again, or deleted, in between. */
export const clearSome = (tx: Tx, webhookId: string): boolean => {
  const webhook = findWebhookEvenDeleted(tx, webhookId)
  if (!webhook) return false
  const { droppedTo, deleted } = webhook
  if (deleteDropped(tx, { webhookId, droppedTo }, DELETED_AT_ONCE) === DELETED_AT_ONCE) return true
  if (deleted) deleteWebhookRow(tx, webhookId)
  else if (droppedTo > 0) updateWebhook(tx, webhook, { droppedTo: 0 })
  return false
}

/** Attempts are kept as long as their events, those of a deleted webhook too. */
export const expiringAttempts = expiring('attempts', findOldestAttemptMs, deleteOldestAttempts)
