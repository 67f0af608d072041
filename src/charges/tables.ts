import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const exchangeRates = table(schema.exchange_rates)
