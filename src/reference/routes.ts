import { Json } from '../http/json.ts'
import { listOf } from '../http/operation.ts'
import { idPath } from '../http/parameters.ts'
import { foundOr } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import {
  COUNTRY_NOT_FOUND,
  type Country,
  CountrySchema,
  CURRENCY_NOT_FOUND,
  type Currency,
  CurrencySchema,
} from './contract.ts'
import type { Reference } from './reference.ts'

/** Countries (spec 4.4) and currencies (spec 4.5). */

export const referenceRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  // These never change while the program runs.
  const countries = Json.encoded<Country[]>(JSON.stringify(reference.countries))
  const currencies = Json.encoded<Currency[]>(JSON.stringify(reference.currencies))

  const ofCountries = guard
    .routes({
      prefix: '/api/v1',
      tag: 'Countries',
      tagDescription: 'The countries of ISO 3166-1.',
      names: 'countries.',
    })
    .get('/countries', () => countries, {
      id: 'listCountries',
      summary: 'List all countries',
      description: 'All 249 countries, with identifiers that never change.',
      response: listOf('All countries of ISO 3166-1', CountrySchema),
    })
    .get('/countries/:id', ({ params: { id } }) => foundOr(reference.findCountry(id), COUNTRY_NOT_FOUND), {
      id: 'getCountry',
      summary: 'Get a country',
      description: 'Includes both letter codes, the numeric code and the dialing prefix.',
      params: idPath('country'),
      response: { description: 'The country', schema: CountrySchema },
      refuses: { not_found: COUNTRY_NOT_FOUND },
    })
  const ofCurrencies = guard
    .routes({
      prefix: '/api/v1',
      tag: 'Currencies',
      tagDescription: 'The circulating currencies of ISO 4217.',
      names: 'currencies.',
    })
    .get('/currencies', () => currencies, {
      id: 'listCurrencies',
      summary: 'List all currencies',
      description: 'All currencies in circulation, with identifiers that never change.',
      response: listOf('All circulating currencies of ISO 4217', CurrencySchema),
    })
    .get('/currencies/:id', ({ params: { id } }) => foundOr(reference.findCurrency(id), CURRENCY_NOT_FOUND), {
      id: 'getCurrency',
      summary: 'Get a currency',
      description: 'Its precision says how many decimals its amounts have.',
      params: idPath('currency'),
      response: { description: 'The currency', schema: CurrencySchema },
      refuses: { not_found: CURRENCY_NOT_FOUND },
    })
  return [ofCountries, ofCurrencies]
}
