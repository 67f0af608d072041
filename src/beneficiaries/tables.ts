import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../db/columns.ts'

export const beneficiaries = sqliteTable('beneficiaries', columns.beneficiaries)
export type Beneficiary = typeof beneficiaries.$inferSelect
