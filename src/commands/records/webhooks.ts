import type { Command } from 'commander'
import type { Acting, Acts } from '../../acts/act.ts'
import { get, type Kind, type Shown } from '../../acts/kind.ts'
import { findAnyEvent } from '../../events/queries.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { refused } from '../../kernel/exit.ts'
import { type Attempt, allWebhooks, attemptsTo, findAnyWebhook, type Webhook } from '../../webhooks/queries.ts'
import { countQueued } from '../../webhooks/queue-queries.ts'
import { disableWebhook, redeliver } from '../../webhooks/webhooks.ts'
import { acting } from '../acts/ask.ts'
import { dataCommand } from './administration.ts'
import { change, list, listCommand, recordCommand } from './records.ts'

/** `scrip webhooks`: webhooks of all clients and their deliveries (contract C16). */

export const webhookCommands = (webhooks: Command): void => {
  const act = acting(webhookActs)
  listCommand(webhooks.command('list'), 'list the webhooks of all clients, newest first', { client: true }).action(
    list(WEBHOOK.columns, (query, { clientId }) => allWebhooks(query, clientId)),
  )
  listCommand(webhooks.command('deliveries'), 'list the attempts to deliver to a webhook, newest first')
    .argument('<webhook>', 'its id')
    .action(
      list(ATTEMPT_COLUMNS, (query, narrowing, _, id: string) =>
        attemptsTo(query, get(WEBHOOK, query, id).id, narrowing),
      ),
    )
  dataCommand(webhooks, 'redeliver', 'deliver an event again to the webhooks of its client')
    .argument('<event>', 'its id')
    .action(act)
  recordCommand(webhooks, WEBHOOK, 'disable', 'switch a webhook off and drop what waits for it').action(act)
}

const redeliverEvent = ({ world, write, record }: Acting, id: string) =>
  write((tx) => {
    const event = findAnyEvent(tx, id)
    if (!event) throw refused(`there is no event ${id}\nEvents are kept for 30 days.`)
    const count = redeliver(tx, world, event)
    record(tx, { after: { webhooks: count } })
    return { event: id, type: event.type, webhooks: count }
  })

export const WEBHOOK: Kind<string, Webhook> = {
  name: 'webhook',
  group: 'webhooks',
  argument: ['<webhook>', 'its id'],
  find: findAnyWebhook,
  columns: {
    id: ({ id }) => id,
    client: ({ clientId }, { clientName }) => clientName(clientId),
    name: ({ name }) => name,
    url: ({ url }) => url,
    events: ({ events }) => events,
    signing: ({ signing }) => signing,
    active: ({ active }) => active,
    disabled_reason: ({ disabledReason }) => disabledReason,
    waiting: ({ id: webhookId, droppedTo }, { query }) => countQueued(query, { webhookId, droppedTo }),
    failing_since: ({ failingSinceMs }) => toTimestampOrNull(failingSinceMs),
    created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
  },
  audited: { active: ({ active }) => active },
}

export const ATTEMPT_COLUMNS: Shown<Attempt> = {
  id: ({ id }) => id,
  event: ({ eventId }) => eventId,
  type: ({ eventType }) => eventType,
  attempt: ({ attempt }) => attempt,
  status: ({ status }) => status,
  response_status: ({ responseStatus }) => responseStatus,
  error: ({ error }) => error,
  duration_ms: ({ durationMs }) => durationMs,
  next_attempt_at: ({ nextAttemptAtMs }) => toTimestampOrNull(nextAttemptAtMs),
  created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
}

export const webhookActs: Acts = {
  'webhooks redeliver': redeliverEvent,
  'webhooks disable': change(WEBHOOK, (tx, webhook, { world }) => disableWebhook(tx, world, webhook)),
}
