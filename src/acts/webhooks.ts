import { type Event, findAnyEvent } from '../events/queries.ts'
import { Text } from '../http/validation.ts'
import { type Attempt, attemptsTo, findAnyWebhook, type Webhook, webhooksOf } from '../webhooks/queries.ts'
import { countQueued } from '../webhooks/queue-queries.ts'
import { disableWebhook, redeliver } from '../webhooks/webhooks.ts'
import { field } from './fields.ts'
import { get, type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

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

const EVENT: Kind<string, Event> = {
  name: 'event',
  group: 'webhooks',
  argument: field('<event>', 'its id'),
  find: findAnyEvent,
  columns: members<Event>('id'),
  advice: 'Events are kept for 30 days.',
}

const ONLY_TO = { schema: Text({ maxLength: 64, description: 'The only webhook that gets it' }) }

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
  redeliver: step(
    EVENT,
    'Deliver again',
    'Deliver an event again to the webhooks of its client',
    { webhook_id: field('--webhook <id>', 'only to this one', ONLY_TO) },
    (tx, event, { webhook_id: onlyTo }, { world }) => redeliver(tx, world, event, onlyTo),
    {
      route: 'POST /events/{id}/redeliver',
      id: 'redeliverWorldEvent',
      names: 'event_redeliver.',
      description: 'To every active webhook of its client whose filter fits, or only to one of them.',
      title: 'RedeliveryRequest',
      bodyExample: {},
    },
    ({ eventId, type }, webhooks) => ({ event: eventId, type, webhooks }),
  ),
  disable: step(
    WEBHOOK,
    'Switch off',
    'Switch a webhook off and drop its waiting deliveries',
    {},
    (tx, webhook, _, { world }) => disableWebhook(tx, world, webhook),
  ),
} satisfies Noun
