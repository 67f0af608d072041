import { createHash, createHmac } from 'node:crypto'
import type { Query, Tx } from '../db/database.ts'
import { type AuditRow, auditRows, getHead, insertAuditRow, storedKeys, storeKey } from './queries.ts'

/** The audit: a chain of rows, each with the hash of the one before, that nobody changes unnoticed (contract C17). */

export interface Act {
  atMs: number
  user: string
  /** Without the program: `client add`. */
  command: string
  /** What it is about, as it was given. */
  subject: string
  before?: object | undefined
  after?: object | undefined
  outcome: AuditRow['outcome']
  address: string | null
}

/** What the voucher key gives. */
export interface AuditSeal {
  /** Identifies the key. */
  readonly mark: string
  readonly auditKey: Uint8Array
  closeText: (plain: string, place: string) => Buffer
  openText: (sealed: Uint8Array, place: string) => string | undefined
}

/**
 * Written in the transaction of the effect. E-mail addresses are left out.
 * @param seal undefined while there is no voucher key
 */
export const recordAct = (tx: Tx, seal: AuditSeal | undefined, { before, after, subject, ...act }: Act): void => {
  const { count, hash: previousHash } = getHead(tx)
  const facts = { before: jsonOrNull(before), after: jsonOrNull(after), subject: withoutEmails(subject) }
  const row = { id: count + 1, ...act, ...facts, previousHash, keyMark: seal?.mark ?? null }
  insertAuditRow(tx, { ...row, hash: hashOf(row, seal?.auditKey) })
}

const jsonOrNull = (facts: object | undefined): string | null =>
  facts === undefined ? null : withoutEmails(JSON.stringify(facts))

/** The part before the @ can be quoted, and hold spaces then. */
const EMAIL = /(?:\\?"[^"@]*"|[^\s"<>(),;:\\]+)@[^\s"'<>(),;:=\\]+/g

const withoutEmails = (text: string): string => text.replace(EMAIL, '[e-mail]')

const hashOf = (row: Omit<AuditRow, 'hash' | 'keyMark'>, key: Uint8Array | undefined): string => {
  const { id, atMs, user, command, subject, before, after, outcome, address, previousHash } = row
  const facts = JSON.stringify([id, atMs, user, command, subject, before, after, outcome, address, previousHash])
  return (key ? createHmac('sha256', key) : createHash('sha256')).update(facts).digest('hex')
}

/** Before another voucher key is used: rows that the old one has keyed can still be checked. */
export const passOnKeys = (tx: Tx, old: AuditSeal, next: AuditSeal): void => {
  const known = storedKeys(tx).map(({ mark, sealed }) => ({ mark, key: old.openText(sealed, placeOf(mark)) }))
  for (const { mark, key } of [...known, { mark: old.mark, key: Buffer.from(old.auditKey).toString('hex') }]) {
    if (key !== undefined) storeKey(tx, mark, next.closeText(key, placeOf(mark)))
  }
}

const placeOf = (mark: string): string => `audit ${mark}`

const FIRST = '0'.repeat(64)

/**
 * Where the chain breaks first, in words; nothing where it does not.
 * @param seal undefined where the voucher key is not at hand: a recomputed audit cannot be detected then
 */
export const breaksIn = (query: Query, seal: AuditSeal | undefined): string[] => {
  const keys = seal && keysOf(query, seal)
  let last = { id: 0, hash: FIRST }
  let isKeyed = false
  for (const row of auditRows(query)) {
    if (row.id !== last.id + 1) return [`row ${last.id + 1} of the audit is missing`]
    isKeyed ||= row.keyMark !== null
    if (row.previousHash !== last.hash || !isGenuine(row, keys, isKeyed))
      return [`row ${row.id} of the audit was changed`]
    last = row
  }
  const head = getHead(query)
  if (head.count === last.id && head.hash === last.hash) return []
  return [`row ${Math.min(head.count, last.id) + 1} of the audit is missing, or the audit's head was changed`]
}

type Keys = ReadonlyMap<string, Uint8Array>

/** The keys of rows, by their marks. */
export const keysOf = (query: Query, seal: AuditSeal): Keys => {
  const earlier = storedKeys(query).map(({ mark, sealed }): [string, Uint8Array] => [
    mark,
    Buffer.from(seal.openText(sealed, placeOf(mark)) ?? '', 'hex'),
  ])
  return new Map([...earlier, [seal.mark, seal.auditKey]])
}

/** Once there is a key, all rows have one, but those of restores: the key may follow the backup. */
const isGenuine = (row: AuditRow, keys: Keys | undefined, isKeyed: boolean): boolean => {
  if (row.keyMark === null) return (!isKeyed || row.command === 'restore') && row.hash === hashOf(row, undefined)
  if (!keys) return true
  const key = keys.get(row.keyMark)
  return key !== undefined && row.hash === hashOf(row, key)
}
