import { asc, sql } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { RATE_ONE } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { type BaseRates, type RateSource, RatesFault, ratesFrom, refuseStrangers } from './rates.ts'
import { exchangeRates } from './tables.ts'

/** The exchange rates of live mode: in the database, so that an operator sets them while the program serves. */

const ratesSet = worldPart(({ db }) => findRates(db.query)?.perBaseE8 ?? new Map<string, number>(), 'derived')

/** A source that answers as the rates are set, and is set anew when another process has written. */
export const storedRates = (world: World): RateSource => ratesFrom((currency) => world.of(ratesSet).get(currency))

/** The rates that are set, or undefined before the first. */
export const findRates = (tx: Tx): BaseRates | undefined => {
  const rows = tx.select().from(exchangeRates).orderBy(asc(exchangeRates.currency)).all()
  const base = rows.find(({ isBase }) => isBase)?.currency
  return base === undefined ? undefined : { base, perBaseE8: new Map(rows.map((row) => [row.currency, row.perBaseE8])) }
}

/** Replaces all rates by these. @throws RatesFault */
export const replaceRates = (tx: Tx, reference: Reference, rates: BaseRates): void => {
  tx.delete(exchangeRates).run()
  mergeRates(tx, reference, rates)
}

/**
 * Sets these rates and leaves the others.
 *
 * @throws RatesFault for a code that is no currency, or a base other than that of the rates that are set
 */
export const mergeRates = (tx: Tx, reference: Reference, { base, perBaseE8 }: BaseRates): void => {
  const known = findRates(tx)
  if (known && known.base !== base) {
    throw new RatesFault([`/base: the rates that are set are for one ${known.base}, not one ${base}`])
  }
  refuseStrangers({ base, perBaseE8 }, reference)
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
