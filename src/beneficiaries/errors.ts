import { notFound } from '../kernel/failure.ts'

export const BENEFICIARY_NOT_FOUND = notFound('Beneficiary')
