import { badRequest, type Failure } from '../kernel/failure.ts'

export const DENOMINATION_NOT_OFFERED: Failure = {
  code: 'denomination_not_offered',
  kind: 'NOT_FOUND',
  message: 'Denomination not found',
}

export const quantityExceeded = (quantityMax: number) =>
  badRequest('quantity_exceeded', `Quantity exceeds maximum allowed quantity of ${quantityMax}`)

export const PAYING_WALLET_NOT_FOUND = badRequest('paying_wallet_not_found', 'Wallet not found')

export const rateMissing = (from: string, to: string) =>
  badRequest('rate_missing', `No exchange rate found for ${from} to ${to}`)

export const RATE_FAILED: Failure = {
  code: 'rate_failed',
  kind: 'INTERNAL_SERVER_ERROR',
  message: 'Failed to fetch exchange rate',
}
