import type { Static } from '@sinclair/typebox'
import { eventWire } from '../../events/contract.ts'
import { findAnyEvent } from '../../events/queries.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import type { Reference } from '../../reference/reference.ts'
import { entryWire } from '../../wallets/ledger-entry.ts'
import { entriesById } from '../../wallets/ledger-queries.ts'
import { explainedAttemptWire } from '../../webhooks/contract.ts'
import { type Attempt, attemptsOf, findWebhookEvenDeleted } from '../../webhooks/queries.ts'
import type { Secrets } from '../../webhooks/secrets.ts'
import { isSignedBy, signedAtMs } from '../../webhooks/signing.ts'
import type { World } from '../../work/world.ts'
import type { Parts } from '../parts.ts'
import { inboxOf } from '../webhooks/inbox.ts'
import { wake } from '../worlds/resting.ts'
import type { RequestDetail } from './contract.ts'
import type { LoggedRequest } from './request-log.ts'
import type { RowChange } from './row-changes.ts'
import { valuesFrom } from './row-values.ts'

type Detail = Static<typeof RequestDetail>

/** One request with its effects. A request that wrote nothing does not wake a world at rest. */
export const detailOf = (
  { world, changes, read }: LoggedRequest,
  { reference, secrets }: Pick<Parts, 'reference' | 'secrets'>,
): Detail => {
  const recorded = read()
  return {
    ...recorded,
    changes: changes.map((change) => changeIn(world, change)),
    ledger: entriesOf(world, changes, reference),
    ...effectsOf(world, recorded.events, secrets),
  }
}

const changeIn = (
  { db: { sqlite } }: World,
  { table, operation, key, values }: RowChange,
): Detail['changes'][number] => ({
  table,
  operation,
  key,
  before: valuesFrom(sqlite, table, values.before),
  after: valuesFrom(sqlite, table, values.after),
})

const entriesOf = (world: World, changes: readonly RowChange[], reference: Reference): Detail['ledger'] => {
  const ids = changes.filter(({ table }) => table === 'journal_entries').map(({ key }) => Number(key))
  return ids.length === 0 ? [] : entriesById(world.db.query, ids).map((entry) => entryWire(entry, reference))
}

const effectsOf = (
  world: World,
  eventIds: readonly string[],
  secrets: Secrets,
): Pick<Detail, 'caused' | 'deliveries'> => {
  if (eventIds.length === 0) return { caused: [], deliveries: [] }
  const { query } = world.db
  return {
    caused: eventIds.flatMap((id) => findAnyEvent(query, id) ?? []).map(eventWire),
    deliveries: attemptsOf(query, eventIds).map((attempt) => ({
      webhook_id: attempt.webhookId,
      ...explainedAttemptWire(attempt),
      verifies: verifies(world, attempt, secrets),
    })),
  }
}

/** True if an inbox holds the message of an attempt with a valid signature of its webhook; null if no inbox received it. */
const verifies = (world: World, { webhookId, eventId, createdAtMs }: Attempt, secrets: Secrets): boolean | null => {
  const webhook = findWebhookEvenDeleted(world.db.query, webhookId)
  if (!webhook) return null
  wake(world)
  const { pathname } = new URL(webhook.url)
  const second = createdAtMs - (createdAtMs % SECOND_MS)
  const messages = inboxOf(world)
    .items.filter(
      ({ name, body }) =>
        pathname === `/_sandbox/inbox/${encodeURIComponent(name)}` && body.startsWith(`{"id":"${eventId}"`),
    )
    .map(({ headers, body }) => ({ headers: new Headers(headers), body }))
    .filter(({ headers }) => signedAtMs(webhook.signing, headers) === second)
  if (messages.length === 0) return null
  const keys = secrets.of(world.db.query, webhook, createdAtMs)
  return messages.some(({ headers, body }) => isSignedBy(keys, webhook.signing, headers, body))
}
