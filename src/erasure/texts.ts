import type { Beneficiary } from '../beneficiaries/queries.ts'
import { searchText } from '../db/search.ts'
import type { Order } from '../orders/queries.ts'
import type { Payout } from '../payouts/queries.ts'
import { ERASED, type Person } from './person.ts'

/** What records say once a person is erased. A record that is not about the person loses only texts with the address. */

const NOBODY = {
  beneficiaryId: null,
  beneficiaryEmail: null,
  beneficiaryFirstName: null,
  beneficiaryLastName: null,
  beneficiaryCountry: null,
  beneficiaryPhone: null,
  beneficiaryIdentifiers: null,
  description: null,
  metadata: '{}',
}

/** References of a client are unique: only one can be `erased` and nothing else. */
const erasedReference = (id: string | number, isTaken: boolean): string => (isTaken ? `${ERASED}-${id}` : ERASED)

export const payoutWithout = (payout: Payout, person: Person, isTaken: () => boolean) => {
  const referenceId = person.isNamedIn(payout.referenceId) ? erasedReference(payout.id, isTaken()) : payout.referenceId
  const payee = person.isPayee(payout.beneficiaryId, payout.beneficiaryEmail) ? NOBODY : payeeWithout(payout, person)
  return {
    referenceId,
    ...payee,
    failureCode: person.without(payout.failureCode),
    failureReason: person.without(payout.failureReason),
    searchLowerCase: searchText(referenceId, payee.beneficiaryEmail),
  }
}

const payeeWithout = (payout: Payout, person: Person) => ({
  beneficiaryId: payout.beneficiaryId,
  beneficiaryEmail: person.without(payout.beneficiaryEmail),
  beneficiaryFirstName: person.without(payout.beneficiaryFirstName),
  beneficiaryLastName: person.without(payout.beneficiaryLastName),
  beneficiaryCountry: payout.beneficiaryCountry,
  beneficiaryPhone: payout.beneficiaryPhone,
  beneficiaryIdentifiers: person.withoutInJson(payout.beneficiaryIdentifiers),
  description: person.without(payout.description),
  metadata: person.withoutInJson(payout.metadata),
})

export const orderWithout = (order: Order, person: Person, isTaken: () => boolean) => ({
  email: person.isAddress(order.email) ? null : person.without(order.email),
  reference: person.isNamedIn(order.reference) ? erasedReference(order.id, isTaken()) : order.reference,
  failureReason: person.without(order.failureReason),
})

export const beneficiaryWithout = (beneficiary: Beneficiary, person: Person) => {
  const firstName = person.without(beneficiary.firstName)
  const lastName = person.without(beneficiary.lastName)
  return {
    firstName,
    lastName,
    firstNameLowerCase: firstName.toLowerCase(),
    lastNameLowerCase: lastName.toLowerCase(),
    searchLowerCase: searchText(beneficiary.email, `${firstName} ${lastName}`),
    metadata: person.withoutInJson(beneficiary.metadata),
  }
}

/** The payout or order of an event, as it was then. */
interface EventData {
  email?: string | null
  beneficiary?: { id: string | null; email: string | null }
}

const NOBODY_PAID = { id: null, email: null, first_name: null, last_name: null, country: null, phone: null }

export const eventWithout = (json: string, person: Person): string => {
  const data = JSON.parse(json) as EventData
  const { beneficiary, email } = data
  const isOwn = beneficiary !== undefined && person.isPayee(beneficiary.id, beneficiary.email)
  const own = isOwn ? { beneficiary: NOBODY_PAID, description: null, metadata: {} } : {}
  return JSON.stringify(
    person.withoutIn({ ...data, ...own, ...(email !== undefined && person.isAddress(email) && { email: null }) }),
  )
}
