import type { Static } from '@sinclair/typebox'
import type { CountrySchema } from './operations.ts'
import type { Country, Currency } from './tables.ts'

export type { Country, Currency }

/** Countries and currencies of the executable. Indexed at the first use, for a fast start. */
export class Reference {
  #index: ReturnType<typeof indexSeed> | undefined

  constructor(private readonly seed: () => ReferenceSeed) {}

  get #indexed() {
    this.#index ??= indexSeed(this.seed())
    return this.#index
  }

  get countries(): readonly Country[] {
    return this.#indexed.countries
  }

  get currencies(): readonly Currency[] {
    return this.#indexed.currencies
  }

  findCountry(id: number): Country | undefined {
    return this.#indexed.countriesById.get(id)
  }

  findCountryByAlpha3(alpha3: string): Country | undefined {
    return this.#indexed.countriesByAlpha3.get(alpha3)
  }

  /** The code is in upper case. */
  hasAlpha2(code: string): boolean {
    return this.#indexed.alpha2Codes.has(code)
  }

  findCurrency(id: number): Currency | undefined {
    return this.#indexed.currenciesById.get(id)
  }

  findCurrencyByCode(code: string): Currency | undefined {
    return this.#indexed.currenciesByCode.get(code)
  }

  /** @throws Error if it does not exist, which a foreign key rules out */
  getCurrency(id: number): Currency {
    const currency = this.findCurrency(id)
    if (!currency) throw new Error(`currency ${id} is referred to and does not exist`)
    return currency
  }

  /** @throws Error if it does not exist, which a foreign key rules out */
  getCountry(id: number): Country {
    const country = this.findCountry(id)
    if (!country) throw new Error(`country ${id} is referred to and does not exist`)
    return country
  }
}

const indexSeed = (seed: ReferenceSeed) => {
  const countries = seed.countries.map(countryRow).sort((a, b) => a.id - b.id)
  const currencies = seed.currencies.toSorted((a, b) => a.id - b.id)
  return {
    countries,
    currencies,
    countriesById: new Map(countries.map((country) => [country.id, country])),
    countriesByAlpha3: new Map(countries.map((country) => [country.alpha3, country])),
    alpha2Codes: new Set(countries.map((country) => country.alpha2)),
    currenciesById: new Map(currencies.map((currency) => [currency.id, currency])),
    currenciesByCode: new Map(currencies.map((currency) => [currency.currency, currency])),
  }
}

/** The rows of the seed files, with the names of the API. */
export interface ReferenceSeed {
  countries: readonly CountryWire[]
  currencies: readonly Currency[]
}

export type CountryWire = Static<typeof CountrySchema>

export const countryRow = (country: CountryWire): Country => ({
  id: country.id,
  name: country.name,
  officialName: country.official_name,
  alpha2: country.alpha_2,
  alpha3: country.alpha_3,
  numericCode: country.numeric_code,
  dialingPrefix: country.dialing_prefix,
})
