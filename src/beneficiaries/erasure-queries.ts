import { eq } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { holdAny } from '../db/search.ts'
import { type Beneficiary, beneficiaries } from './tables.ts'

/** Beneficiaries that may hold a text of a person. */
export const beneficiariesWith = (query: Query, part: string): Iterable<Beneficiary> => {
  const { email, firstName, lastName, metadata } = beneficiaries
  return rowsById(query, beneficiaries, holdAny([email, firstName, lastName, metadata], part))
}

export const deleteAnyBeneficiary = (tx: Tx, id: string): void => {
  tx.delete(beneficiaries).where(eq(beneficiaries.id, id)).run()
}

export type BeneficiaryTexts = Pick<
  Beneficiary,
  'firstName' | 'lastName' | 'firstNameLowerCase' | 'lastNameLowerCase' | 'searchLowerCase' | 'metadata'
>

export const updateTexts = (tx: Tx, { id }: Beneficiary, texts: BeneficiaryTexts): void => {
  tx.update(beneficiaries).set(texts).where(eq(beneficiaries.id, id)).run()
}
