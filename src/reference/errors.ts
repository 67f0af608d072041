import { notFound } from '../kernel/failure.ts'

export const COUNTRY_NOT_FOUND = notFound('Country')
export const CURRENCY_NOT_FOUND = notFound('Currency')
