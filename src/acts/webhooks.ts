import { findAnyEvent } from '../events/queries.ts'
import { refused } from '../kernel/exit.ts'
import { type Attempt, attemptsTo, findAnyWebhook, type Webhook, webhooksOf } from '../webhooks/queries.ts'
import { countQueued } from '../webhooks/queue-queries.ts'
import { disableWebhook, redeliver } from '../webhooks/webhooks.ts'
import type { Acting } from './act.ts'
import { field } from './fields.ts'
import { act, get, type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

/** `scrip webhooks`: webhooks of all clients and their deliveries (contract C16). */

export const WEBHOOK: Kind<string, Webhook> = {
  name: 'webhook',
  group: 'webhooks',
  argument: field('<webhook>', 'its id'),
  find: findAnyWebhook,
  columns: {
    ...members<Webhook>('id', 'clientId', 'name', 'url', 'events', 'signing', 'active', 'disabledReason'),
    waiting: ({ id: webhookId, droppedTo }, { query }) => countQueued(query, { webhookId, droppedTo }),
    ...members<Webhook>('failingSinceMs', 'createdAtMs'),
  },
  allows: ({ active }, verb) => active || verb !== 'disable',
  audited: members<Webhook>('active'),
}

const redeliverEvent = ({ world, write, record }: Acting, { event: id }: { event: string }) =>
  write((tx) => {
    const event = findAnyEvent(tx, id)
    if (!event) throw refused(`there is no event ${id}\nEvents are kept for 30 days.`)
    const count = redeliver(tx, world, event)
    record(tx, { after: { webhooks: count } })
    return { event: id, type: event.type, webhooks: count }
  })

export const ATTEMPT_COLUMNS: Shown<Attempt> = {
  ...members<Attempt>('id'),
  event: ({ eventId }) => eventId,
  type: ({ eventType }) => eventType,
  ...members<Attempt>('attempt', 'status', 'responseStatus', 'error', 'durationMs', 'nextAttemptAtMs', 'createdAtMs'),
}

export const webhookActs = {
  list: listing('List the webhooks of all clients, newest first', WEBHOOK.columns, webhooksOf, {
    brief: 'id client active url waiting failing_since created_at',
    client: true,
    inSandbox: 'GET /webhooks',
  }),
  show: showing(WEBHOOK, 'Show a webhook'),
  deliveries: listing(
    'List the attempts to deliver to a webhook, newest first',
    ATTEMPT_COLUMNS,
    (query, narrowing, { webhook }) => attemptsTo(query, get(WEBHOOK, query, webhook).id, narrowing),
    { takes: { webhook: WEBHOOK.argument }, brief: 'id type attempt status response_status error created_at' },
  ),
  redeliver: act(
    'Deliver an event again to the webhooks of its client',
    { event: field('<event>', 'its id') },
    redeliverEvent,
    { inSandbox: 'POST /events/{id}/redeliver' },
  ),
  disable: step(WEBHOOK, 'Switch a webhook off and drop its waiting deliveries', {}, (tx, webhook, _, { world }) =>
    disableWebhook(tx, world, webhook),
  ),
} satisfies Noun
