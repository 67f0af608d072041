import {
  BENEFICIARY_TEXTS,
  beneficiariesAt,
  deleteAnyBeneficiary,
  findAnyBeneficiary,
} from '../beneficiaries/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { changeRows, rowsHolding } from '../db/personal.ts'
import { EVENT_TEXTS, type Event, eventsAbout } from '../events/queries.ts'
import { eraseKey, type StoredResponse, storedResponses } from '../idempotency/queries.ts'
import { isReferenceTaken as isOrderReferenceTaken, ORDER_TEXTS, type Order } from '../orders/queries.ts'
import { isReferenceTaken, MESSAGE_TEXTS, PAYOUT_TEXTS, type Payout, payoutsTo } from '../payouts/queries.ts'
import { REMARK_TEXTS } from '../wallets/queries.ts'
import { attemptsAbout, eraseResponse } from '../webhooks/queries.ts'
import { ERASED, type Person } from './person.ts'

/** The numbers of changed records, and of deleted beneficiaries. */
export interface Erased {
  beneficiaries: string[]
  payouts: number
  orders: number
  transactions: number
  events: number
  deliveries: number
  idempotencyKeys: number
}

/** Opens a stored response; undefined if its key is lost. */
type Open = (stored: StoredResponse) => string | undefined

/** Erases a person from all records (contract C17, decision 68). */
export const erase = (tx: Tx, person: Person, open: Open): Erased => {
  const { beneficiaryId, part } = person
  const isWide = beneficiaryId === undefined
  const payoutChanges = (payout: Payout) => changesOfPayout(payout, person, tx)
  const orderChanges = (order: Order) => changesOfOrder(order, person, tx)
  const payouts = changing(isWide ? rowsHolding(tx, PAYOUT_TEXTS, part) : payoutsTo(tx, beneficiaryId), payoutChanges)
  const orders = changing(isWide ? rowsHolding(tx, ORDER_TEXTS, part) : [], orderChanges)
  const [payoutIds, orderIds] = [payouts.map(({ id }) => id), orders.map(({ id }) => id)]
  const about = isWide ? undefined : payoutIds
  const remarks = rowsHolding(tx, REMARK_TEXTS, part, about)
  const messages = rowsHolding(tx, MESSAGE_TEXTS, part, about)
  const events = [
    ...eventsAbout(tx, [...payoutIds.map((id) => `payout ${id}`), ...orderIds.map((id) => `order ${id}`)]),
  ]
  changeRows(tx, MESSAGE_TEXTS, messages, (row) => person.changesIn(row, MESSAGE_TEXTS))
  return {
    beneficiaries: eraseBeneficiaries(tx, person),
    payouts: changeRows(tx, PAYOUT_TEXTS, payouts, payoutChanges),
    orders: changeRows(tx, ORDER_TEXTS, orders, orderChanges),
    transactions: changeRows(tx, REMARK_TEXTS, remarks, (row) => person.changesIn(row, REMARK_TEXTS)),
    events: changeRows(tx, EVENT_TEXTS, events, (event) => changesOfEvent(event, person)),
    deliveries: eraseResponses(tx, person, new Set(events.map(({ eventId }) => eventId))),
    idempotencyKeys: eraseKeys(tx, person, open, new Set([...payoutIds, ...orderIds, beneficiaryId])),
  }
}

/** The rows that change once the person is erased. */
const changing = <Row>(rows: Iterable<Row>, changes: (row: Row) => object): Row[] =>
  [...rows].filter((row) => Object.keys(changes(row)).length > 0)

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

/** The erased columns of a payout. A payout to somebody else loses only texts with the address. */
const changesOfPayout = (payout: Payout, person: Person, query: Query) => ({
  ...person.changesIn(payout, PAYOUT_TEXTS),
  ...(person.isNamedIn(payout.referenceId) && {
    referenceId: erasedReference(payout, isReferenceTaken(query, payout.clientId, ERASED)),
  }),
  ...(person.isPayee(payout.beneficiaryId, payout.beneficiaryEmail) && NOBODY),
})

const changesOfOrder = (order: Order, person: Person, query: Query) => ({
  ...person.changesIn(order, ORDER_TEXTS),
  ...(person.isNamedIn(order.reference) && {
    reference: erasedReference(order, isOrderReferenceTaken(query, order.clientId, ERASED)),
  }),
  ...(person.isAddress(order.email) && { email: null }),
})

/** The reference after the erasure. References of a client are unique, so only one can be `erased` alone. */
const erasedReference = ({ id }: { id: string | number }, isTaken: boolean): string =>
  isTaken ? `${ERASED}-${id}` : ERASED

/** The payout or order in an event, at the time of the event. */
interface EventData {
  email?: string | null
  beneficiary?: { id: string | null; email: string | null }
}

const NOBODY_PAID = { id: null, email: null, first_name: null, last_name: null, country: null, phone: null }

const changesOfEvent = ({ data: json }: Event, person: Person) => {
  const data = JSON.parse(json) as EventData
  const { beneficiary, email } = data
  const isOwn = beneficiary !== undefined && person.isPayee(beneficiary.id, beneficiary.email)
  const gone = isOwn ? { beneficiary: NOBODY_PAID, description: null, metadata: {} } : {}
  const without = JSON.stringify(
    person.withoutIn({ ...data, ...gone, ...(email !== undefined && person.isAddress(email) && { email: null }) }),
  )
  return without === json ? {} : { data: without }
}

/** Deletes the person's beneficiaries, and erases the address from others. Returns the deleted ids. */
const eraseBeneficiaries = (tx: Tx, person: Person): string[] => {
  const { beneficiaryId, part } = person
  const saved = beneficiaryId === undefined ? beneficiariesAt(tx, part) : [findAnyBeneficiary(tx, beneficiaryId)]
  const payees = [...saved].filter((one) => one !== undefined).filter(({ id, email }) => person.isPayee(id, email))
  for (const { id } of payees) deleteAnyBeneficiary(tx, id)
  const others = beneficiaryId === undefined ? rowsHolding(tx, BENEFICIARY_TEXTS, part) : []
  changeRows(tx, BENEFICIARY_TEXTS, others, (other) => person.changesIn(other, BENEFICIARY_TEXTS))
  return payees.map(({ id }) => id)
}

/** Erases the responses of receivers to some events, and all that repeat the address. */
const eraseResponses = (tx: Tx, person: Person, eventIds: ReadonlySet<string>): number => {
  const part = person.beneficiaryId === undefined ? person.part : undefined
  const attempts = [...attemptsAbout(tx, eventIds, part)].filter(
    ({ eventId, responseBody }) => eventIds.has(eventId) || person.isNamedIn(responseBody),
  )
  for (const attempt of attempts) eraseResponse(tx, attempt)
  return attempts.length
}

/** Erases the keys of requests whose responses are about the person or one of some records. */
const eraseKeys = (tx: Tx, person: Person, open: Open, ids: ReadonlySet<unknown>): number => {
  let count = 0
  for (const stored of storedResponses(tx)) {
    const body = JSON.parse((stored.isEncrypted ? open(stored) : stored.body) ?? '{}') as { id?: string | number }
    const isNamed = person.isNamedIn(stored.key) || JSON.stringify(person.withoutIn(body)) !== JSON.stringify(body)
    if (!ids.has(body.id ?? null) && !(isNamed && person.beneficiaryId === undefined)) continue
    eraseKey(tx, stored)
    count += 1
  }
  return count
}
