import type { Tx } from '../db/database.ts'
import { DocumentFault } from '../http/document.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../work/world.ts'
import { deleteRates, findRates, upsertRates } from './queries.ts'
import { type BaseRates, ratesFrom, refuseStrangers, type WorldRates } from './rates.ts'

/** Exchange rates in the database, so that an operator can set them while the server runs. */

const ratesSet = worldPart(({ db }) => ({ stored: findRates(db.query) }), 'derived')

/** The rates of a world, or its initial ones. They are read again after another process has written. */
export const ratesIn = (world: World, initial: () => BaseRates | undefined): BaseRates | undefined =>
  world.of(ratesSet).stored ?? initial()

export const storedRates =
  (initial: () => BaseRates | undefined = () => undefined): WorldRates =>
  (world) =>
    ratesFrom((currency) => ratesIn(world, initial)?.perBaseE8.get(currency))

/** Rates of a file, which replace those of the database. */
export const fixedRates = ({ perBaseE8 }: BaseRates): WorldRates => {
  const rates = ratesFrom((currency) => perBaseE8.get(currency))
  return () => rates
}

/** @throws FileFault */
export const replaceRates = (tx: Tx, reference: Reference, rates: BaseRates): void => {
  deleteRates(tx)
  mergeRates(tx, reference, rates)
}

/** Changes some rates, and keeps the others. @throws FileFault for an unknown currency, or a base other than the current one */
export const mergeRates = (tx: Tx, reference: Reference, { base, perBaseE8 }: BaseRates): void => {
  const known = findRates(tx)
  if (known && known.base !== base) {
    const what = `the rates that are set are for one ${known.base}, not one ${base}`
    throw new DocumentFault('rates', [{ path: '/base', what }])
  }
  refuseStrangers({ base, perBaseE8 }, reference)
  upsertRates(tx, { base, perBaseE8 })
}
