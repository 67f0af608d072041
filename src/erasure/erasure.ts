import {
  BENEFICIARY_TEXTS,
  type Beneficiary,
  beneficiariesAt,
  deleteAnyBeneficiary,
  findAnyBeneficiary,
} from '../beneficiaries/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { changeRows, rowsHolding } from '../db/personal.ts'
import { EVENT_TEXTS, type Event, eventsAbout } from '../events/queries.ts'
import { eraseKey, type StoredResponse, storedResponses } from '../idempotency/queries.ts'
import { inParts } from '../kernel/turns.ts'
import { isReferenceTaken as isOrderReferenceTaken, ORDER_TEXTS, type Order } from '../orders/queries.ts'
import { isReferenceTaken, MESSAGE_TEXTS, PAYOUT_TEXTS, type Payout, payoutsTo } from '../payouts/queries.ts'
import { REMARK_TEXTS } from '../wallets/queries.ts'
import { type Attempt, attemptsAbout, eraseResponse } from '../webhooks/queries.ts'
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

/** The rows that hold something of a person. */
type Found = Awaited<ReturnType<typeof findRows>>

/** Searches the whole database, and leaves the thread to others meanwhile. What is written meanwhile may be missed. */
export const findRows = async (query: Query, person: Person, open: Open) => {
  const { beneficiaryId, part } = person
  const isWide = beneficiaryId === undefined
  const payouts = await changing(
    isWide ? rowsHolding(query, PAYOUT_TEXTS, part) : payoutsTo(query, beneficiaryId),
    (payout) => changesOfPayout(payout, person, query),
  )
  const orders = await changing(isWide ? rowsHolding(query, ORDER_TEXTS, part) : [], (order) =>
    changesOfOrder(order, person, query),
  )
  const [payoutIds, orderIds] = [payouts.map(({ id }) => id), orders.map(({ id }) => id)]
  const about = isWide ? undefined : payoutIds
  const records = [...payoutIds.map((id) => `payout ${id}`), ...orderIds.map((id) => `order ${id}`)]
  const events = await Array.fromAsync(eventsAbout(query, records))
  const eventIds = new Set(events.map(({ eventId }) => eventId))
  const beneficiaries = isWide ? beneficiariesAt(query, part) : [findAnyBeneficiary(query, beneficiaryId)]
  const isPayee = (one: Beneficiary | undefined) => one !== undefined && person.isPayee(one.id, one.email)
  return {
    payouts,
    orders,
    events,
    remarks: await Array.fromAsync(rowsHolding(query, REMARK_TEXTS, part, about)),
    messages: await Array.fromAsync(rowsHolding(query, MESSAGE_TEXTS, part, about)),
    beneficiaries: (await Array.fromAsync(beneficiaries)).filter(isPayee) as Beneficiary[],
    otherBeneficiaries: isWide ? await Array.fromAsync(rowsHolding(query, BENEFICIARY_TEXTS, part)) : [],
    attempts: await findAttempts(query, person, eventIds),
    keys: await findKeys(query, person, open, new Set([...payoutIds, ...orderIds, beneficiaryId, ...eventIds])),
  }
}

/** Erases a person from all records (contract C17, decision 68). The rows are still as they were found. */
export const erase = (tx: Tx, person: Person, found: Found): Erased => {
  const { payouts, orders, remarks, messages, events, otherBeneficiaries, attempts, keys } = found
  changeRows(tx, MESSAGE_TEXTS, messages, (row) => person.changesIn(row, MESSAGE_TEXTS))
  const beneficiaries = found.beneficiaries.map(({ id }) => id)
  for (const id of beneficiaries) deleteAnyBeneficiary(tx, id)
  const others = otherBeneficiaries.filter(({ id }) => !beneficiaries.includes(id))
  changeRows(tx, BENEFICIARY_TEXTS, others, (other) => person.changesIn(other, BENEFICIARY_TEXTS))
  for (const attempt of attempts) eraseResponse(tx, attempt)
  for (const key of keys) eraseKey(tx, key)
  return {
    beneficiaries,
    payouts: changeRows(tx, PAYOUT_TEXTS, payouts, (payout) => changesOfPayout(payout, person, tx)),
    orders: changeRows(tx, ORDER_TEXTS, orders, (order) => changesOfOrder(order, person, tx)),
    transactions: changeRows(tx, REMARK_TEXTS, remarks, (row) => person.changesIn(row, REMARK_TEXTS)),
    events: changeRows(tx, EVENT_TEXTS, events, (event) => changesOfEvent(event, person)),
    deliveries: attempts.length,
    idempotencyKeys: keys.length,
  }
}

/** The rows that change once the person is erased. */
const changing = async <Row>(rows: Iterable<Row> | AsyncIterable<Row>, changes: (row: Row) => object): Promise<Row[]> =>
  (await Array.fromAsync(rows)).filter((row) => Object.keys(changes(row)).length > 0)

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

/** The attempts with responses of receivers to some events, and all whose responses repeat the address. */
const findAttempts = async (query: Query, person: Person, eventIds: ReadonlySet<string>): Promise<Attempt[]> => {
  const part = person.beneficiaryId === undefined ? person.part : undefined
  const attempts = await Array.fromAsync(attemptsAbout(query, eventIds, part))
  return attempts.filter(({ eventId, responseBody }) => eventIds.has(eventId) || person.isNamedIn(responseBody))
}

/** The keys of requests whose responses are about the person or one of some records. */
const findKeys = async (
  query: Query,
  person: Person,
  open: Open,
  ids: ReadonlySet<unknown>,
): Promise<StoredResponse[]> => {
  const keys: StoredResponse[] = []
  for await (const stored of inParts(storedResponses(query))) {
    const body = JSON.parse((stored.isEncrypted ? open(stored) : stored.body) ?? '{}') as { id?: string | number }
    const isNamed = person.isNamedIn(stored.key) || JSON.stringify(person.withoutIn(body)) !== JSON.stringify(body)
    if (ids.has(body.id ?? null) || (isNamed && person.beneficiaryId === undefined)) keys.push(stored)
  }
  return keys
}
