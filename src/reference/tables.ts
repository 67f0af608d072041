import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const countries = table(schema.countries)
export const currencies = table(schema.currencies)
