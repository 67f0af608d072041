import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** How many records the lists of each client hold, by part and currency: see the migration `0003_lists`. */
export const listCounts = sqliteTable(
  'list_counts',
  {
    list: text('list').notNull(),
    clientId: integer('client_id').notNull(),
    part: text('part').notNull(),
    currencyId: integer('currency_id').notNull(),
    count: integer('count').notNull(),
    /** Goes up with everything that changes the list, or the order of it. */
    changes: integer('changes').notNull(),
    /** Goes up with everything that changes what stands in the order of creation but at its end. */
    intrusions: integer('intrusions').notNull(),
  },
  ({ list, clientId, part, currencyId }) => [primaryKey({ columns: [list, clientId, part, currencyId] })],
)
