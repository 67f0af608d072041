import { BODY_UNREADABLE } from '../http/failures.ts'
import { KEY_MALFORMED, KEY_REUSED } from '../idempotency/errors.ts'
import { notFound, violation } from '../kernel/failure.ts'

export const BENEFICIARY_NOT_FOUND = notFound('Beneficiary')

export const LIST_BENEFICIARIES_ERRORS = {
  'beneficiaries.list_validation': violation('limit', 'max', 'must be at most 100'),
}

export const CREATE_BENEFICIARY_ERRORS = {
  'beneficiaries.body_unreadable': BODY_UNREADABLE,
  'beneficiaries.email_missing': violation('email', 'required', 'is required'),
  'beneficiaries.email_invalid': violation('email', 'email', 'must be a valid e-mail address'),
  'beneficiaries.idempotency_key_malformed': KEY_MALFORMED,
  'beneficiaries.idempotency_key_reused': KEY_REUSED,
}

export const GET_BENEFICIARY_ERRORS = { 'beneficiaries.not_found': BENEFICIARY_NOT_FOUND }

export const DELETE_BENEFICIARY_ERRORS = { 'beneficiaries.delete_not_found': BENEFICIARY_NOT_FOUND }
