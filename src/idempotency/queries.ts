import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { prepared, preparedOne, preparedPut } from '../db/prepared.ts'
import { sha256Of } from '../kernel/sha256.ts'
import { idempotencyKeys } from './tables.ts'

export type KeyRecord = typeof idempotencyKeys.$inferSelect

/** The number is more than a write adds, and few enough for one request. */
const CLEARED_PER_WRITE = 20

const clearSome = prepared((tx: Tx) => {
  const { clientId, key, createdAtMs } = idempotencyKeys
  const old = tx
    .select({ clientId, key })
    .from(idempotencyKeys)
    .where(lte(createdAtMs, sql.placeholder('usedAtMsMax')))
    .orderBy(asc(createdAtMs))
    .limit(CLEARED_PER_WRITE)
  return tx.delete(idempotencyKeys).where(sql`(${clientId}, ${key}) IN ${old}`).returning({ key }).prepare()
})

/** Deletes some of the keys that were used at that time or before, the oldest first. Returns whether there may be more. */
export const clearKeys = (tx: Tx, usedAtMsMax: number): boolean =>
  clearSome(tx).all({ usedAtMsMax }).length === CLEARED_PER_WRITE

const isKey = ({ clientId, key }: Pick<KeyRecord, 'clientId' | 'key'>) =>
  and(eq(idempotencyKeys.clientId, clientId), eq(idempotencyKeys.key, key))

/** The text in place of an erased key: the key itself can name a person. */
const erasedKeyOf = (key: string): string => `erased ${sha256Of(key)}`

const findEither = preparedOne(
  idempotencyKeys,
  and(
    eq(idempotencyKeys.clientId, sql.placeholder('clientId')),
    inArray(idempotencyKeys.key, [sql.placeholder('key'), sql.placeholder('erasedKey')]),
  ),
)

/** Also finds a key that has expired, or was erased. */
export const findKey = (query: Query, clientId: number, key: string): KeyRecord | undefined =>
  findEither(query, { clientId, key, erasedKey: erasedKeyOf(key) })

/** Removes the request and its response. No later request equals the erased one. */
export const eraseKey = (tx: Tx, stored: Pick<KeyRecord, 'clientId' | 'key'>): void => {
  tx.update(idempotencyKeys)
    .set({ key: erasedKeyOf(stored.key), requestSha256: '', body: '{}' })
    .where(isKey(stored))
    .run()
}

/** All stored responses, in order of client and key, read a page at a time. */
export function* storedResponses(query: Query): Generator<StoredResponse & { isEncrypted: boolean }> {
  const { clientId, key, body } = idempotencyKeys
  let last = { clientId: 0, key: '' }
  for (;;) {
    const page = query
      .select({ clientId, key, body })
      .from(idempotencyKeys)
      .where(sql`(${clientId}, ${key}) > (${last.clientId}, ${last.key})`)
      .orderBy(asc(clientId), asc(key))
      .limit(RESPONSES_AT_ONCE)
      .all()
    for (const stored of page)
      yield { ...stored, associatedData: associatedDataOf(stored), isEncrypted: !stored.body.startsWith('{') }
    const next = page.at(-1)
    if (!next) return
    last = next
  }
}

const RESPONSES_AT_ONCE = 200

/** Replaces an expired response. */
export const putKey = preparedPut(idempotencyKeys, [idempotencyKeys.clientId, idempotencyKeys.key])

export const associatedDataOf = ({ clientId, key }: Pick<KeyRecord, 'clientId' | 'key'>): string =>
  `answer ${clientId} ${key}`

export type StoredResponse = Pick<KeyRecord, 'clientId' | 'key' | 'body'> & { associatedData: string }

export const reencryptResponse = (tx: Tx, stored: StoredResponse, body: string): void => {
  tx.update(idempotencyKeys).set({ body }).where(isKey(stored)).run()
}
