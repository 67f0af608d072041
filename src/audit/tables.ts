import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const audit = table(schema.audit)
export type AuditRow = typeof audit.$inferSelect
export const OUTCOMES = audit.outcome.enumValues

export const auditHead = table(schema.audit_head)
export const auditKeys = table(schema.audit_keys)
