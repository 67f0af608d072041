import { invalidId } from '../http/failures.ts'
import { badRequest, notFound, violation } from '../kernel/failure.ts'

export const WALLET_NOT_FOUND = notFound('Wallet')
export const TRANSACTION_NOT_FOUND = notFound('Transaction')

export const INSUFFICIENT_BALANCE = badRequest('insufficient_balance', 'Insufficient wallet balance')

export const LIST_WALLETS_ERRORS = {
  'wallets.list_validation': violation('type', 'enum', 'must be one of PREPAID, POSTPAID'),
}

export const GET_WALLET_ERRORS = { 'wallets.invalid_id': invalidId('wallet'), 'wallets.not_found': WALLET_NOT_FOUND }

export const LIST_TRANSACTIONS_ERRORS = {
  'transactions.list_validation': violation('created_from', 'format', 'must be an RFC 3339 time'),
}

export const GET_TRANSACTION_ERRORS = {
  'transactions.invalid_id': invalidId('transaction'),
  'transactions.not_found': TRANSACTION_NOT_FOUND,
}
