import categoriesJson from '../../seed/categories.json' with { type: 'text' }
import countriesJson from '../../seed/countries.json' with { type: 'text' }
import currenciesJson from '../../seed/currencies.json' with { type: 'text' }
import ratesJson from '../../seed/rates.json' with { type: 'text' }
import subcategoriesJson from '../../seed/subcategories.json' with { type: 'text' }
import { type CategorySeed, seedCategories } from '../catalog/queries.ts'
import { type BaseRates, readRates } from '../charges/rates.ts'
import type { Database } from '../db/database.ts'
import { seedOnce } from '../db/seeds.ts'
import { seedReference } from '../reference/queries.ts'
import { type Country, type Currency, Reference, type ReferenceSeed } from '../reference/reference.ts'

const carriedReference = (): ReferenceSeed => ({
  countries: JSON.parse(countriesJson) as Country[],
  currencies: JSON.parse(currenciesJson) as Currency[],
})

export const readReference = (): Reference => new Reference(carriedReference())

export const seedReferenceData = (database: Database): void =>
  seedOnce(database, 'reference', [countriesJson, currenciesJson, categoriesJson, subcategoriesJson], (tx) => {
    seedReference(tx, carriedReference())
    seedCategories(tx, {
      categories: JSON.parse(categoriesJson) as CategorySeed['categories'],
      subcategories: JSON.parse(subcategoriesJson) as CategorySeed['subcategories'],
    })
  })

const SANDBOX_RATES = ratesJson

/** Read at first use, because it delays the start. */
export const sandboxRates = (reference: Reference): (() => BaseRates) => {
  let rates: BaseRates | undefined
  return () => {
    rates ??= readRates(SANDBOX_RATES, reference)
    return rates
  }
}
