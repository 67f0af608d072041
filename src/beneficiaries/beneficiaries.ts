import type { Tx } from '../db/database.ts'
import { searchText } from '../db/search.ts'
import type { World } from '../worlds/world.ts'
import type { BeneficiaryInput } from './input.ts'
import { type Beneficiary, insertBeneficiary } from './queries.ts'

/** E-mail addresses need not be unique (contract C10). */
export const saveBeneficiary = (tx: Tx, world: World, clientId: number, input: BeneficiaryInput): Beneficiary => {
  const createdAtMs = world.clock.nowMs()
  return saveBeneficiaryAs(tx, { id: world.ids.next('ben', createdAtMs), clientId, createdAtMs }, input)
}

export const saveBeneficiaryAs = (
  tx: Tx,
  created: Pick<Beneficiary, 'id' | 'clientId' | 'createdAtMs'>,
  input: BeneficiaryInput,
): Beneficiary => {
  const beneficiary: Beneficiary = {
    ...created,
    ...input,
    emailLowerCase: input.email.toLowerCase(),
    firstNameLowerCase: input.firstName.toLowerCase(),
    lastNameLowerCase: input.lastName.toLowerCase(),
    searchLowerCase: searchText(input.email, `${input.firstName} ${input.lastName}`),
    totalPayouts: 0,
    totalAmountMinor: 0,
    lastPayoutAtMs: null,
  }
  insertBeneficiary(tx, beneficiary)
  return beneficiary
}
