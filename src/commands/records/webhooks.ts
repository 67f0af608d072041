import type { Command } from 'commander'
import type { Query } from '../../db/database.ts'
import { findAnyEvent } from '../../events/queries.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { type Attempt, allWebhooks, findAnyWebhook, latestAttempts, type Webhook } from '../../webhooks/queries.ts'
import { countQueued } from '../../webhooks/queue-queries.ts'
import { disableWebhook, redeliver } from '../../webhooks/webhooks.ts'
import { listOf, mapped } from '../terminal/cells.ts'
import { act } from './acts.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { clientNamesById } from './client-records.ts'
import { type ListOptions, limited, listCommand, narrowingOf } from './lists.ts'

/** `scrip webhooks`: where events go, and what became of them (contract C16). */

const ATTEMPTS_SHOWN = 50

export const webhookCommands = (webhooks: Command): void => {
  listCommand(webhooks, 'list', 'list the webhooks of all clients, newest first', { client: true }).action(
    administer(({ database: { query } }, options: ListOptions) => {
      const names = clientNamesById(query)
      const rows = limited(allWebhooks(query, narrowingOf(query, options).clientId), options)
      return listOf(
        WEBHOOK_COLUMNS,
        mapped(rows, (webhook) => webhookRow(query, names, webhook)),
      )
    }),
  )
  listCommand(webhooks, 'deliveries', `list the last attempts to deliver to a webhook, ${ATTEMPTS_SHOWN} by default`)
    .argument('<webhook>', 'its id')
    .action(
      administer(({ database: { query } }, id: string, { limit = ATTEMPTS_SHOWN }: ListOptions) =>
        listOf(ATTEMPT_COLUMNS, mapped(latestAttempts(query, getWebhook(query, id).id, limit), attemptRow)),
      ),
    )
  dataCommand(webhooks, 'redeliver', 'deliver an event again to the webhooks of its client')
    .argument('<event>', 'its id')
    .action(
      act(({ world, write, record }, id: string) =>
        write((tx) => {
          const event = findAnyEvent(tx, id)
          if (!event) throw refused(`there is no event ${id}\nEvents are kept for 30 days.`)
          const count = redeliver(tx, world, event)
          record(tx, { after: { webhooks: count } })
          return { event: id, type: event.type, webhooks: count }
        }),
      ),
    )
  dataCommand(webhooks, 'disable', 'switch a webhook off and drop what waits for it')
    .argument('<webhook>', 'its id')
    .action(
      act(({ world, write, record }, id: string) =>
        write((tx) => {
          const webhook = getWebhook(tx, id)
          const disabled = disableWebhook(tx, world, webhook)
          record(tx, { before: { active: webhook.active }, after: { active: disabled.active } })
          return webhookRow(tx, clientNamesById(tx), disabled)
        }),
      ),
    )
}

const getWebhook = (query: Query, id: string): Webhook => {
  const webhook = findAnyWebhook(query, id)
  if (!webhook) throw refused(`there is no webhook ${id}\nSee scrip webhooks list.`)
  return webhook
}

const WEBHOOK_COLUMNS = [
  'id',
  'client',
  'name',
  'url',
  'events',
  'signing',
  'active',
  'disabled_reason',
  'waiting',
  'failing_since',
  'created_at',
] as const

const webhookRow = (query: Query, names: ReadonlyMap<number, string>, webhook: Webhook) => ({
  id: webhook.id,
  client: names.get(webhook.clientId) ?? null,
  name: webhook.name,
  url: webhook.url,
  events: webhook.events,
  signing: webhook.signing,
  active: webhook.active,
  disabled_reason: webhook.disabledReason,
  waiting: countQueued(query, { webhookId: webhook.id, droppedTo: webhook.droppedTo }),
  failing_since: toTimestampOrNull(webhook.failingSinceMs),
  created_at: toTimestamp(webhook.createdAtMs),
})

const ATTEMPT_COLUMNS = [
  'id',
  'event',
  'type',
  'attempt',
  'status',
  'response_status',
  'error',
  'duration_ms',
  'next_attempt_at',
  'created_at',
] as const

const attemptRow = (attempt: Attempt) => ({
  id: attempt.id,
  event: attempt.eventId,
  type: attempt.eventType,
  attempt: attempt.attempt,
  status: attempt.status,
  response_status: attempt.responseStatus,
  error: attempt.error,
  duration_ms: attempt.durationMs,
  next_attempt_at: toTimestampOrNull(attempt.nextAttemptAtMs),
  created_at: toTimestamp(attempt.createdAtMs),
})
