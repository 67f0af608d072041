import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invalidId } from '../http/failures.ts'
import { Json } from '../http/json.ts'
import { listOf, operationsOf } from '../http/operation.ts'
import { idPath } from '../http/parameters.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { COUNTRY_NOT_FOUND, CountrySchema, CURRENCY_NOT_FOUND, CurrencySchema, countryWire } from './contract.ts'
import type { Reference } from './reference.ts'

/** Countries (spec 4.4) and currencies (spec 4.5). */

const ofCountries = operationsOf({
  tag: 'Countries',
  tagDescription: 'The countries of ISO 3166-1.',
})
const ofCurrencies = operationsOf({
  tag: 'Currencies',
  tagDescription: 'The circulating currencies of ISO 4217.',
})

const operations = {
  listCountries: ofCountries({
    id: 'listCountries',
    summary: 'List all countries',
    description: 'All 249 countries, with identifiers that never change.',
    success: listOf('All countries of ISO 3166-1', CountrySchema),
  }),
  getCountry: ofCountries({
    id: 'getCountry',
    summary: 'Get a country',
    description: 'Includes both letter codes, the numeric code and the dialing prefix.',
    params: idPath('country'),
    success: { status: 200, description: 'The country', schema: CountrySchema },
    errors: { 'countries.invalid_id': invalidId('country'), 'countries.not_found': COUNTRY_NOT_FOUND },
  }),
  listCurrencies: ofCurrencies({
    id: 'listCurrencies',
    summary: 'List all currencies',
    description: 'All currencies in circulation, with identifiers that never change.',
    success: listOf('All circulating currencies of ISO 4217', CurrencySchema),
  }),
  getCurrency: ofCurrencies({
    id: 'getCurrency',
    summary: 'Get a currency',
    description: 'Its precision says how many decimals its amounts have.',
    params: idPath('currency'),
    success: { status: 200, description: 'The currency', schema: CurrencySchema },
    errors: { 'currencies.invalid_id': invalidId('currency'), 'currencies.not_found': CURRENCY_NOT_FOUND },
  }),
}

export const referenceRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  // These never change while the program runs.
  const countries = Json.of<Country[]>(reference.countries.map(countryWire))
  const currencies = Json.of<Currency[]>([...reference.currencies])

  return new Elysia({ name: 'reference', prefix: '/api/v1' })
    .use(guard.plugin())
    .get('/countries', () => countries, operations.listCountries)
    .get(
      '/countries/:id',
      ({ params: { id } }) => countryWire(found(reference.findCountry(id), COUNTRY_NOT_FOUND)),
      operations.getCountry,
    )
    .get('/currencies', () => currencies, operations.listCurrencies)
    .get(
      '/currencies/:id',
      ({ params: { id } }) => found(reference.findCurrency(id), CURRENCY_NOT_FOUND),
      operations.getCurrency,
    )
}

type Country = Static<typeof CountrySchema>
type Currency = Static<typeof CurrencySchema>
