import { asc, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { RATE_ONE } from '../kernel/money.ts'
import type { BaseRates } from './rates.ts'
import { exchangeRates } from './tables.ts'

export const findRates = (query: Query): BaseRates | undefined => {
  const rows = query.select().from(exchangeRates).orderBy(asc(exchangeRates.currency)).all()
  const base = rows.find(({ isBase }) => isBase)?.currency
  return base === undefined ? undefined : { base, perBaseE8: new Map(rows.map((row) => [row.currency, row.perBaseE8])) }
}

export const deleteRates = (tx: Tx): void => void tx.delete(exchangeRates).run()

export const upsertRates = (tx: Tx, { base, perBaseE8 }: BaseRates): void => {
  tx.insert(exchangeRates)
    .values(
      [...new Set([base, ...perBaseE8.keys()])].map((currency) => ({
        currency,
        perBaseE8: perBaseE8.get(currency) ?? RATE_ONE,
        isBase: currency === base,
      })),
    )
    .onConflictDoUpdate({ target: exchangeRates.currency, set: { perBaseE8: sql`excluded.per_base_e8` } })
    .run()
}
