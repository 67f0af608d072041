import categoriesJson from '../../seed/categories.json' with { type: 'text' }
import countriesJson from '../../seed/countries.json' with { type: 'text' }
import currenciesJson from '../../seed/currencies.json' with { type: 'text' }
import ratesJson from '../../seed/rates.json' with { type: 'text' }
import subcategoriesJson from '../../seed/subcategories.json' with { type: 'text' }
import { type CategorySeed, seedCategories } from '../catalog/queries.ts'
import { type RateSource, readRates } from '../charges/rates.ts'
import type { Database } from '../db/database.ts'
import { seedOnce } from '../db/seeds.ts'
import { seedReference } from '../reference/queries.ts'
import { type CountryWire, type Currency, Reference, type ReferenceSeed } from '../reference/reference.ts'

/** The reference data that the program carries in `seed/`. */

const carriedReference = (): ReferenceSeed => ({
  countries: JSON.parse(countriesJson) as CountryWire[],
  currencies: JSON.parse(currenciesJson) as Currency[],
})

/** The countries and currencies that this release knows. */
export const readReference = (): Reference => new Reference(carriedReference)

/** Countries, currencies and categories, as this release knows them. */
export const seedReferenceData = (database: Database): void =>
  seedOnce(database, 'reference', [countriesJson, currenciesJson, categoriesJson, subcategoriesJson], (tx) => {
    seedReference(tx, carriedReference())
    seedCategories(tx, {
      categories: JSON.parse(categoriesJson) as CategorySeed['categories'],
      subcategories: JSON.parse(subcategoriesJson) as CategorySeed['subcategories'],
    })
  })

/** The exchange rates of the sandbox, as the text of a file. */
export const SANDBOX_RATES = ratesJson

/** The exchange rates of the sandbox, read when first asked for, so that starting does not wait for it. */
export const sandboxRates = (reference: Reference): RateSource => {
  let source: RateSource | undefined
  return (from, to) => {
    source ??= readRates(SANDBOX_RATES, reference)
    return source(from, to)
  }
}
