import { eventJson } from '../events/contract.ts'
import type { Event } from '../events/queries.ts'
import type { World } from '../work/world.ts'
import type { Webhook } from './queries.ts'
import type { QueuedDelivery } from './queue-queries.ts'
import type { ReceiverResponse, Send } from './sender.ts'
import { signatureHeaders } from './signing.ts'

/** A delivery that is about to be attempted. */
export interface Outgoing {
  world: World
  webhook: Webhook
  event: Event
  queued: QueuedDelivery
  /** By the clock of the world. */
  atMs: number
  /** The new secret first; each signs. */
  secrets: readonly string[]
}

/** Attempts a delivery. Undefined if the queue has meanwhile postponed it: then there is no attempt. */
export type Deliver = (outgoing: Outgoing, signal: AbortSignal) => Promise<ReceiverResponse | undefined>

/** Posts an event with its signature (contract C16), in the trace of the request that caused it (decision 70). */
export const posting =
  (send: Send): Deliver =>
  ({ webhook, event, atMs, secrets }, signal) => {
    const { eventId, type: eventType, traceparent } = event
    const body = eventJson(event)
    const signed = { webhookId: webhook.id, eventId, eventType, body, atMs, secrets }
    const headers = { ...signatureHeaders[webhook.signing](signed), ...(traceparent !== null && { traceparent }) }
    return send({ url: webhook.url, headers, body }, signal)
  }
