import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Counts of records by part and currency: see the migration `0009_plain_lists`. */
export const listCounts = sqliteTable(
  'list_counts',
  {
    list: text('list').notNull(),
    clientId: integer('client_id').notNull(),
    part: text('part').notNull(),
    currencyId: integer('currency_id').notNull(),
    count: integer('count').notNull(),
  },
  ({ list, clientId, part, currencyId }) => [primaryKey({ columns: [list, clientId, part, currencyId] })],
)
