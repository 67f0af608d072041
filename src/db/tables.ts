import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** How many records the lists of each client hold, by part and currency: see the migrations `0003_lists` and `0004_counts`. */
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
