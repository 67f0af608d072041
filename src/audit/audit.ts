import { createHash, createHmac } from 'node:crypto'
import type { Query, Tx } from '../db/database.ts'
import {
  type AuditRow,
  auditRows,
  findHead,
  getHead,
  type Head,
  insertAuditRow,
  putHead,
  storedKeys,
  storeKey,
} from './queries.ts'

/** The audit: a chain of rows, each with the hash of the one before. A change of a row shows (contract C17). */

interface Act {
  atMs: number
  user: string
  /** Without the program: `client add`. */
  command: string
  /** The operands, as they were typed. */
  subject: string
  before?: object | undefined
  after?: object | undefined
  outcome: AuditRow['outcome']
  address: string | null
  /** The id with which a command has asked for it. */
  act?: string | null
  /** A hash of the request with that id. */
  requestSha256?: string | null
}

/** The keys and functions that follow from the voucher key. */
export interface AuditSeal {
  /** Identifies the key. */
  readonly mark: string
  readonly auditKey: Uint8Array
  encrypt: (plain: string, associatedData: string) => Buffer
  decrypt: (sealed: Uint8Array, associatedData: string) => string | undefined
}

/**
 * Written in the transaction of the effect. E-mail addresses are left out.
 * @param seal undefined while there is no voucher key
 */
export const recordAct = (
  tx: Tx,
  seal: AuditSeal | undefined,
  { before, after, subject, act = null, requestSha256 = null, ...rest }: Act,
): void => {
  const last = getHead(tx)
  const row = {
    id: last.count + 1,
    ...rest,
    before: jsonOrNull(before),
    after: jsonOrNull(after),
    subject: withoutEmails(subject),
    act,
    requestSha256,
    previousHash: last.hash,
    keyMark: seal?.mark ?? null,
  }
  const hash = hashOf(row, seal?.auditKey)
  insertAuditRow(tx, { ...row, hash })
  const head = { count: row.id, hash }
  // No later act ciphers a forged head, so that the forgery shows.
  putHead(tx, { ...head, seal: seal && last.seal === sealOf(last, seal) ? sealOf(head, seal) : last.seal })
}

/** Called with the first key of an installation. From then on every row is keyed. */
export const sealFirstHead = (tx: Tx, seal: AuditSeal): void => {
  const head = getHead(tx)
  putHead(tx, { ...head, seal: sealOf(head, seal) })
}

/** True if the audit has a row. */
export const hasActs = (query: Query): boolean => findHead(query)?.count !== 0

const jsonOrNull = (change: object | undefined): string | null =>
  change === undefined ? null : withoutEmails(JSON.stringify(change))

/** The part before the @ can be quoted, and can contain spaces then. */
const EMAIL = /(?:\\?"[^"@]*"|[^\s"<>(),;:\\]+)@[^\s"'<>(),;:=\\]+/g

const withoutEmails = (text: string): string => text.replace(EMAIL, '[e-mail]')

const hashOf = (row: Omit<AuditRow, 'hash' | 'keyMark'>, key: Uint8Array | undefined): string => {
  const { id, atMs, user, command, subject, before, after, outcome, address, act, requestSha256, previousHash } = row
  const about = [id, atMs, user, command, subject, before, after, outcome, address, act, requestSha256, previousHash]
  const text = JSON.stringify(about)
  return (key ? createHmac('sha256', key) : createHash('sha256')).update(text).digest('hex')
}

const sealOf = ({ count, hash }: Pick<Head, 'count' | 'hash'>, { auditKey }: AuditSeal): string =>
  createHmac('sha256', auditKey).update(`head ${count} ${hash}`).digest('hex')

/** Called before another voucher key is used, so that rows of the old key can still be checked. */
export const passOnKeys = (tx: Tx, old: AuditSeal, next: AuditSeal): void => {
  for (const [mark, key] of [...earlierKeys(tx, old), [old.mark, old.auditKey] as const])
    if (key) storeKey(tx, mark, next.encrypt(Buffer.from(key).toString('hex'), associatedDataOf(mark)))
  const head = getHead(tx)
  if (head.seal === sealOf(head, old)) putHead(tx, { ...head, seal: sealOf(head, next) })
}

/** The keys from before a rekeying, by their marks; undefined for a key that cannot be decrypted. */
const earlierKeys = (query: Query, seal: AuditSeal): Map<string, Uint8Array | undefined> =>
  new Map(
    storedKeys(query).map(({ mark, sealed }) => {
      const key = seal.decrypt(sealed, associatedDataOf(mark))
      return [mark, key === undefined ? undefined : Buffer.from(key, 'hex')]
    }),
  )

const associatedDataOf = (mark: string): string => `audit ${mark}`

const FIRST = '0'.repeat(64)

/**
 * The first break of the chain, in words; empty if it is intact.
 * @param seal undefined without the voucher key: a recomputed audit cannot be detected then
 */
export const breaksIn = (query: Query, seal: AuditSeal | undefined): string[] => {
  const keys = seal && earlierKeys(query, seal)
  for (const [mark, key] of keys ?? []) if (!key) return [`the key ${mark} of the audit cannot be decrypted`]
  if (seal) keys?.set(seal.mark, seal.auditKey)
  let last = { id: 0, hash: FIRST }
  let isKeyed = false
  for (const row of auditRows(query)) {
    if (row.id !== last.id + 1) return [`row ${last.id + 1} of the audit is missing`]
    if (isKeyed && row.keyMark === null) return [`row ${row.id} of the audit has no key`]
    isKeyed = row.keyMark !== null
    if (row.previousHash !== last.hash || !isGenuine(row, keys)) return [`row ${row.id} of the audit was changed`]
    last = row
  }
  const head = findHead(query)
  if (head?.count !== last.id || head.hash !== last.hash || (seal && head.seal !== sealOf(head, seal)))
    return [`a row after row ${last.id} of the audit is missing, or the audit's head was changed`]
  return []
}

const isGenuine = (row: AuditRow, keys: ReadonlyMap<string, Uint8Array | undefined> | undefined): boolean => {
  if (row.keyMark === null) return row.hash === hashOf(row, undefined)
  if (!keys) return true
  const key = keys.get(row.keyMark)
  return key !== undefined && row.hash === hashOf(row, key)
}
