import { type AuditRow, auditRows, OUTCOMES } from '../audit/queries.ts'
import { Facts } from './cells.ts'
import { listing, members, type Noun, type Shown } from './kind.ts'

/** `scrip audit`: the acts of operators, refused ones included (contract C17). */

export const AUDIT_COLUMNS: Shown<AuditRow> = {
  ...members<AuditRow>('id', 'atMs'),
  ...members<AuditRow>('user', 'command', 'subject', 'outcome'),
  before: ({ before }) => before && new Facts(before),
  after: ({ after }) => after && new Facts(after),
  ...members<AuditRow>('address', 'act', 'hash', 'previousHash'),
}

const NARROWED = { times: 'done', statuses: OUTCOMES }

export const auditLists = {
  list: listing('List the acts of operators and failed logins, newest first', AUDIT_COLUMNS, auditRows, NARROWED),
} satisfies Noun
