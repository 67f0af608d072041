import type { Command } from 'commander'
import { Facts } from '../../acts/cells.ts'
import type { Shown } from '../../acts/kind.ts'
import { type AuditRow, auditRows, OUTCOMES } from '../../audit/queries.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { list, listCommand } from './records.ts'

/** `scrip audit`: what operators did and tried to do (contract C17). */
export const auditCommands = (audit: Command): void => {
  const narrowable = { times: 'done', statuses: OUTCOMES }
  listCommand(audit.command('list'), 'list the acts of operators and failed logins, newest first', narrowable).action(
    list(AUDIT_COLUMNS, auditRows),
  )
}

export const AUDIT_COLUMNS: Shown<AuditRow> = {
  id: ({ id }) => id,
  at: ({ atMs }) => toTimestamp(atMs),
  user: ({ user }) => user,
  command: ({ command }) => command,
  subject: ({ subject }) => subject,
  outcome: ({ outcome }) => outcome,
  before: ({ before }) => before && new Facts(before),
  after: ({ after }) => after && new Facts(after),
  address: ({ address }) => address,
  act: ({ act }) => act,
  hash: ({ hash }) => hash,
  previous_hash: ({ previousHash }) => previousHash,
}
