import type { Command } from 'commander'
import { type AuditRow, auditRows, OUTCOMES } from '../../audit/queries.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { Facts, listOf, mapped } from '../terminal/cells.ts'
import { administer } from './administration.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip audit`: what operators did, and what was refused to them (contract C17). */
export const auditCommands = (audit: Command): void => {
  listCommand(audit, 'list', 'list the acts of operators and failed logins, oldest first', {
    times: 'done',
    statuses: OUTCOMES,
  }).action(
    administer(({ config, database: { query } }, options: ListOptions) => {
      const rows = mapped(auditRows(query, narrowingOf(query, options)), auditRow)
      return listOf(config.format === 'text' ? COLUMNS : [...COLUMNS, 'hash', 'previous_hash'], rows)
    }),
  )
}

const COLUMNS = ['id', 'at', 'user', 'command', 'subject', 'before', 'after', 'outcome', 'address'] as const

const auditRow = ({ id, atMs, user, command, subject, before, after, ...row }: AuditRow) => ({
  id,
  at: toTimestamp(atMs),
  user,
  command,
  subject,
  before: before === null ? null : new Facts(before),
  after: after === null ? null : new Facts(after),
  outcome: row.outcome,
  address: row.address,
  hash: row.hash,
  previous_hash: row.previousHash,
})
