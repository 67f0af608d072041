import type { Tx } from '../db/database.ts'
import { searchText } from '../db/search.ts'
import type { World } from '../worlds/world.ts'
import type { Draft } from './draft.ts'
import { type Beneficiary, insertBeneficiary } from './queries.ts'

/** Saves a new beneficiary of the client. E-mails need not be unique (contract C10). */
export const saveBeneficiary = (tx: Tx, world: World, clientId: number, draft: Draft): Beneficiary => {
  const nowMs = world.clock.nowMs()
  const beneficiary: Beneficiary = {
    id: world.ids.next('ben', nowMs),
    clientId,
    ...draft,
    emailLowerCase: draft.email.toLowerCase(),
    firstNameLowerCase: draft.firstName.toLowerCase(),
    lastNameLowerCase: draft.lastName.toLowerCase(),
    searchLowerCase: searchText(draft.email, `${draft.firstName} ${draft.lastName}`),
    totalPayouts: 0,
    totalAmountMinor: 0,
    lastPayoutAtMs: null,
    createdAtMs: nowMs,
  }
  insertBeneficiary(tx, beneficiary)
  return beneficiary
}
