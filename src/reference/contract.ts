import { type Static, Type } from '@sinclair/typebox'
import { withExample } from '../http/schemas.ts'
import { notFound } from '../kernel/failure.ts'
import type { Country } from './tables.ts'

/** Countries (spec 4.4) and currencies (spec 4.5) in the API. */

export const CountrySchema = withExample(
  Type.Object(
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
  ),
  {
    id: 105,
    name: 'India',
    official_name: 'Republic of India',
    alpha_2: 'IN',
    alpha_3: 'IND',
    numeric_code: '356',
    dialing_prefix: '+91',
  },
)
export type CountryWire = Static<typeof CountrySchema>

export const countryWire = (country: Country): CountryWire => ({
  id: country.id,
  name: country.name,
  official_name: country.officialName,
  alpha_2: country.alpha2,
  alpha_3: country.alpha3,
  numeric_code: country.numericCode,
  dialing_prefix: country.dialingPrefix,
})

export const CurrencySchema = withExample(
  Type.Object(
    {
      id: Type.Integer(),
      name: Type.String(),
      currency: Type.String({ description: 'ISO 4217 code' }),
      precision: Type.Integer({ description: 'Number of decimal places' }),
    },
    { title: 'Currency' },
  ),
  { id: 64, name: 'Japanese Yen', currency: 'JPY', precision: 0 },
)

export const COUNTRY_NOT_FOUND = notFound('Country')
export const CURRENCY_NOT_FOUND = notFound('Currency')
