import type { TObject } from '@sinclair/typebox'
import { beneficiaryWire } from '../../beneficiaries/contract.ts'
import { beneficiariesOf, findBeneficiary } from '../../beneficiaries/queries.ts'
import { termsOf } from '../../catalog/rows.ts'
import { findRates } from '../../charges/queries.ts'
import type { Query } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { toMajor, toRate } from '../../kernel/money.ts'
import { orderWire } from '../../orders/contract.ts'
import { type Order, ordersOf, vouchersOf } from '../../orders/queries.ts'
import { payoutWire } from '../../payouts/contract.ts'
import { eventsOf, type Payout, payoutsOf } from '../../payouts/queries.ts'
import type { Reference } from '../../reference/reference.ts'
import { allClients } from '../../sessions/queries.ts'
import { findDefaultWallet, findWallet, walletsOf } from '../../wallets/queries.ts'
import { discountsWire } from '../editing/clients.ts'
import { leftOf } from '../editing/products.ts'
import { productChangesIn } from '../editing/queries.ts'
import { ratesWire } from '../editing/rates.ts'
import { worldWalletWire } from '../records/wire.ts'
import type { StateBesideData } from '../worlds/state.ts'
import type { Section } from './format.ts'
import type { ScenarioSources } from './loading.ts'
import { BeneficiaryEntry, OrderEntry, PayoutEntry, WalletEntry } from './schema.ts'

/** A world as a document: without its name, tokens, passwords and codes (contract C15). */

type Record = { [member: string]: unknown }

/** Sections and records in an order that depends on nothing but the world. */
export function* scenarioOf(
  query: Query,
  { clock, pace }: Pick<StateBesideData, 'clock' | 'pace'>,
  rules: readonly object[],
  { reference, productsOf }: ScenarioSources,
): Generator<[string, Section]> {
  const names = new Map(allClients(query).map(({ id, username }) => [id, username]))
  const own = { query, reference, clientOf: (id: number) => names.get(id) ?? '' }
  if (clock.frozenAtMs !== null) yield ['clock', { value: { now: toTimestamp(clock.frozenAtMs), frozen: true } }]
  else if (clock.offsetMs !== 0) yield ['clock', { value: { offset_ms: clock.offsetMs } }]
  if (pace.payouts !== 'auto' || pace.orders !== 'auto') yield ['pace', { value: pace }]
  const rates = findRates(query)
  if (rates) yield ['rates', { value: ratesWire(rates) }]
  yield ['clients', { records: clientRecords(query) }]
  yield ['wallets', { records: walletRecords(own) }]
  yield ['products', { records: productRecords(query, productsOf) }]
  yield ['beneficiaries', { records: beneficiaryRecords(own) }]
  yield ['orders', { records: orderRecords(own) }]
  yield ['payouts', { records: payoutRecords(own) }]
  yield ['faults', { records: rules }]
}

interface Reading {
  query: Query
  reference: Reference
  clientOf: (id: number) => string
}

/** The members of a record that a document has, in the order of its schema. */
const entryOf = ({ properties }: TObject, record: Record): Record =>
  withoutNulls(Object.fromEntries(Object.keys(properties).map((name) => [name, record[name] ?? null])))

export const withoutNulls = (members: Record): Record =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

/** Null means something for a client: a seeded limit does not apply. */
const clientRecords = (query: Query): Record[] =>
  allClients(query).map((client) => ({
    id: client.id,
    name: client.username,
    features: { vouchers: client.vouchers },
    max_quantity: client.quantityMax,
    discounts: discountsWire(query, client.id),
    rate_limit: client.rateLimit,
    created_at: toTimestamp(client.createdAtMs),
  }))

const walletRecords = ({ query, reference, clientOf }: Reading): Record[] =>
  Array.from(walletsOf(query, {}), (wallet) => {
    const { currency_code: currency, is_default: isDefault, ...wire } = worldWalletWire(wallet, reference)
    return entryOf(WalletEntry, { ...wire, client: clientOf(wallet.clientId), currency, default: isDefault })
  })

const TERMS = {
  active: ['active'],
  stock: ['stock'],
  max_quantity: ['quantityMax'],
  gst_percent: ['gstBasisPoints'],
  handling_fee: ['feeFixedMinor', 'feeBasisPoints'],
  denominations: ['bands'],
} as const

const productRecords = (query: Query, productsOf: ScenarioSources['productsOf']): Record[] => {
  const changes = productChangesIn(query)
  return productsOf([...changes.keys()]).map((product) => {
    const change = changes.get(product.id) ?? {}
    const changed = { ...product, ...change }
    const terms = Object.entries({ ...termsOf(changed), stock: leftOf(query, changed) }).filter(([name]) =>
      TERMS[name as keyof typeof TERMS].some((member) => member in change),
    )
    return { id: product.id, ...Object.fromEntries(terms) }
  })
}

/** An empty object says nothing. */
const unlessEmpty = (sent: object): object | null => (Object.keys(sent).length === 0 ? null : sent)

function* beneficiaryRecords({ query, clientOf }: Reading): Generator<Record> {
  for (const beneficiary of beneficiariesOf(query, {})) {
    const wire = beneficiaryWire(beneficiary, 0) // its totals follow from the payouts
    const metadata = unlessEmpty(wire.metadata)
    yield entryOf(BeneficiaryEntry, { ...wire, client: clientOf(beneficiary.clientId), metadata })
  }
}

function* orderRecords({ query, reference, clientOf }: Reading): Generator<Record> {
  for (const order of ordersOf(query, {})) {
    const delivered = order.status === 'PARTIALLY_DELIVERED' ? order.deliveredQuantity : null
    const wire = orderWire(order, [], reference)
    yield entryOf(OrderEntry, {
      ...wire,
      client: clientOf(order.clientId),
      delivered_quantity: delivered,
      refunded_vouchers: refundedVouchersOf(query, order),
    })
  }
}

/** Null if there are none, which costs most orders no query. */
const refundedVouchersOf = (query: Query, { id, deliveredQuantity, refundedMinor }: Order): number[] | null => {
  if (deliveredQuantity === 0 || refundedMinor === 0) return null
  const numbers = vouchersOf(query, id).flatMap(({ refundedAtMs }, index) => (refundedAtMs === null ? [] : [index + 1]))
  return numbers.length > 0 ? numbers : null
}

function* payoutRecords(reading: Reading): Generator<Record> {
  const { query, reference, clientOf } = reading
  for (const payout of payoutsOf(query, {})) {
    const { events, created_at: _, ...wire } = payoutWire(payout, eventsOf(query, payout.id), reference)
    yield entryOf(PayoutEntry, {
      ...wire,
      client: clientOf(payout.clientId),
      ...payeeOf(query, payout),
      beneficiary_identifiers: payout.beneficiaryIdentifiers && JSON.parse(payout.beneficiaryIdentifiers),
      metadata: unlessEmpty(wire.metadata),
      returned: payout.returned || null,
      events: events.map(({ from_status: __, to_status: ___, ...event }) => event),
      price: priceOf(reading, payout),
    })
  }
}

/** A saved beneficiary as its identifier; a deleted one as the copy that the payout keeps. */
const payeeOf = (query: Query, payout: Payout): Record => {
  const { beneficiaryId: id, clientId } = payout
  if (id !== null && findBeneficiary(query, clientId, id)) return { beneficiary_id: id }
  return {
    beneficiary_id: id,
    beneficiary_email: payout.beneficiaryEmail,
    beneficiary_first_name: payout.beneficiaryFirstName,
    beneficiary_last_name: payout.beneficiaryLastName,
    beneficiary_country: payout.beneficiaryCountry,
    beneficiary_phone: payout.beneficiaryPhone,
  }
}

const priceOf = ({ query, reference }: Reading, payout: Payout): Record => {
  const precisionOf = (currencyId: number | undefined) => (currencyId ? reference.getCurrency(currencyId).precision : 0)
  const inWallet = precisionOf(findWallet(query, payout.clientId, payout.walletId)?.currencyId)
  const inDefaultWallet = precisionOf(findDefaultWallet(query, payout.clientId)?.currencyId)
  return {
    fees: toMajor(payout.feesMinor, precisionOf(payout.currencyId)),
    forex_rate: payout.rateE8 === null ? null : toRate(payout.rateE8),
    paid: toMajor(payout.paidMinor, inWallet),
    paid_amount: toMajor(payout.paidAmountMinor, inWallet),
    conversion_fee: payout.paidConversionMinor === null ? null : toMajor(payout.paidConversionMinor, inWallet),
    beneficiary_total: toMajor(payout.beneficiaryTotalMinor, inDefaultWallet),
  }
}
