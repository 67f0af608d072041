import type { Tx } from '../db/database.ts'
import { type Event, isUnchanged } from '../events/queries.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { findAnyWebhook, insertAttempt, updateWebhook, type Webhook } from './queries.ts'
import { dropQueue, finishQueued } from './queue.ts'
import { findQueued, type QueuedDelivery, updateQueued } from './queue-queries.ts'
import type { ReceiverResponse } from './sender.ts'

/** The consequences of an attempt (contract C16). */

/** The pause after each failure but the last. */
export const PAUSES_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS]
/** A webhook is switched off after this time without a success. */
const FAILING_MS_MAX = 3 * DAY_MS
const GONE = 410

interface Attempted {
  queued: QueuedDelivery
  event: Event
  response: ReceiverResponse
  atMs: number
  nowMs: number
}

export type AttemptStatus = 'delivered' | 'retrying' | 'failed'

export interface AttemptResult {
  status: AttemptStatus
  /** The reason for switching the webhook off; undefined if it stays on. */
  disabledReason?: string
}

const isDelivered = ({ status }: ReceiverResponse): boolean => status !== null && status >= 200 && status < 300

/** Records an attempt, and queues the next one or that of the next event. A webhook that is off stays as it is. */
export const recordAttempt = (
  tx: Tx,
  { queued, event, response, atMs, nowMs }: Attempted,
): AttemptResult | undefined => {
  const webhook = findAnyWebhook(tx, queued.webhookId)
  if (!webhook) return undefined
  const waiting = webhook.active && queued.id > webhook.droppedTo ? findQueued(tx, queued.id) : undefined
  const failures = (waiting ?? queued).failures + 1
  const pauseMs = waiting && PAUSES_MS[failures - 1]
  const reason = isDelivered(response) || !waiting ? undefined : reasonToDisable(webhook, response, nowMs)
  const status = isDelivered(response) ? 'delivered' : pauseMs === undefined || reason ? 'failed' : 'retrying'
  const nextAttemptAtMs = status === 'retrying' && pauseMs !== undefined ? nowMs + pauseMs : null
  insertAttempt(tx, {
    id: null,
    clientId: webhook.clientId,
    webhookId: webhook.id,
    eventId: event.eventId,
    eventType: event.type,
    attempt: failures,
    status,
    responseStatus: response.status,
    durationMs: response.durationMs,
    // A receiver can repeat data of the event, from which a person may have been erased.
    responseBody: isUnchanged(tx, event) ? response.body : null,
    nextAttemptAtMs,
    createdAtMs: atMs,
    error: response.error,
  })
  if (!waiting) return { status }
  if (reason) {
    dropQueue(tx, webhook, { active: false, disabledReason: reason, updatedAtMs: nowMs })
    return { status, disabledReason: reason }
  }
  if (nextAttemptAtMs === null) {
    finishQueued(tx, webhook, waiting, nowMs)
  } else {
    updateQueued(tx, waiting, { failures, dueAtMs: nextAttemptAtMs })
  }
  const failingSinceMs = status === 'delivered' ? null : (webhook.failingSinceMs ?? nowMs)
  if (failingSinceMs !== webhook.failingSinceMs) updateWebhook(tx, webhook, { failingSinceMs })
  return { status }
}

const reasonToDisable = (
  { failingSinceMs }: Webhook,
  { status }: ReceiverResponse,
  nowMs: number,
): string | undefined => {
  if (status === GONE) return 'gone'
  return failingSinceMs !== null && nowMs - failingSinceMs >= FAILING_MS_MAX ? 'failing' : undefined
}
