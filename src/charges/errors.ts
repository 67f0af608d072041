import type { Failure } from '../kernel/failure.ts'

export const DENOMINATION_NOT_OFFERED: Failure = {
  code: 'denomination_not_offered',
  kind: 'NOT_FOUND',
  message: 'Denomination not found',
}

export const quantityExceeded = (quantityMax: number): Failure => ({
  code: 'quantity_exceeded',
  kind: 'BAD_REQUEST',
  message: `Quantity exceeds maximum allowed quantity of ${quantityMax}`,
})

export const PAYING_WALLET_NOT_FOUND: Failure = {
  code: 'paying_wallet_not_found',
  kind: 'BAD_REQUEST',
  message: 'Wallet not found',
}

export const rateMissing = (from: string, to: string): Failure => ({
  code: 'rate_missing',
  kind: 'BAD_REQUEST',
  message: `No exchange rate found for ${from} to ${to}`,
})

export const RATE_FAILED: Failure = {
  code: 'rate_failed',
  kind: 'INTERNAL_SERVER_ERROR',
  message: 'Failed to fetch exchange rate',
}
