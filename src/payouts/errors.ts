import { badRequest, notFound } from '../kernel/failure.ts'

export const PAYOUT_NOT_FOUND = notFound('Payout')

export const SAVED_BENEFICIARY_NOT_FOUND = badRequest('saved_beneficiary_not_found', 'Beneficiary not found')

export const DUPLICATE_REFERENCE_ID = badRequest('duplicate_payout_reference', 'Duplicate reference_id')

export const payoutNotCancellable = (status: string) =>
  badRequest('payout_not_cancellable', `Payout cannot be cancelled in status ${status}`)
