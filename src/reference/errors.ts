import { invalidId } from '../http/failures.ts'
import { notFound } from '../kernel/failure.ts'

export const COUNTRY_NOT_FOUND = notFound('Country')
export const CURRENCY_NOT_FOUND = notFound('Currency')

export const GET_COUNTRY_ERRORS = {
  'countries.invalid_id': invalidId('country'),
  'countries.not_found': COUNTRY_NOT_FOUND,
}

export const GET_CURRENCY_ERRORS = {
  'currencies.invalid_id': invalidId('currency'),
  'currencies.not_found': CURRENCY_NOT_FOUND,
}
