import { schema } from '../db/migrations/0001_schema.ts'
import { table } from '../db/table.ts'

export const clients = table(schema.clients)
export const logins = table(schema.logins)
