import type { Static } from '@sinclair/typebox'
import type { Tx } from '../db/database.ts'
import { sortedSliceOf } from '../http/pagination.ts'
import { foundOr } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Session } from '../sessions/sessions.ts'
import { findDefaultWallet } from '../wallets/queries.ts'
import type { World } from '../work/world.ts'
import {
  BENEFICIARY_NOT_FOUND,
  type BeneficiaryInput,
  type BeneficiaryListQuery,
  type BeneficiarySchema,
  beneficiaryWire,
} from './contract.ts'
import { type Beneficiary, beneficiaryList, comparedTexts, findBeneficiary, insertBeneficiary } from './queries.ts'

export const listBeneficiaries = (
  reference: Reference,
  session: Session,
  query: Static<typeof BeneficiaryListQuery>,
) => {
  const slice = { filters: { search: query.search }, ...sortedSliceOf(query) }
  return beneficiaryList.page(session, slice, wireFor(reference, session))
}

/** @throws DomainError not_found */
export const getBeneficiary = (
  reference: Reference,
  session: Session,
  id: string,
): Static<typeof BeneficiarySchema> => {
  const { world, client } = session
  return wireFor(reference, session)(foundOr(findBeneficiary(world.db.query, client.id, id), BENEFICIARY_NOT_FOUND))
}

/** The amounts paid are in the currency of the default wallet. */
const wireFor = (reference: Reference, { world, client }: Session) => {
  const wallet = findDefaultWallet(world.db.query, client.id)
  const precision = wallet ? reference.shownCurrency(wallet.currencyId).precision : 0
  return (beneficiary: Beneficiary) => beneficiaryWire(beneficiary, precision)
}

/** E-mail addresses need not be unique (contract C10). */
export const saveBeneficiary = (tx: Tx, world: World, clientId: number, input: BeneficiaryInput): Beneficiary => {
  const createdAtMs = world.clock.nowMs()
  const beneficiary: Beneficiary = {
    id: world.ids.next('ben', createdAtMs),
    clientId,
    createdAtMs,
    ...input,
    ...comparedTexts(input),
    totalPayouts: 0,
    totalAmountMinor: 0,
    lastPayoutAtMs: null,
  }
  insertBeneficiary(tx, beneficiary)
  return beneficiary
}
