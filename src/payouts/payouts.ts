import type { Static } from '@sinclair/typebox'
import { findBeneficiary } from '../beneficiaries/queries.ts'
import { PAYING_WALLET_NOT_FOUND } from '../charges/contract.ts'
import { rateBetween } from '../charges/quote.ts'
import type { RateSource, WorldRates } from '../charges/rates.ts'
import type { Query, Tx } from '../db/database.ts'
import { searchText } from '../db/lists.ts'
import { sortedSliceOf } from '../http/pagination.ts'
import { DomainError, foundOr } from '../kernel/failure.ts'
import { AMOUNT_TOO_SMALL, convert, percentOf, plus } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Session } from '../sessions/sessions.ts'
import { findDefaultWallet, findWallet, type Wallet } from '../wallets/queries.ts'
import { schedule } from '../work/due.ts'
import type { World } from '../work/world.ts'
import {
  DUPLICATE_REFERENCE_ID,
  listedWire,
  PAYOUT_NOT_FOUND,
  type PayoutWire,
  type payoutListQuery,
  payoutNotCancellable,
  payoutWire,
  SAVED_BENEFICIARY_NOT_FOUND,
} from './contract.ts'
import type { PayoutInput } from './input.ts'
import { applyEvent, type Moving, withDue } from './progress.ts'
import { publishPayout } from './publish.ts'
import {
  BEGINNING,
  eventsOf,
  findPayout,
  insertEvent,
  insertPayout,
  isReferenceTaken,
  payoutList,
  RANK_DECIMALS,
} from './queries.ts'
import { reservePayout } from './settlement.ts'
import { canHappen } from './states.ts'
import type { ActorType, Payout } from './tables.ts'

export interface Paying extends Moving {
  rates: WorldRates
  feeBasisPoints: number
  /** The fee for paying from a wallet in another currency, in basis points (contract C9). */
  conversionBasisPoints: number
}

/** The smallest fee, unless the percentage is 0 (contract C13). */
const FEE_MINOR_MIN = 1

/**
 * Returns the payout as its GET does.
 * @throws DomainError paying_wallet_not_found, saved_beneficiary_not_found, duplicate_payout_reference, rate_missing,
 *   rate_failed, amount_too_large, amount_too_small or insufficient_balance
 */
export const createPayout = (tx: Tx, paying: Paying, session: Session, input: PayoutInput): PayoutWire => {
  const { world, client } = session
  const wallet = findWallet(tx, client.id, input.walletId)
  if (!wallet) throw new DomainError(PAYING_WALLET_NOT_FOUND)
  const { beneficiaryId, payee } = payeeOf(tx, client.id, input)
  if (isReferenceTaken(tx, client.id, input.referenceId)) throw new DomainError(DUPLICATE_REFERENCE_ID)
  const price = payoutPriceOf(tx, paying, session, wallet, input)
  const createdAtMs = world.clock.nowMs()
  const { referenceId, walletId, currency, amountMinor } = input
  const created: Payout = {
    ...{ id: world.ids.next('pyt', createdAtMs), clientId: client.id, referenceId, ...BEGINNING },
    walletId,
    currencyId: currency.id,
    amountMinor,
    amountRank: amountMinor * 10 ** (RANK_DECIMALS - currency.precision),
    ...price,
    beneficiaryId,
    beneficiaryEmail: payee.email,
    beneficiaryFirstName: payee.firstName,
    beneficiaryLastName: payee.lastName,
    beneficiaryCountry: payee.country,
    beneficiaryPhone: payee.phone,
    beneficiaryIdentifiers: input.identifiers,
    searchLowerCase: searchText(referenceId, payee.email),
    description: input.description,
    metadata: input.metadata,
    createdAtMs,
  }
  const payout = withDue(paying, world, created, createdAtMs)
  const context = { world, reference: paying.reference }
  reservePayout(tx, context, wallet, payout)
  insertPayout(tx, payout)
  const cause = { eventType: 'created', fromStatus: null, actorType: 'client', message: null, act: null } as const
  const event = { payoutId: payout.id, toStatus: payout.status, createdAtMs, ...cause }
  insertEvent(tx, { id: null, ...event })
  if (payout.dueAtMs !== null) schedule(world, 'payouts', payout.dueAtMs)
  return publishPayout(tx, context, payout, 'created', createdAtMs, [event])
}

/** The saved beneficiary, if there is one, and the person that is copied into the payout. */
const payeeOf = (query: Query, clientId: number, { payee }: PayoutInput) => {
  if (!('beneficiaryId' in payee)) return { beneficiaryId: null, payee }
  const saved = findBeneficiary(query, clientId, payee.beneficiaryId)
  if (!saved) throw new DomainError(SAVED_BENEFICIARY_NOT_FOUND)
  return { beneficiaryId: saved.id, payee: saved }
}

/** The price of a payout in the wallet's currency, and for the beneficiary's total in that of the default wallet. */
const payoutPriceOf = (
  query: Query,
  paying: Paying,
  { world, client }: Session,
  wallet: Wallet,
  { amountMinor, currency }: PayoutInput,
) => {
  const { reference } = paying
  const rates = paying.rates(world)
  // A client can have its own fees (contract C9).
  const feeBasisPoints = client.payoutFeeBasisPoints ?? paying.feeBasisPoints
  const conversionBasisPoints = client.conversionFeeBasisPoints ?? paying.conversionBasisPoints
  const walletCurrency = reference.getCurrency(wallet.currencyId)
  const rate = rateBetween(rates, currency, walletCurrency)
  const inWallet = (minor: number) =>
    rate === undefined ? minor : convert(minor, rate, currency.precision, walletCurrency.precision)
  const feesMinor = feeBasisPoints === 0 ? 0 : Math.max(FEE_MINOR_MIN, percentOf(amountMinor, feeBasisPoints))
  const netMinor = inWallet(plus(amountMinor, feesMinor))
  if (netMinor === 0) throw new DomainError(AMOUNT_TOO_SMALL)
  const totalling = wallet.isDefault ? wallet : findDefaultWallet(query, client.id)
  const paidConversionMinor = rate === undefined ? null : percentOf(netMinor, conversionBasisPoints)
  return {
    feesMinor,
    sourceRateE8: rate?.sourceRateE8 ?? null,
    destinationRateE8: rate?.destinationRateE8 ?? null,
    paidMinor: plus(netMinor, paidConversionMinor ?? 0),
    // At least 1, so that a late return is a credit.
    paidAmountMinor: Math.min(Math.max(1, inWallet(amountMinor)), netMinor),
    paidConversionMinor,
    beneficiaryTotalMinor: totalling
      ? amountAt(rates, amountMinor, currency, reference.getCurrency(totalling.currencyId))
      : 0,
  }
}

/** An amount at the current rate, which the payout keeps; 0 for a currency without a rate. */
const amountAt = (rates: RateSource, amountMinor: number, from: Currency, to: Currency): number => {
  if (from.id === to.id) return amountMinor
  const rate = rates(from.currency, to.currency)
  return rate === undefined ? 0 : convert(amountMinor, rate, from.precision, to.precision)
}

/** Lists payouts without their events. */
export const listPayouts = (
  reference: Reference,
  session: Session,
  { status, currency, search, ...query }: Static<ReturnType<typeof payoutListQuery>>,
) => {
  const slice = { filters: { status, currencyId: currency?.id, search }, ...sortedSliceOf(query) }
  return payoutList.page(session, slice, (payout) => listedWire(payout, reference))
}

/** @throws DomainError not_found */
export const getPayout = ({ world, client }: Session, id: string, query: Query = world.db.query): Payout =>
  foundOr(findPayout(query, client.id, id), PAYOUT_NOT_FOUND)

/** The payout with its events. */
export const wholePayout = (query: Query, reference: Reference, payout: Payout): PayoutWire =>
  payoutWire(payout, eventsOf(query, payout.id), reference)

/** @throws DomainError payout_not_cancellable */
export const cancelPayout = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  actorType: ActorType = 'client',
): Payout => {
  if (!canHappen('cancelled', payout)) throw new DomainError(payoutNotCancellable(payout.status))
  return applyEvent(tx, moving, world, payout, 'cancelled', { actorType, nowMs: world.clock.nowMs() })
}
