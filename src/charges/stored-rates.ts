import type { Tx } from '../db/database.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { deleteRates, findRates, upsertRates } from './queries.ts'
import { type BaseRates, type RateSource, RatesFault, ratesFrom, refuseStrangers } from './rates.ts'

/** The exchange rates of live mode, in the database, so that an operator can set them while the server runs. */

const ratesSet = worldPart(({ db }) => findRates(db.query)?.perBaseE8 ?? new Map<string, number>(), 'derived')

/** Reads the rates again after another process has written. */
export const storedRates = (world: World): RateSource => ratesFrom((currency) => world.of(ratesSet).get(currency))

/** @throws RatesFault */
export const replaceRates = (tx: Tx, reference: Reference, rates: BaseRates): void => {
  deleteRates(tx)
  mergeRates(tx, reference, rates)
}

/** Keeps the other rates. @throws RatesFault for an unknown currency, or a base other than the current one */
export const mergeRates = (tx: Tx, reference: Reference, { base, perBaseE8 }: BaseRates): void => {
  const known = findRates(tx)
  if (known && known.base !== base) {
    throw new RatesFault([`/base: the rates that are set are for one ${known.base}, not one ${base}`])
  }
  refuseStrangers({ base, perBaseE8 }, reference)
  upsertRates(tx, { base, perBaseE8 })
}
