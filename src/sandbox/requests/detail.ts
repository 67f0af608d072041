import type { Static } from '@sinclair/typebox'
import { eventWire } from '../../events/contract.ts'
import { findAnyEvent } from '../../events/queries.ts'
import type { Reference } from '../../reference/reference.ts'
import { entryWire } from '../../wallets/ledger-entry.ts'
import { entriesById } from '../../wallets/ledger-queries.ts'
import { explainedAttemptWire } from '../../webhooks/contract.ts'
import { attemptsOf } from '../../webhooks/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { RequestDetail } from './contract.ts'
import type { LoggedRequest } from './request-log.ts'
import type { RowChange } from './row-changes.ts'
import { isFinal, presentRow, valuesFrom } from './row-values.ts'

type Detail = Static<typeof RequestDetail>

/** One request with its effects. A request that wrote nothing does not wake a world at rest. */
export const detailOf = ({ world, changes, read }: LoggedRequest, reference: Reference): Detail => {
  const recorded = read()
  return {
    ...recorded,
    changes: changes.map((change) => changeIn(world, change)),
    ledger: entriesOf(world, changes, reference),
    ...effectsOf(world, recorded.events),
  }
}

const changeIn = (world: World, { table, operation, key, values }: RowChange): Detail['changes'][number] => {
  const { sqlite } = world.db
  const after = isFinal(table) ? presentRow(sqlite, table, key) : values.after
  const [before, written] = [values.before, after].map((row) => valuesFrom(sqlite, table, row))
  return { table, operation, key, before: before ?? null, after: written ?? null }
}

const entriesOf = (world: World, changes: readonly RowChange[], reference: Reference): Detail['ledger'] => {
  const ids = changes.filter(({ table }) => table === 'journal_entries').map(({ key }) => Number(key))
  return ids.length === 0 ? [] : entriesById(world.db.query, ids).map((entry) => entryWire(entry, reference))
}

const effectsOf = (world: World, eventIds: readonly string[]): Pick<Detail, 'caused' | 'deliveries'> => {
  if (eventIds.length === 0) return { caused: [], deliveries: [] }
  const { query } = world.db
  return {
    caused: eventIds.flatMap((id) => findAnyEvent(query, id) ?? []).map(eventWire),
    deliveries: attemptsOf(query, eventIds).map((attempt) => ({
      webhook_id: attempt.webhookId,
      ...explainedAttemptWire(attempt),
    })),
  }
}
