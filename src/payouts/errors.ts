import { type Failure, notFound } from '../kernel/failure.ts'

export const PAYOUT_NOT_FOUND = notFound('Payout')

export const SAVED_BENEFICIARY_NOT_FOUND: Failure = {
  code: 'saved_beneficiary_not_found',
  kind: 'BAD_REQUEST',
  message: 'Beneficiary not found',
}

export const DUPLICATE_REFERENCE_ID: Failure = {
  code: 'duplicate_payout_reference',
  kind: 'BAD_REQUEST',
  message: 'Duplicate reference_id',
}

export const payoutNotCancellable = (status: string): Failure => ({
  code: 'payout_not_cancellable',
  kind: 'BAD_REQUEST',
  message: `Payout cannot be cancelled in status ${status}`,
})
