import { Type } from '@sinclair/typebox'
import { listOf, operationsOf } from '../http/operation.ts'
import { idPath } from '../http/parameters.ts'
import { GET_COUNTRY_ERRORS, GET_CURRENCY_ERRORS } from './errors.ts'

const countryOperation = operationsOf({
  tag: 'Countries',
  tagDescription: 'The countries of ISO 3166-1.',
  errorShape: 'structured',
})
const currencyOperation = operationsOf({
  tag: 'Currencies',
  tagDescription: 'The circulating currencies of ISO 4217.',
  errorShape: 'structured',
})

export const CountrySchema = Type.Object(
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
export const CurrencySchema = Type.Object(
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

export const listCountries = countryOperation({
  id: 'listCountries',
  unexpectedError: 'Failed to retrieve countries',
  stored: true,
  summary: 'List all countries',
  description: 'All 249 countries, with identifiers that never change.',
  success: listOf('All countries of ISO 3166-1', CountrySchema, COUNTRY_EXAMPLE),
  errors: {},
})

export const getCountry = countryOperation({
  id: 'getCountry',
  unexpectedError: 'Failed to retrieve country',
  stored: true,
  summary: 'Get a country',
  description: 'Includes both letter codes, the numeric code and the dialing prefix.',
  params: CountryPath,
  success: { status: 200, description: 'The country', schema: CountrySchema, example: COUNTRY_EXAMPLE },
  errors: GET_COUNTRY_ERRORS,
})

export const listCurrencies = currencyOperation({
  id: 'listCurrencies',
  unexpectedError: 'Failed to retrieve currencies',
  stored: true,
  summary: 'List all currencies',
  description: 'All currencies in circulation, with identifiers that never change.',
  success: listOf('All circulating currencies of ISO 4217', CurrencySchema, CURRENCY_EXAMPLE),
  errors: {},
})

export const getCurrency = currencyOperation({
  id: 'getCurrency',
  unexpectedError: 'Failed to retrieve currency',
  stored: true,
  summary: 'Get a currency',
  description: 'Its precision says how many decimals its amounts have.',
  params: CurrencyPath,
  success: { status: 200, description: 'The currency', schema: CurrencySchema, example: CURRENCY_EXAMPLE },
  errors: GET_CURRENCY_ERRORS,
})
