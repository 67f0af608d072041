import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../http/operation.ts'
import { preparedOnce } from '../http/prepared.ts'
import { pathId } from '../http/query.ts'
import { idPath } from '../http/schemas.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Country, CountryWire, Currency, Reference } from './reference.ts'

/** Countries (spec 4.4) and currencies (spec 4.5). Errors leave in the structured shape. */

const CountrySchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ description: 'Common name' }),
    official_name: Type.String({ description: 'Formal name' }),
    alpha_2: Type.String({ description: 'ISO 3166-1 alpha-2' }),
    alpha_3: Type.String({ description: 'ISO 3166-1 alpha-3' }),
    numeric_code: Type.String({ description: 'ISO 3166-1 numeric, three digits' }),
    dialing_prefix: Type.String({ description: 'International dialing prefix beginning with +' }),
  },
  { title: 'Country' },
)
const CurrencySchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    currency: Type.String({ description: 'ISO 4217 code' }),
    precision: Type.Integer({ description: 'Number of decimal places' }),
  },
  { title: 'Currency' },
)
const CountryPath = idPath('country')
const CurrencyPath = idPath('currency')

const COUNTRY_EXAMPLE = {
  id: 105,
  name: 'India',
  official_name: 'Republic of India',
  alpha_2: 'IN',
  alpha_3: 'IND',
  numeric_code: '356',
  dialing_prefix: '+91',
}
const CURRENCY_EXAMPLE = { id: 64, name: 'Japanese Yen', currency: 'JPY', precision: 0 }

export const referenceRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  // What is read most never changes while the program runs.
  const countryList = preparedOnce(() => reference.countries.map(countryWire))
  const countryAnswer = preparedOnce((id: number) => countryWire(found(reference.findCountry(id), 'country')))
  const currencyList = preparedOnce(() => reference.currencies.map(currencyWire))
  const currencyAnswer = preparedOnce((id: number) => currencyWire(found(reference.findCurrency(id), 'currency')))

  return new Elysia({ name: 'reference', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/countries',
      () => countryList(),
      documented({
        id: 'listCountries',
        prepared: true,
        fast: true,
        tag: 'Countries',
        summary: 'List all countries',
        description: 'All 249, under identifiers that never change.',
        success: {
          status: 200,
          description: 'All countries of ISO 3166-1',
          schema: Type.Array(CountrySchema),
          example: [COUNTRY_EXAMPLE],
        },
        refusals: {},
      }),
    )
    .get(
      '/countries/:id',
      ({ params }) => countryAnswer(pathId(params.id, 'country')),
      documented({
        id: 'getCountry',
        prepared: true,
        fast: true,
        tag: 'Countries',
        summary: 'Get a country',
        description: 'With both letter codes, the numeric one and the dialing prefix.',
        path: CountryPath,
        success: { status: 200, description: 'The country', schema: CountrySchema, example: COUNTRY_EXAMPLE },
        refusals: {
          'countries.invalid_id': { code: 'invalid_id', resource: 'country' },
          'countries.not_found': { code: 'not_found', resource: 'country' },
        },
      }),
    )
    .get(
      '/currencies',
      () => currencyList(),
      documented({
        id: 'listCurrencies',
        prepared: true,
        fast: true,
        tag: 'Currencies',
        summary: 'List all currencies',
        description: 'All in circulation, under identifiers that never change.',
        success: {
          status: 200,
          description: 'All circulating currencies of ISO 4217',
          schema: Type.Array(CurrencySchema),
          example: [CURRENCY_EXAMPLE],
        },
        refusals: {},
      }),
    )
    .get(
      '/currencies/:id',
      ({ params }) => currencyAnswer(pathId(params.id, 'currency')),
      documented({
        id: 'getCurrency',
        prepared: true,
        fast: true,
        tag: 'Currencies',
        summary: 'Get a currency',
        description: 'Its precision says how many decimals its amounts have.',
        path: CurrencyPath,
        success: { status: 200, description: 'The currency', schema: CurrencySchema, example: CURRENCY_EXAMPLE },
        refusals: {
          'currencies.invalid_id': { code: 'invalid_id', resource: 'currency' },
          'currencies.not_found': { code: 'not_found', resource: 'currency' },
        },
      }),
    )
}

const countryWire = (country: Country): CountryWire => ({
  id: country.id,
  name: country.name,
  official_name: country.officialName,
  alpha_2: country.alpha2,
  alpha_3: country.alpha3,
  numeric_code: country.numericCode,
  dialing_prefix: country.dialingPrefix,
})

const currencyWire = ({ id, name, currency, precision }: Currency): Currency => ({ id, name, currency, precision })
