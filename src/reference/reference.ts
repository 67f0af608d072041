import type { Country, Currency } from './tables.ts'

export type { Country, Currency }

interface Indexed {
  countries: readonly Country[]
  currencies: readonly Currency[]
  countriesById: ReadonlyMap<number, Country>
  countriesByAlpha3: ReadonlyMap<string, Country>
  alpha2Codes: ReadonlySet<string>
  currenciesById: ReadonlyMap<number, Currency>
  currenciesByCode: ReadonlyMap<string, Currency>
}

/** Countries and currencies come from the executable and change only with a release. Indexed at the first use, for a fast start. */
export class Reference {
  #index: Indexed | undefined

  constructor(private readonly seed: () => ReferenceSeed) {}

  get #indexed(): Indexed {
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
    const currency = this.#indexed.currenciesById.get(id)
    if (!currency) throw new Error(`currency ${id} is referred to and does not exist`)
    return currency
  }

  /** @throws Error if it does not exist, which a foreign key rules out */
  getCountry(id: number): Country {
    const country = this.#indexed.countriesById.get(id)
    if (!country) throw new Error(`country ${id} is referred to and does not exist`)
    return country
  }
}

const indexSeed = (seed: ReferenceSeed): Indexed => {
  const allCountries = seed.countries.map(countryRow).sort((a, b) => a.id - b.id)
  const allCurrencies = [...seed.currencies].sort((a, b) => a.id - b.id)
  return {
    countries: allCountries,
    currencies: allCurrencies,
    countriesById: new Map(allCountries.map((country) => [country.id, country])),
    countriesByAlpha3: new Map(allCountries.map((country) => [country.alpha3, country])),
    alpha2Codes: new Set(allCountries.map((country) => country.alpha2)),
    currenciesById: new Map(allCurrencies.map((currency) => [currency.id, currency])),
    currenciesByCode: new Map(allCurrencies.map((currency) => [currency.currency, currency])),
  }
}

/** The rows of the seed files, with the names of the API. */
export interface ReferenceSeed {
  countries: readonly CountryWire[]
  currencies: readonly Currency[]
}

export interface CountryWire {
  id: number
  name: string
  official_name: string
  alpha_2: string
  alpha_3: string
  numeric_code: string
  dialing_prefix: string
}

export const countryRow = (country: CountryWire): Country => ({
  id: country.id,
  name: country.name,
  officialName: country.official_name,
  alpha2: country.alpha_2,
  alpha3: country.alpha_3,
  numericCode: country.numeric_code,
  dialingPrefix: country.dialing_prefix,
})
