import { type Failure, notFound } from '../kernel/failure.ts'

export const WALLET_NOT_FOUND = notFound('Wallet')
export const TRANSACTION_NOT_FOUND = notFound('Transaction')

export const INSUFFICIENT_BALANCE: Failure = {
  code: 'insufficient_balance',
  kind: 'BAD_REQUEST',
  message: 'Insufficient wallet balance',
}
