import { beneficiaryKeys, findBeneficiary } from '../../beneficiaries/queries.ts'
import { termsOf } from '../../catalog/rows.ts'
import { findRates } from '../../charges/queries.ts'
import type { Query } from '../../db/database.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { toMajor, toRate } from '../../kernel/money.ts'
import { findOrder, orderKeys } from '../../orders/queries.ts'
import { eventsOf, findPayout, type Payout, payoutKeys } from '../../payouts/queries.ts'
import { allClients } from '../../sessions/queries.ts'
import { findDefaultWallet, findWallet, walletsOf } from '../../wallets/queries.ts'
import { discountsWire } from '../editing/clients.ts'
import { leftOf } from '../editing/products.ts'
import { productChangesIn } from '../editing/queries.ts'
import { ratesWire } from '../editing/rates.ts'
import type { WorldState } from '../worlds/state.ts'
import type { Section } from './format.ts'
import type { ScenarioSources } from './loading.ts'

/** A world as a document: without its name, tokens, passwords and codes (contract C15). */

type Record = { [member: string]: unknown }

/** Sections and records in an order that depends on nothing but the world. */
export function* scenarioOf(
  query: Query,
  { clock, pace }: Pick<WorldState, 'clock' | 'pace'>,
  rules: readonly object[],
  { reference, productsOf }: ScenarioSources,
): Generator<[string, Section]> {
  const names = new Map(allClients(query).map(({ id, username }) => [id, username]))
  const currencyOf = (id: number) => reference.getCurrency(id)
  const clientOf = (id: number) => names.get(id) ?? ''
  const own = { query, clientOf, currencyOf }
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
  clientOf: (id: number) => string
  currencyOf: (id: number) => { currency: string; precision: number }
}

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

const walletRecords = ({ query, clientOf, currencyOf }: Reading): Record[] =>
  [...walletsOf(query, {})].map((wallet) => {
    const { currency, precision } = currencyOf(wallet.currencyId)
    return withoutNulls({
      id: wallet.id,
      client: clientOf(wallet.clientId),
      currency,
      type: wallet.type,
      credit_limit: toMajor(wallet.creditLimitMinor, precision),
      amount: toMajor(wallet.amountMinor, precision),
      threshold: wallet.thresholdMinor === null ? null : toMajor(wallet.thresholdMinor, precision),
      default: wallet.isDefault,
      created_at: toTimestamp(wallet.createdAtMs),
    })
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

/** What clients have sent as JSON; an empty object says nothing. */
const sentIn = (json: string | null): unknown => (json === null || json === '{}' ? null : JSON.parse(json))

function* beneficiaryRecords({ query, clientOf }: Reading): Generator<Record> {
  for (const { id, clientId } of beneficiaryKeys(query)) {
    const saved = findBeneficiary(query, clientId, id)
    if (!saved) continue
    yield withoutNulls({
      id,
      client: clientOf(clientId),
      email: saved.email,
      first_name: saved.firstName,
      last_name: saved.lastName,
      country: saved.country,
      phone: saved.phone,
      metadata: sentIn(saved.metadata),
      created_at: toTimestamp(saved.createdAtMs),
    })
  }
}

function* orderRecords({ query, clientOf, currencyOf }: Reading): Generator<Record> {
  for (const { id, clientId } of orderKeys(query)) {
    const order = findOrder(query, clientId, id)
    if (!order) continue
    yield withoutNulls({
      id,
      client: clientOf(clientId),
      client_reference: order.reference,
      product_id: order.productId,
      product_name: order.productName,
      denomination: toMajor(order.denominationMinor, currencyOf(order.currencyId).precision),
      quantity: order.quantity,
      wallet_id: order.walletId,
      email: order.email,
      status: order.status,
      delivered_quantity: order.status === 'PARTIALLY_DELIVERED' ? order.deliveredQuantity : null,
      failure_reason: order.failureReason,
      placed_at: toTimestamp(order.placedAtMs),
      delivered_at: toTimestampOrNull(order.deliveredAtMs),
      failed_at: toTimestampOrNull(order.failedAtMs),
      cancelled_at: toTimestampOrNull(order.cancelledAtMs),
      charges: JSON.parse(order.charges) as unknown,
    })
  }
}

function* payoutRecords(reading: Reading): Generator<Record> {
  const { query, clientOf, currencyOf } = reading
  for (const { id, clientId } of payoutKeys(query)) {
    const payout = findPayout(query, clientId, id)
    if (!payout) continue
    const { currency, precision } = currencyOf(payout.currencyId)
    yield withoutNulls({
      id,
      client: clientOf(clientId),
      reference_id: payout.referenceId,
      wallet_id: payout.walletId,
      amount: toMajor(payout.amountMinor, precision),
      currency,
      ...payeeOf(query, payout),
      beneficiary_identifiers: payout.beneficiaryIdentifiers && JSON.parse(payout.beneficiaryIdentifiers),
      description: payout.description,
      metadata: sentIn(payout.metadata),
      status: payout.status,
      returned: payout.returned || null,
      failure_code: payout.failureCode,
      failure_reason: payout.failureReason,
      events: eventsOf(query, id).map((event) => ({
        event_type: event.eventType,
        actor_type: event.actorType,
        message: event.message,
        created_at: toTimestamp(event.createdAtMs),
      })),
      price: priceOf(reading, payout, precision),
    })
  }
}

/** A saved beneficiary by its identifier; one that was deleted since with the copy that the payout keeps. */
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

const priceOf = ({ query, currencyOf }: Reading, payout: Payout, precision: number): Record => {
  const precisionOf = (currencyId: number | undefined) => (currencyId ? currencyOf(currencyId).precision : 0)
  const inWallet = precisionOf(findWallet(query, payout.clientId, payout.walletId)?.currencyId)
  return {
    fees: toMajor(payout.feesMinor, precision),
    forex_rate: payout.rateE8 === null ? null : toRate(payout.rateE8),
    paid: toMajor(payout.paidMinor, inWallet),
    paid_amount: toMajor(payout.paidAmountMinor, inWallet),
    conversion_fee: payout.paidConversionMinor === null ? null : toMajor(payout.paidConversionMinor, inWallet),
    beneficiary_total: toMajor(
      payout.beneficiaryTotalMinor,
      precisionOf(findDefaultWallet(query, payout.clientId)?.currencyId),
    ),
  }
}

export const withoutNulls = (members: Record): Record =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
