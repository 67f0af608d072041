import { type Static, Type } from '@sinclair/typebox'
import { notFound } from '../kernel/failure.ts'

/** Countries (spec 4.4) and currencies (spec 4.5) in the API. */

export const CountrySchema = Type.Object(
  {
    id: Type.Integer({ example: 105 }),
    name: Type.String({ description: 'Common name', example: 'India' }),
    official_name: Type.String({ description: 'Formal name', example: 'Republic of India' }),
    alpha_2: Type.String({ description: 'ISO 3166-1 alpha-2', example: 'IN' }),
    alpha_3: Type.String({ description: 'ISO 3166-1 alpha-3', example: 'IND' }),
    numeric_code: Type.String({ description: 'ISO 3166-1 numeric, three digits', example: '356' }),
    dialing_prefix: Type.String({ description: 'International dialing prefix beginning with +', example: '+91' }),
  },
  { title: 'Country' },
)
export type Country = Static<typeof CountrySchema>

export const CurrencySchema = Type.Object(
  {
    id: Type.Integer({ example: 64 }),
    name: Type.String({ example: 'Japanese Yen' }),
    currency: Type.String({ description: 'ISO 4217 code', example: 'JPY' }),
    precision: Type.Integer({ description: 'Number of decimal places', example: 0 }),
  },
  { title: 'Currency' },
)
/** `currency` is the ISO 4217 code, `precision` the number of decimals (spec 2.5). */
export type Currency = Static<typeof CurrencySchema>

export const COUNTRY_NOT_FOUND = notFound('Country')
export const CURRENCY_NOT_FOUND = notFound('Currency')
