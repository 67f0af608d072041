import { type AuditRow, auditRows, findAuditRow, OUTCOMES } from '../audit/queries.ts'
import { StoredJson } from './cells.ts'
import { field, wholeNumber } from './fields.ts'
import { type Kind, listing, members, type Noun, type Shown, showing } from './kind.ts'

/** `scrip audit`: the acts of operators, refused ones included (contract C17). */

export const AUDIT_COLUMNS: Shown<AuditRow> = {
  ...members<AuditRow>('id', 'atMs'),
  ...members<AuditRow>('user', 'command', 'subject', 'outcome'),
  before: ({ before }) => before && new StoredJson(before),
  after: ({ after }) => after && new StoredJson(after),
  ...members<AuditRow>('address', 'act', 'hash', 'previousHash'),
}

const ROW: Kind<number, AuditRow> = {
  name: 'row of the audit',
  group: 'audit',
  argument: field('<id>', 'the row', { read: wholeNumber }),
  find: findAuditRow,
  columns: AUDIT_COLUMNS,
}

const NARROWED = {
  brief: 'id user command subject outcome at',
  times: 'done',
  statuses: OUTCOMES,
  takes: {
    user: field('--user <name>', 'only what this person did, by sudo too'),
    command: field('--command <name>', "only this act, such as 'payouts advance', or the acts of a noun: payouts"),
  },
} as const

export const auditLists = {
  list: listing('List the acts of operators and failed logins, newest first', AUDIT_COLUMNS, auditRows, NARROWED),
  show: showing(ROW, 'Show a row of the audit'),
} satisfies Noun
