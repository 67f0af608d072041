import { createHash } from 'node:crypto'
import type { Query, Tx } from '../db/database.ts'
import { type AuditRow, auditRows, getHead, insertAuditRow } from './queries.ts'

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

/** Written in the transaction of the effect. E-mail addresses are left out. */
export const recordAct = (tx: Tx, { before, after, subject, ...act }: Act): void => {
  const { count, hash: previousHash } = getHead(tx)
  const facts = { before: jsonOrNull(before), after: jsonOrNull(after), subject: withoutEmails(subject) }
  const row = { id: count + 1, ...act, ...facts, previousHash }
  insertAuditRow(tx, { ...row, hash: hashOf(row) })
}

const jsonOrNull = (facts: object | undefined): string | null =>
  facts === undefined ? null : withoutEmails(JSON.stringify(facts))

/** The part before the @ can be quoted, and hold spaces then. */
const EMAIL = /(?:\\?"[^"@]*"|[^\s"<>(),;:\\]+)@[^\s"'<>(),;:=\\]+/g

const withoutEmails = (text: string): string => text.replace(EMAIL, '[e-mail]')

const hashOf = (row: Omit<AuditRow, 'hash'>): string => {
  const { id, atMs, user, command, subject, before, after, outcome, address, previousHash } = row
  const facts = [id, atMs, user, command, subject, before, after, outcome, address, previousHash]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

const FIRST = '0'.repeat(64)

/** Where the chain breaks first, in words; nothing where it does not. */
export const breaksIn = (query: Query): string[] => {
  let last = { id: 0, hash: FIRST }
  for (const row of auditRows(query)) {
    if (row.id !== last.id + 1) return [`row ${last.id + 1} of the audit is missing`]
    if (row.hash !== hashOf(row) || row.previousHash !== last.hash) return [`row ${row.id} of the audit was changed`]
    last = row
  }
  const head = getHead(query)
  if (head.count === last.id && head.hash === last.hash) return []
  return [`row ${Math.min(head.count, last.id) + 1} of the audit is missing, or the audit's head was changed`]
}
