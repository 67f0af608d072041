import { sql } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { type Country, type Currency, countries, currencies } from './tables.ts'

export type { Country, Currency }

/** What is known of the world, as it was read. */
interface Known {
  countries: readonly Country[]
  currencies: readonly Currency[]
  countriesById: ReadonlyMap<number, Country>
  countriesByAlpha3: ReadonlyMap<string, Country>
  alpha2Codes: ReadonlySet<string>
  currenciesById: ReadonlyMap<number, Currency>
  currenciesByCode: ReadonlyMap<string, Currency>
}

/**
 * The countries and currencies of the world: they change with a release, never while the program runs, and belong to no
 * database. Read when first asked for, so that starting the program does not wait for it.
 */
export class Reference {
  #read: Known | undefined

  constructor(private readonly carried: () => ReferenceSeed) {}

  get #known(): Known {
    this.#read ??= readKnown(this.carried())
    return this.#read
  }

  get countries(): readonly Country[] {
    return this.#known.countries
  }

  get currencies(): readonly Currency[] {
    return this.#known.currencies
  }

  findCountry(id: number): Country | undefined {
    return this.#known.countriesById.get(id)
  }

  findCountryByAlpha3(alpha3: string): Country | undefined {
    return this.#known.countriesByAlpha3.get(alpha3)
  }

  /** Whether an upper-case code is one of ISO 3166-1 alpha-2. */
  hasAlpha2(code: string): boolean {
    return this.#known.alpha2Codes.has(code)
  }

  findCurrency(id: number): Currency | undefined {
    return this.#known.currenciesById.get(id)
  }

  findCurrencyByCode(code: string): Currency | undefined {
    return this.#known.currenciesByCode.get(code)
  }

  /** The currency of a record that refers to it by foreign key. */
  getCurrency(id: number): Currency {
    const currency = this.#known.currenciesById.get(id)
    if (!currency) throw new Error(`currency ${id} is referred to and does not exist`)
    return currency
  }

  /** The country of a record that refers to it by foreign key. */
  getCountry(id: number): Country {
    const country = this.#known.countriesById.get(id)
    if (!country) throw new Error(`country ${id} is referred to and does not exist`)
    return country
  }
}

const readKnown = (carried: ReferenceSeed): Known => {
  const allCountries = carried.countries.map(countryRow).sort((a, b) => a.id - b.id)
  const allCurrencies = [...carried.currencies].sort((a, b) => a.id - b.id)
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

/** The rows of the seed files, in the names of the wire. */
export interface ReferenceSeed {
  countries: readonly CountryWire[]
  currencies: readonly Currency[]
}

/** A country as it is on the wire (spec 2.4). */
export interface CountryWire {
  id: number
  name: string
  official_name: string
  alpha_2: string
  alpha_3: string
  numeric_code: string
  dialing_prefix: string
}

const countryRow = (country: CountryWire): Country => ({
  id: country.id,
  name: country.name,
  officialName: country.official_name,
  alpha2: country.alpha_2,
  alpha3: country.alpha_3,
  numericCode: country.numeric_code,
  dialingPrefix: country.dialing_prefix,
})

/** Writes the seed over whatever an earlier release wrote: ids stay, names may have improved. */
export const seedReference = (tx: Tx, seed: ReferenceSeed): void => {
  tx.insert(countries)
    .values(seed.countries.map(countryRow))
    .onConflictDoUpdate({
      target: countries.id,
      set: {
        name: sql`excluded.name`,
        officialName: sql`excluded.official_name`,
        alpha2: sql`excluded.alpha_2`,
        alpha3: sql`excluded.alpha_3`,
        numericCode: sql`excluded.numeric_code`,
        dialingPrefix: sql`excluded.dialing_prefix`,
      },
    })
    .run()
  tx.insert(currencies)
    .values([...seed.currencies])
    .onConflictDoUpdate({
      target: currencies.id,
      set: { name: sql`excluded.name`, currency: sql`excluded.currency`, precision: sql`excluded.precision` },
    })
    .run()
}
