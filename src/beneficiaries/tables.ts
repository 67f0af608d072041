import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const beneficiaries = table(schema.beneficiaries)
export type Beneficiary = typeof beneficiaries.$inferSelect
