import { badRequest, notFound } from '../kernel/failure.ts'

export const WALLET_NOT_FOUND = notFound('Wallet')
export const TRANSACTION_NOT_FOUND = notFound('Transaction')

export const INSUFFICIENT_BALANCE = badRequest('insufficient_balance', 'Insufficient wallet balance')
