import { reportUnreadable } from '../kernel/unreadable.ts'
import type { Country, Currency } from './contract.ts'

export type { Country, Currency }

/** ISO 4217 has a code for it. Its amounts are shown in minor units. */
const NO_CURRENCY: Currency = { id: 0, name: 'No currency', currency: 'XXX', precision: 0 }

/** Countries and currencies of the executable. */
export class Reference {
  readonly countries: readonly Country[]
  readonly currencies: readonly Currency[]
  readonly #countriesById: ReadonlyMap<number, Country>
  readonly #countriesByAlpha3: ReadonlyMap<string, Country>
  readonly #alpha2Codes: ReadonlySet<string>
  readonly #currenciesById: ReadonlyMap<number, Currency>
  readonly #currenciesByCode: ReadonlyMap<string, Currency>

  constructor(seed: ReferenceSeed) {
    this.countries = seed.countries.toSorted((a, b) => a.id - b.id)
    this.currencies = seed.currencies.toSorted((a, b) => a.id - b.id)
    this.#countriesById = new Map(this.countries.map((country) => [country.id, country]))
    this.#countriesByAlpha3 = new Map(this.countries.map((country) => [country.alpha_3, country]))
    this.#alpha2Codes = new Set(this.countries.map((country) => country.alpha_2))
    this.#currenciesById = new Map(this.currencies.map((currency) => [currency.id, currency]))
    this.#currenciesByCode = new Map(this.currencies.map((currency) => [currency.currency, currency]))
  }

  findCountry(id: number): Country | undefined {
    return this.#countriesById.get(id)
  }

  findCountryByAlpha3(alpha3: string): Country | undefined {
    return this.#countriesByAlpha3.get(alpha3)
  }

  /** The code is in upper case. */
  hasAlpha2(code: string): boolean {
    return this.#alpha2Codes.has(code)
  }

  findCurrency(id: number): Currency | undefined {
    return this.#currenciesById.get(id)
  }

  findCurrencyByCode(code: string): Currency | undefined {
    return this.#currenciesByCode.get(code)
  }

  /** @throws Error if it does not exist, which a foreign key rules out */
  getCurrency(id: number): Currency {
    const currency = this.findCurrency(id)
    if (!currency) throw new Error(`currency ${id} is referred to and does not exist`)
    return currency
  }

  /** The currency of a record that is shown. Money moves in the currency that {@link getCurrency} returns. */
  shownCurrency(id: number): Currency {
    const currency = this.findCurrency(id)
    if (!currency) reportUnreadable(`currency ${id}`)
    return currency ?? NO_CURRENCY
  }

  /** @throws Error if it does not exist, which a foreign key rules out */
  getCountry(id: number): Country {
    const country = this.findCountry(id)
    if (!country) throw new Error(`country ${id} is referred to and does not exist`)
    return country
  }
}

/** The rows of the seed files. */
export interface ReferenceSeed {
  countries: readonly Country[]
  currencies: readonly Currency[]
}
