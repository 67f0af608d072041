import type { Tx } from '../db/database.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { deleteRates, findRates, upsertRates } from './queries.ts'
import { type BaseRates, type RateSource, RatesFault, ratesFrom, refuseStrangers } from './rates.ts'

/** The exchange rates of live mode: in the database, so that an operator sets them while the program serves. */

const ratesSet = worldPart(({ db }) => findRates(db.query)?.perBaseE8 ?? new Map<string, number>(), 'derived')

/** A source that answers as the rates are set, and is set anew when another process has written. */
export const storedRates = (world: World): RateSource => ratesFrom((currency) => world.of(ratesSet).get(currency))

/** Replaces all rates by these. @throws RatesFault */
export const replaceRates = (tx: Tx, reference: Reference, rates: BaseRates): void => {
  deleteRates(tx)
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
  upsertRates(tx, { base, perBaseE8 })
}
