import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const audit = sqliteTable('audit', columns.audit)
export type AuditRow = typeof audit.$inferSelect
export const OUTCOMES = audit.outcome.enumValues

export const auditHead = sqliteTable('audit_head', columns.auditHead)
export const auditKeys = sqliteTable('audit_keys', columns.auditKeys)
