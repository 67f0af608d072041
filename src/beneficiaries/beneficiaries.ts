import type { Tx } from '../db/database.ts'
import { searchText } from '../db/search.ts'
import type { World } from '../worlds/world.ts'
import type { BeneficiaryInput } from './input.ts'
import { type Beneficiary, insertBeneficiary } from './queries.ts'

/** E-mail addresses need not be unique (contract C10). */
export const saveBeneficiary = (tx: Tx, world: World, clientId: number, input: BeneficiaryInput): Beneficiary => {
  const nowMs = world.clock.nowMs()
  const beneficiary: Beneficiary = {
    id: world.ids.next('ben', nowMs),
    clientId,
    ...input,
    emailLowerCase: input.email.toLowerCase(),
    firstNameLowerCase: input.firstName.toLowerCase(),
    lastNameLowerCase: input.lastName.toLowerCase(),
    searchLowerCase: searchText(input.email, `${input.firstName} ${input.lastName}`),
    totalPayouts: 0,
    totalAmountMinor: 0,
    lastPayoutAtMs: null,
    createdAtMs: nowMs,
  }
  insertBeneficiary(tx, beneficiary)
  return beneficiary
}
