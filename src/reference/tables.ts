import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const countries = table(schema.countries)
export type Country = typeof countries.$inferSelect

export const currencies = table(schema.currencies)
/** `currency` is the ISO 4217 code, `precision` the number of decimals (spec 2.5). */
export type Currency = typeof currencies.$inferSelect
