import {
  type Beneficiary,
  beneficiariesWith,
  deleteAnyBeneficiary,
  findAnyBeneficiary,
  updateTexts as updateBeneficiary,
} from '../beneficiaries/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { type Event, eventsAbout, updateData } from '../events/queries.ts'
import { eraseKey, type SealedResponse, storedResponses } from '../idempotency/queries.ts'
import {
  findAnyOrder,
  isReferenceTaken as isOrderReferenceTaken,
  type Order,
  ordersWith,
  updateTexts as updateOrder,
} from '../orders/queries.ts'
import {
  findAnyPayout,
  isReferenceTaken,
  messagesWith,
  type Payout,
  payoutsTo,
  payoutsWith,
  updateMessage,
  updateTexts as updatePayout,
} from '../payouts/queries.ts'
import { remarksWith, updateRemarks } from '../wallets/queries.ts'
import { attemptsAbout, eraseResponse } from '../webhooks/queries.ts'
import { ERASED, type Person } from './person.ts'
import { beneficiaryWithout, eventWithout, orderWithout, payoutWithout } from './texts.ts'

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
  const erased = { beneficiaries: [] as string[], payouts: 0, orders: 0, transactions: 0, events: 0, deliveries: 0 }
  const counts: Erased = { ...erased, idempotencyKeys: 0 }
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

const recordsOf = (query: Query, person: Person): Records => {
  if (person.beneficiaryId !== undefined) {
    return { payouts: [...payoutsTo(query, person.beneficiaryId)].map(({ id }) => id), orders: [] }
  }
  const payouts = [...payoutsWith(query, person.part)].filter((payout) => isAbout(payout, person))
  const orders = [...ordersWith(query, person.part)].filter((order) => isAbout(order, person))
  return { payouts: payouts.map(({ id }) => id), orders: orders.map(({ id }) => id) }
}

/** Whether a record changes once the person is erased. */
const isAbout = (record: Payout | Order, person: Person): boolean => {
  const without =
    'productId' in record ? orderWithout(record, person, () => false) : payoutWithout(record, person, () => false)
  return Object.entries(without).some(([name, text]) => text !== record[name as keyof typeof record])
}

const eraseBeneficiaries = (tx: Tx, person: Person): string[] => {
  const { beneficiaryId } = person
  const own = (candidate: Beneficiary) => person.isPayee(candidate.id, candidate.email)
  const saved = beneficiaryId === undefined ? undefined : findAnyBeneficiary(tx, beneficiaryId)
  const candidates = beneficiaryId === undefined ? [...beneficiariesWith(tx, person.part)] : saved ? [saved] : []
  for (const candidate of candidates) {
    if (own(candidate)) deleteAnyBeneficiary(tx, candidate.id)
    else updateBeneficiary(tx, candidate, beneficiaryWithout(candidate, person))
  }
  return candidates.filter(own).map(({ id }) => id)
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
    const { query } = this.erasing
    const { payouts, orders } = this.records
    const { beneficiaryId, part } = this.person
    const isWide = beneficiaryId === undefined
    const narrowed = isWide ? undefined : payouts
    await this.#inUnits(eventsAbout(query, this.#names, 0), (tx, events) => this.#eraseEvents(tx, events))
    await this.#inUnits(attemptsAbout(query, this.#eventIds, isWide ? part : undefined), (tx, attempts) =>
      this.#eraseResponses(tx, attempts),
    )
    await this.#eraseKeys()
    await this.#inUnits(remarksWith(query, part, narrowed), (tx, transactions) => {
      for (const transaction of transactions.filter(({ remarks }) => this.person.isNamedIn(remarks))) {
        updateRemarks(tx, transaction, ERASED)
        this.counts.transactions += 1
      }
    })
    await this.#inUnits(messagesWith(query, part, narrowed), (tx, messages) => {
      for (const message of messages.filter((one) => this.person.isNamedIn(one.message)))
        updateMessage(tx, message, ERASED)
    })
    await this.#inUnits(orders, (tx, ids) => this.#eraseOrders(tx, ids))
    await this.#inUnits(payouts, (tx, ids) => this.#erasePayouts(tx, ids))
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

  #eraseEvents(tx: Tx, events: readonly Event[]): void {
    for (const event of events) {
      const data = eventWithout(event.data, this.person)
      this.#eventIds.add(event.eventId)
      this.#lastEventId = event.id
      if (data === event.data) continue
      updateData(tx, event, data)
      this.counts.events += 1
    }
  }

  #eraseResponses(tx: Tx, attempts: readonly Parameters<typeof eraseResponse>[1][]): void {
    for (const attempt of attempts) {
      if (!this.#eventIds.has(attempt.eventId) && !this.person.isNamedIn(attempt.responseBody)) continue
      eraseResponse(tx, attempt)
      this.counts.deliveries += 1
    }
  }

  /** Events that a server has published since, in the transaction that leaves it nothing more to publish. */
  #eraseLateEvents(tx: Tx): void {
    const late = [...eventsAbout(tx, this.#names, this.#lastEventId)]
    if (late.length === 0) return
    this.#eraseEvents(tx, late)
    const ids = late.map(({ eventId }) => eventId)
    this.#eraseResponses(tx, [...attemptsAbout(tx, ids, undefined)])
  }

  #eraseOrders(tx: Tx, ids: readonly number[]): void {
    this.#eraseLateEvents(tx)
    for (const id of ids) {
      const order = findAnyOrder(tx, id)
      if (!order) continue
      const isTaken = () => isOrderReferenceTaken(tx, order.clientId, ERASED)
      updateOrder(tx, order, orderWithout(order, this.person, isTaken))
      this.counts.orders += 1
    }
  }

  #erasePayouts(tx: Tx, ids: readonly string[]): void {
    this.#eraseLateEvents(tx)
    for (const id of ids) {
      const payout = findAnyPayout(tx, id)
      if (!payout) continue
      const isTaken = () => isReferenceTaken(tx, payout.clientId, ERASED)
      updatePayout(tx, payout, payoutWithout(payout, this.person, isTaken))
      this.counts.payouts += 1
    }
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
