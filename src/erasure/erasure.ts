import {
  BENEFICIARY_TEXTS,
  beneficiariesAt,
  deleteAnyBeneficiary,
  findAnyBeneficiary,
} from '../beneficiaries/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { changeRow, type Personal, rowsHolding } from '../db/personal.ts'
import { EVENT_TEXTS, type Event, eventsAbout } from '../events/queries.ts'
import { eraseKey, type SealedResponse, storedResponses } from '../idempotency/queries.ts'
import { findAnyOrder, isReferenceTaken as isOrderReferenceTaken, ORDER_TEXTS, type Order } from '../orders/queries.ts'
import {
  findAnyPayout,
  isReferenceTaken,
  MESSAGE_TEXTS,
  PAYOUT_TEXTS,
  type Payout,
  payoutsTo,
} from '../payouts/queries.ts'
import { REMARK_TEXTS } from '../wallets/queries.ts'
import { type Attempt, attemptsAbout, eraseResponse } from '../webhooks/queries.ts'
import { ERASED, type Person } from './person.ts'

/**
 * Takes a person out of the records (contract C17, decision 68), in small units beside a server. What is about a payout
 * comes before the payout itself: a run that was interrupted finds it again.
 */

interface Erasing {
  query: Query
  write: <T>(work: (tx: Tx) => T) => Promise<T>
  /** Opens a stored response; undefined if its key is lost. */
  open: (stored: SealedResponse) => string | undefined
}

/** How many records were changed; beneficiaries are deleted. */
export interface Erased {
  beneficiaries: string[]
  payouts: number
  orders: number
  transactions: number
  events: number
  deliveries: number
  idempotencyKeys: number
}

/** A transaction of as many takes some 10 ms. */
const UNIT = 100

/** @param onErased called in the last transaction */
export const erase = async (
  erasing: Erasing,
  person: Person,
  onErased: (tx: Tx, erased: Erased) => void,
): Promise<Erased> => {
  const none = { payouts: 0, orders: 0, transactions: 0, events: 0, deliveries: 0, idempotencyKeys: 0 }
  const counts: Erased = { beneficiaries: [], ...none }
  let records = recordsOf(erasing.query, person)
  do {
    await new Pass(erasing, person, records, counts).run()
    records = recordsOf(erasing.query, person) // those that clients have made meanwhile
  } while (records.payouts.length + records.orders.length > 0)
  return erasing.write((tx) => {
    counts.beneficiaries = eraseBeneficiaries(tx, person)
    onErased(tx, counts)
    return counts
  })
}

interface Records {
  payouts: string[]
  orders: number[]
}

/** The payouts and orders that change once the person is erased. */
const recordsOf = (query: Query, person: Person): Records => {
  const { beneficiaryId, part } = person
  const changing = <Row>(rows: Iterable<Row>, changes: (row: Row, person: Person, query: Query) => object): Row[] =>
    [...rows].filter((row) => Object.keys(changes(row, person, query)).length > 0)
  const payouts = beneficiaryId === undefined ? rowsHolding(query, PAYOUT_TEXTS, part) : payoutsTo(query, beneficiaryId)
  const orders = beneficiaryId === undefined ? rowsHolding(query, ORDER_TEXTS, part) : []
  return {
    payouts: changing(payouts, changesOfPayout).map(({ id }) => id),
    orders: changing(orders, changesOfOrder).map(({ id }) => id),
  }
}

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

/** A payout that is not to the person loses only texts with the address. */
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

/** References of a client are unique: only one can be `erased` and nothing else. */
const erasedReference = ({ id }: { id: string | number }, isTaken: boolean): string =>
  isTaken ? `${ERASED}-${id}` : ERASED

/** The payout or order of an event, as it was then. */
interface EventData {
  email?: string | null
  beneficiary?: { id: string | null; email: string | null }
}

const NOBODY_PAID = { id: null, email: null, first_name: null, last_name: null, country: null, phone: null }

const changesOfEvent = ({ data: json }: Event, person: Person) => {
  const data = JSON.parse(json) as EventData
  const { beneficiary, email } = data
  const isOwn = beneficiary !== undefined && person.isPayee(beneficiary.id, beneficiary.email)
  const own = isOwn ? { beneficiary: NOBODY_PAID, description: null, metadata: {} } : {}
  const without = JSON.stringify(
    person.withoutIn({ ...data, ...own, ...(email !== undefined && person.isAddress(email) && { email: null }) }),
  )
  return without === json ? {} : { data: without }
}

/** Deletes the person, and erases the address from others. Returns the ids of those deleted. */
const eraseBeneficiaries = (tx: Tx, person: Person): string[] => {
  const { beneficiaryId, part } = person
  const saved = beneficiaryId === undefined ? beneficiariesAt(tx, part) : [findAnyBeneficiary(tx, beneficiaryId)]
  const own = [...saved].filter((one) => one !== undefined).filter(({ id, email }) => person.isPayee(id, email))
  for (const { id } of own) deleteAnyBeneficiary(tx, id)
  const others = beneficiaryId === undefined ? [...rowsHolding(tx, BENEFICIARY_TEXTS, part)] : []
  for (const other of others) changeRow(tx, BENEFICIARY_TEXTS, other, person.changesIn(other, BENEFICIARY_TEXTS))
  return own.map(({ id }) => id)
}

/** One way through all tables, for the records that it begins with. */
class Pass {
  readonly #names: string[]
  readonly #eventIds = new Set<string>()
  #lastEventId = 0

  constructor(
    private readonly erasing: Erasing,
    private readonly person: Person,
    private readonly records: Records,
    private readonly counts: Erased,
  ) {
    this.#names = [...records.payouts.map((id) => `payout ${id}`), ...records.orders.map((id) => `order ${id}`)]
  }

  async run(): Promise<void> {
    const { counts, person, records } = this
    const { query } = this.erasing
    const isWide = person.beneficiaryId === undefined
    const about = isWide ? undefined : records.payouts
    await this.#inUnits(eventsAbout(query, this.#names, 0), (tx, events) => this.#eraseEvents(tx, events))
    const attempts = attemptsAbout(query, this.#eventIds, isWide ? person.part : undefined)
    await this.#inUnits(attempts, (tx, unit) => this.#eraseResponses(tx, unit))
    await this.#eraseKeys()
    counts.transactions += await this.#eraseTexts(REMARK_TEXTS, about)
    await this.#eraseTexts(MESSAGE_TEXTS, about)
    await this.#inUnits(records.orders, (tx, ids) => {
      this.#eraseLateEvents(tx)
      for (const order of ids.map((id) => findAnyOrder(tx, id)).filter((one) => one !== undefined)) {
        if (changeRow(tx, ORDER_TEXTS, order, changesOfOrder(order, person, tx))) counts.orders += 1
      }
    })
    await this.#inUnits(records.payouts, (tx, ids) => {
      this.#eraseLateEvents(tx)
      for (const payout of ids.map((id) => findAnyPayout(tx, id)).filter((one) => one !== undefined)) {
        if (changeRow(tx, PAYOUT_TEXTS, payout, changesOfPayout(payout, person, tx))) counts.payouts += 1
      }
    })
  }

  /** A unit at a time, so that a server can write between. */
  async #inUnits<Row>(rows: Iterable<Row>, work: (tx: Tx, unit: Row[]) => void): Promise<void> {
    let unit: Row[] = []
    const write = async (): Promise<void> => {
      const taken = unit
      unit = []
      if (taken.length > 0) await this.erasing.write((tx) => work(tx, taken))
    }
    for (const row of rows) {
      unit.push(row)
      if (unit.length === UNIT) await write()
    }
    await write()
  }

  /** Takes the address out of the texts of a table, and returns of how many rows. */
  async #eraseTexts<Table extends typeof REMARK_TEXTS.table | typeof MESSAGE_TEXTS.table>(
    texts: Personal<Table>,
    about: readonly string[] | undefined,
  ): Promise<number> {
    let count = 0
    await this.#inUnits(rowsHolding(this.erasing.query, texts, this.person.part, about), (tx, rows) => {
      for (const row of rows) if (changeRow(tx, texts, row, this.person.changesIn(row, texts))) count += 1
    })
    return count
  }

  #eraseEvents(tx: Tx, events: readonly Event[]): void {
    for (const event of events) {
      this.#eventIds.add(event.eventId)
      this.#lastEventId = event.id
      if (changeRow(tx, EVENT_TEXTS, event, changesOfEvent(event, this.person))) this.counts.events += 1
    }
  }

  #eraseResponses(tx: Tx, attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      if (!this.#eventIds.has(attempt.eventId) && !this.person.isNamedIn(attempt.responseBody)) continue
      eraseResponse(tx, attempt)
      this.counts.deliveries += 1
    }
  }

  /** Events that a server has published since, in the transaction that leaves it nothing more to publish. */
  #eraseLateEvents(tx: Tx): void {
    const late = [...eventsAbout(tx, this.#names, this.#lastEventId)]
    this.#eraseEvents(tx, late)
    this.#eraseResponses(tx, [
      ...attemptsAbout(
        tx,
        late.map(({ eventId }) => eventId),
        undefined,
      ),
    ])
  }

  async #eraseKeys(): Promise<void> {
    const { query, write } = this.erasing
    const ids = new Set<unknown>([...this.records.payouts, ...this.records.orders, this.person.beneficiaryId])
    let last = { clientId: 0, key: '' }
    for (;;) {
      const stored = storedResponses(query, last, UNIT)
      const next = stored.at(-1)
      if (!next) return
      last = next
      const own = stored.filter((one) => this.#isResponseAbout(one, ids))
      if (own.length === 0) continue
      await write((tx) => {
        for (const one of own) eraseKey(tx, one)
      })
      this.counts.idempotencyKeys += own.length
    }
  }

  #isResponseAbout(stored: ReturnType<typeof storedResponses>[number], ids: ReadonlySet<unknown>): boolean {
    const json = stored.isSealed ? this.erasing.open(stored) : stored.body
    const body = JSON.parse(json ?? '{}') as { id?: string | number }
    if (body.id !== undefined && ids.has(body.id)) return true
    if (this.person.beneficiaryId !== undefined) return false
    return this.person.isNamedIn(stored.key) || JSON.stringify(this.person.withoutIn(body)) !== JSON.stringify(body)
  }
}
