import { PAYING_WALLET_NOT_FOUND, RATE_FAILED, rateMissing } from '../charges/errors.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import { KEY_MALFORMED, KEY_REUSED } from '../idempotency/errors.ts'
import { badRequest, notFound, violation } from '../kernel/failure.ts'
import { AMOUNT_TOO_LARGE, AMOUNT_TOO_SMALL } from '../kernel/money.ts'
import { INSUFFICIENT_BALANCE } from '../wallets/errors.ts'

export const PAYOUT_NOT_FOUND = notFound('Payout')

export const SAVED_BENEFICIARY_NOT_FOUND = badRequest('saved_beneficiary_not_found', 'Beneficiary not found')

export const DUPLICATE_REFERENCE_ID = badRequest('duplicate_payout_reference', 'Duplicate reference_id')

export const payoutNotCancellable = (status: string) =>
  badRequest('payout_not_cancellable', `Payout cannot be cancelled in status ${status}`)

export const LIST_PAYOUTS_ERRORS = { 'payouts.list_validation': violation('limit', 'max', 'must be at most 100') }

export const CREATE_PAYOUT_ERRORS = {
  'payouts.body_unreadable': BODY_UNREADABLE,
  'payouts.validation': violation('amount', 'required', 'is required'),
  'payouts.idempotency_key_malformed': KEY_MALFORMED,
  'payouts.idempotency_key_reused': KEY_REUSED,
  'payouts.wallet_not_found': PAYING_WALLET_NOT_FOUND,
  'payouts.beneficiary_not_found': SAVED_BENEFICIARY_NOT_FOUND,
  'payouts.duplicate_reference': DUPLICATE_REFERENCE_ID,
  'payouts.rate_missing': rateMissing('KES', 'USD'),
  'payouts.rate_failed': RATE_FAILED,
  'payouts.amount_too_large': AMOUNT_TOO_LARGE,
  'payouts.amount_too_small': AMOUNT_TOO_SMALL,
  'payouts.insufficient_balance': INSUFFICIENT_BALANCE,
}

export const GET_PAYOUT_ERRORS = { 'payouts.not_found': PAYOUT_NOT_FOUND }

export const CANCEL_PAYOUT_ERRORS = {
  'payouts.cancel_not_found': PAYOUT_NOT_FOUND,
  'payouts.not_cancellable': payoutNotCancellable('completed'),
}
