import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { prepared } from '../db/prepared.ts'
import { idempotencyKeys } from './tables.ts'

export type KeyRecord = typeof idempotencyKeys.$inferSelect

/** More than a write adds, and few enough for one request. */
const CLEARED_PER_WRITE = 20

const clearSome = prepared((tx: Tx) => {
  const { clientId, key, createdAtMs } = idempotencyKeys
  const old = tx
    .select({ clientId, key })
    .from(idempotencyKeys)
    .where(lte(createdAtMs, sql.placeholder('usedAtMsMax')))
    .orderBy(asc(createdAtMs))
    .limit(CLEARED_PER_WRITE)
  return tx.delete(idempotencyKeys).where(sql`(${clientId}, ${key}) IN ${old}`).prepare()
})

/** Deletes some of the keys that were used at that time or before, the oldest first. */
export const clearKeys = (tx: Tx, usedAtMsMax: number): void => void clearSome(tx).run({ usedAtMsMax })

const isKey = ({ clientId, key }: Pick<KeyRecord, 'clientId' | 'key'>) =>
  and(eq(idempotencyKeys.clientId, clientId), eq(idempotencyKeys.key, key))

/** Also finds a key that has expired. */
export const findKey = (query: Query, clientId: number, key: string): KeyRecord | undefined =>
  query.select().from(idempotencyKeys).where(isKey({ clientId, key })).limit(1).get()

/** Replaces an expired response. */
export const putKey = (tx: Tx, stored: KeyRecord): void => {
  const { clientId, key } = idempotencyKeys
  tx.insert(idempotencyKeys)
    .values(stored)
    .onConflictDoUpdate({ target: [clientId, key], set: stored })
    .run()
}

export const placeOf = ({ clientId, key }: Pick<KeyRecord, 'clientId' | 'key'>): string => `answer ${clientId} ${key}`

/** Unlike a sealed response, JSON begins with a brace. */
const SEALED = sql`${idempotencyKeys.body} NOT LIKE '{%'`

export type SealedResponse = Pick<KeyRecord, 'clientId' | 'key' | 'body'> & { place: string }

/** In order of client and key. */
export const sealedResponses = (
  query: Query,
  after: { clientId: number; key: string },
  limit: number,
): SealedResponse[] =>
  query
    .select({ clientId: idempotencyKeys.clientId, key: idempotencyKeys.key, body: idempotencyKeys.body })
    .from(idempotencyKeys)
    .where(and(SEALED, sql`(${idempotencyKeys.clientId}, ${idempotencyKeys.key}) > (${after.clientId}, ${after.key})`))
    .orderBy(asc(idempotencyKeys.clientId), asc(idempotencyKeys.key))
    .limit(limit)
    .all()
    .map((stored) => ({ ...stored, place: placeOf(stored) }))

export const resealResponse = (tx: Tx, stored: SealedResponse, body: string): void => {
  tx.update(idempotencyKeys).set({ body }).where(isKey(stored)).run()
}
