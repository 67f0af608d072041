import type { Static } from '@sinclair/typebox'
import type { Query, Tx } from '../db/database.ts'
import { writeEvent } from '../events/publish.ts'
import type { Event } from '../events/queries.ts'
import { matches } from '../events/types.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { DomainError, foundOr } from '../kernel/failure.ts'
import type { Session } from '../sessions/sessions.ts'
import type { World } from '../work/world.ts'
import { clearSome } from './clearing.ts'
import {
  TOO_MANY_WEBHOOKS,
  WEBHOOK_NOT_ACTIVE,
  WEBHOOK_NOT_FOUND,
  WEBHOOKS_MAX,
  type WebhookBody,
  type WebhookUpdateBody,
} from './contract.ts'
import { activeWebhooksOf, countWebhooks, findWebhook, insertWebhook, updateWebhook, type Webhook } from './queries.ts'
import { dropQueue, queueAgain, queueDelivery } from './queue.ts'
import type { Secrets } from './secrets.ts'
import { secretFrom } from './signing.ts'

/** The length of a new secret (contract C16). */
const SECRET_BYTES = 32
/** The old secret signs for this time after a rotation. */
const ROTATION_MS = DAY_MS

/** @throws DomainError not_found */
export const getWebhook = ({ world, client }: Session, id: string, query: Query = world.db.query): Webhook =>
  foundOr(findWebhook(query, client.id, id), WEBHOOK_NOT_FOUND)

/** A webhook and its secret, which no later response shows. */
interface WithSecret {
  webhook: Webhook
  secret: string
}

/** @throws DomainError too_many_webhooks */
export const createWebhook = (
  tx: Tx,
  world: World,
  secrets: Secrets,
  clientId: number,
  { name, url, events, signing = 'standard' }: Static<typeof WebhookBody>,
): WithSecret => {
  if (countWebhooks(tx, clientId) >= WEBHOOKS_MAX) throw new DomainError(TOO_MANY_WEBHOOKS)
  const nowMs = world.clock.nowMs()
  const id = world.ids.next('whk', nowMs)
  const secret = secretFrom(world.randomness.bytes(SECRET_BYTES))
  const webhook: Webhook = {
    id,
    clientId,
    name,
    url,
    events,
    signing,
    active: true,
    disabledReason: null,
    secret: secrets.encrypt(tx, { id, clientId }, secret),
    previousSecret: null,
    previousUntilMs: null,
    failingSinceMs: null,
    droppedTo: 0,
    deleted: false,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  insertWebhook(tx, webhook)
  return { webhook, secret }
}

/** Changes a webhook. Switching it off drops its waiting deliveries; switched on, it begins like a new one. */
export const changeWebhook = (
  tx: Tx,
  world: World,
  webhook: Webhook,
  { active, ...members }: Static<typeof WebhookUpdateBody>,
): Webhook => {
  const update = { ...members, updatedAtMs: world.clock.nowMs() }
  if (active === undefined || active === webhook.active) return updateWebhook(tx, webhook, update)
  if (active) return updateWebhook(tx, webhook, { ...update, active, disabledReason: null, failingSinceMs: null })
  return dropQueue(tx, webhook, { ...update, active })
}

/** Switches a webhook off for an operator, until its client switches it on again. */
export const disableWebhook = (tx: Tx, world: World, webhook: Webhook): Webhook =>
  webhook.active
    ? dropQueue(tx, webhook, { active: false, disabledReason: 'operator', updatedAtMs: world.clock.nowMs() })
    : webhook

/** Deletes a webhook. If it has many rows, they are deleted later. */
export const deleteWebhook = (tx: Tx, webhook: Webhook): void => {
  dropQueue(tx, webhook, { active: false, deleted: true })
  clearSome(tx, webhook.id)
}

/** The old secret signs beside the new one for a day; the one before it no longer does. */
export const rotateSecret = (tx: Tx, world: World, secrets: Secrets, webhook: Webhook): WithSecret => {
  const nowMs = world.clock.nowMs()
  const secret = secretFrom(world.randomness.bytes(SECRET_BYTES))
  const rotated = updateWebhook(tx, webhook, {
    secret: secrets.encrypt(tx, webhook, secret),
    previousSecret: webhook.secret,
    previousUntilMs: nowMs + ROTATION_MS,
    updatedAtMs: nowMs,
  })
  return { webhook: rotated, secret }
}

/** Sends a ping to one webhook alone. @throws DomainError webhook_not_active */
export const pingWebhook = (tx: Tx, world: World, webhook: Webhook): Event => {
  if (!webhook.active) throw new DomainError(WEBHOOK_NOT_ACTIVE)
  const { id, clientId } = webhook
  const nowMs = world.clock.nowMs()
  const event = writeEvent(tx, world, {
    clientId,
    type: 'ping',
    record: recordOfPing(id),
    data: { webhook_id: id },
    createdAtMs: nowMs,
  })
  queueDelivery(tx, world, webhook, event, nowMs)
  return event
}

const recordOfPing = (webhookId: string): string => `webhook ${webhookId}`

/** Sends an event again to every active webhook whose filter fits, or to one of them. Returns the number of webhooks. */
export const redeliver = (tx: Tx, world: World, event: Event, onlyTo?: string): number => {
  let sent = 0
  for (const webhook of activeWebhooksOf(tx, event.clientId)) {
    if (onlyTo !== undefined && webhook.id !== onlyTo) continue
    const isFor =
      event.type === 'ping' ? event.record === recordOfPing(webhook.id) : matches(webhook.events, event.type)
    if (!isFor) continue
    queueAgain(tx, world, webhook, event)
    sent += 1
  }
  return sent
}
