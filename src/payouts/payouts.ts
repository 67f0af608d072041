import { and, asc, count, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { findBeneficiary, recordPayout } from '../beneficiaries/beneficiaries.ts'
import { rateBetween } from '../charges/quote.ts'
import type { RateSource } from '../charges/rates.ts'
import type { Tx } from '../db/database.ts'
import { List } from '../db/lists.ts'
import { preparedFind, preparedInsert, preparedReads, preparedUpdate } from '../db/prepared.ts'
import { holds, SEARCH_SEAM } from '../db/search.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Direction, Page } from '../http/query.ts'
import { DomainError, found } from '../kernel/failure.ts'
import { fold } from '../kernel/fold.ts'
import { convert, percentOf, plus } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Session } from '../sessions/sessions.ts'
import { type Exchange, type Line, moveWallet, refund, reserve, settle } from '../wallets/ledger.ts'
import { findDefaultWallet, findWallet, type Wallet } from '../wallets/wallets.ts'
import { type DueSource, schedule } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import type { Payee, PayoutDraft } from './draft.ts'
import { type ActorType, PAYOUT_STATUSES, type Payout, type PayoutStatus, payoutEvents, payouts } from './tables.ts'
import { canHappen, EXPIRY_MS, nextStep, PACE, type PayoutEventType, TRANSITIONS } from './transitions.ts'

export { PAYOUT_STATUSES, type Payout, type PayoutStatus }

/** What payouts are made with. */
export interface Paying {
  reference: Reference
  rates: RateSource
  /** The fee on the amount, in basis points (contract C13). */
  feeBasisPoints: number
  /** Charged for paying from a wallet in another currency, in basis points (contract C9). */
  conversionBasisPoints: number
  /** Whether the clock moves payouts on, as in the sandbox; in live mode an operator does. */
  byClock: (world: World) => boolean
}

/** What payouts are moved on with, once they are made. */
export type Moving = Pick<Paying, 'reference' | 'byClock'>

/** What the state machine changes of a payout. */
const CHANGING = [
  'status',
  'failureCode',
  'failureReason',
  'returned',
  'dueAtMs',
  'dueEvent',
  'queuedAtMs',
  'submittedAtMs',
  'completedAtMs',
  'failedAtMs',
  'cancelledAtMs',
] as const satisfies readonly (keyof Payout)[]
type Change = Partial<Pick<Payout, (typeof CHANGING)[number]>>

const statements = preparedReads({
  insert: (query) => preparedInsert(query, payouts),
  update: (query) => preparedUpdate(query, payouts, CHANGING),
  insertEvent: (query) => preparedInsert(query, payoutEvents),
  events: (query) =>
    query
      .select()
      .from(payoutEvents)
      .where(eq(payoutEvents.payoutId, sql.placeholder('payoutId')))
      .orderBy(asc(payoutEvents.id))
      .prepare(),
  find: (query) => preparedFind(query, payouts),
  byReference: (query) =>
    query
      .select({ id: payouts.id })
      .from(payouts)
      .where(
        and(eq(payouts.clientId, sql.placeholder('clientId')), eq(payouts.referenceId, sql.placeholder('referenceId'))),
      )
      .limit(1)
      .prepare(),
  nextDue: (query) =>
    query
      .select()
      .from(payouts)
      .where(isNotNull(payouts.dueAtMs))
      .orderBy(asc(payouts.dueAtMs), asc(payouts.id))
      .limit(1)
      .prepare(),
  nextDueMs: (query) =>
    query
      .select({ dueAtMs: payouts.dueAtMs })
      .from(payouts)
      .where(isNotNull(payouts.dueAtMs))
      .orderBy(asc(payouts.dueAtMs), asc(payouts.id))
      .limit(1)
      .prepare(),
})

/** A percentage that is not 0 costs at least this (contract C13). */
const FEE_MINOR_MIN = 1

/** Four decimals are the most that any currency has: amounts in these units compare across currencies. */
const RANK_DECIMALS = 4

/**
 * Creates a payout, which the wallet pays at once.
 *
 * @throws DomainError paying_wallet_not_found, saved_beneficiary_not_found, duplicate_payout_reference, rate_missing,
 *   rate_failed, amount_too_large, amount_too_small or insufficient_balance
 */
export const createPayout = (tx: Tx, paying: Paying, { world, client }: Session, draft: PayoutDraft): Payout => {
  const wallet = findWallet(world, client.id, draft.walletId)
  if (!wallet) throw new DomainError({ code: 'paying_wallet_not_found' })
  const { beneficiaryId, payee } = payeeOf(world, client.id, draft)
  if (findByReference(tx, client.id, draft.referenceId)) throw new DomainError({ code: 'duplicate_payout_reference' })
  const price = priceOf(paying, world, client.id, wallet, draft)
  const nowMs = world.clock.nowMs()
  const id = world.ids.next('pyt', nowMs)
  const cause = { sourceType: 'payout', sourceId: id, remarks: draft.referenceId, nowMs } as const
  const first = paying.byClock(world) ? PACE[0] : undefined
  const dueAtMs = nowMs + (first?.afterMs ?? EXPIRY_MS)
  const payout: Payout = {
    id,
    clientId: client.id,
    referenceId: draft.referenceId,
    status: 'created',
    walletId: wallet.id,
    currencyId: draft.currency.id,
    amountMinor: draft.amountMinor,
    amountRank: draft.amountMinor * 10 ** (RANK_DECIMALS - draft.currency.precision),
    ...price,
    beneficiaryId,
    beneficiaryEmail: payee.email,
    beneficiaryFirstName: payee.firstName,
    beneficiaryLastName: payee.lastName,
    beneficiaryCountry: payee.country,
    beneficiaryPhone: payee.phone,
    beneficiaryIdentifiers: draft.identifiers,
    searchFolded: `${draft.referenceId}${SEARCH_SEAM}${payee.email}`.toLowerCase(),
    description: draft.description,
    metadata: draft.metadata,
    failureCode: null,
    failureReason: null,
    returned: false,
    dueAtMs,
    dueEvent: first?.event ?? 'expired',
    createdAtMs: nowMs,
    queuedAtMs: null,
    submittedAtMs: null,
    completedAtMs: null,
    failedAtMs: null,
    cancelledAtMs: null,
  }
  reserve(tx, wallet, cause, price.paidMinor, exchangeOf(paying, wallet, payout))
  statements(tx).insert(payout)
  note(tx, payout, { eventType: 'created', fromStatus: null, actorType: 'client', message: null, nowMs })
  schedule(world, dueAtMs)
  return payout
}

const payeeOf = (
  world: World,
  clientId: number,
  { payee }: PayoutDraft,
): { beneficiaryId: string | null; payee: Payee } => {
  if (!('beneficiaryId' in payee)) return { beneficiaryId: null, payee }
  const saved = findBeneficiary(world, clientId, payee.beneficiaryId)
  if (!saved) throw new DomainError({ code: 'saved_beneficiary_not_found' })
  return { beneficiaryId: saved.id, payee: saved }
}

/** What the wallet pays, in its own currency, and what the payout counts for the beneficiary's total. */
const priceOf = (
  { reference, rates, feeBasisPoints, conversionBasisPoints }: Paying,
  world: World,
  clientId: number,
  wallet: Wallet,
  { amountMinor, currency }: PayoutDraft,
): Pick<
  Payout,
  'feesMinor' | 'rateE8' | 'paidMinor' | 'paidAmountMinor' | 'paidConversionMinor' | 'beneficiaryTotalMinor'
> => {
  const walletCurrency = reference.getCurrency(wallet.currencyId)
  const rateE8 = rateBetween(rates, currency, walletCurrency)
  const inWallet = (minor: number) =>
    rateE8 === undefined ? minor : convert(minor, rateE8, currency.precision, walletCurrency.precision)
  const feesMinor = feeBasisPoints === 0 ? 0 : Math.max(FEE_MINOR_MIN, percentOf(amountMinor, feeBasisPoints))
  const netMinor = inWallet(plus(amountMinor, feesMinor))
  if (netMinor === 0) throw new DomainError({ code: 'amount_too_small' })
  const paidConversionMinor = rateE8 === undefined ? null : percentOf(netMinor, conversionBasisPoints)
  return {
    feesMinor,
    rateE8: rateE8 ?? null,
    paidMinor: plus(netMinor, paidConversionMinor ?? 0),
    // Never nothing, so that a late return is a credit of something.
    paidAmountMinor: Math.min(Math.max(1, inWallet(amountMinor)), netMinor),
    paidConversionMinor,
    beneficiaryTotalMinor: inDefaultCurrency(reference, rates, world, clientId, amountMinor, currency),
  }
}

/** At the rate of this moment, which the payout keeps; a currency without one counts nothing. */
const inDefaultCurrency = (
  reference: Reference,
  rates: RateSource,
  world: World,
  clientId: number,
  amountMinor: number,
  currency: Currency,
): number => {
  const wallet = findDefaultWallet(world, clientId)
  if (!wallet) return 0
  const target = reference.getCurrency(wallet.currencyId)
  if (target.id === currency.id) return amountMinor
  const rateE8 = rates(currency.currency, target.currency)
  return rateE8 === undefined ? 0 : convert(amountMinor, rateE8, currency.precision, target.precision)
}

/** Who lets an event happen, and what is said of it. */
export interface Happening {
  actorType: ActorType
  nowMs: number
  message?: string | undefined
  failureCode?: string | undefined
  failureReason?: string | undefined
}

/**
 * Lets an event happen to a payout, with what it does to the money (contract C13).
 *
 * @throws DomainError transition_refused
 */
export const happen = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  event: PayoutEventType,
  happening: Happening,
): Payout => {
  const { to, money, stamps } = TRANSITIONS[event]
  if (!canHappen(event, payout)) throw new DomainError({ code: 'transition_refused', from: payout.status, to: event })
  const { nowMs } = happening
  const change: Change = {
    status: to,
    ...(stamps && { [stamps]: nowMs }),
    ...(event === 'returned' && { returned: true }),
    ...(event === 'failed' && {
      failureCode: happening.failureCode ?? 'payout_failed',
      failureReason: happening.failureReason ?? 'The payout could not be made',
    }),
  }
  const moved: Payout = { ...payout, ...change }
  const next = dueAfter(moving, world, moved, nowMs)
  const after: Payout = { ...moved, dueAtMs: next?.dueAtMs ?? null, dueEvent: next?.event ?? null }
  MONEY[money](tx, moving, world, after, nowMs)
  statements(tx).update(after)
  note(tx, after, {
    eventType: event,
    fromStatus: payout.status,
    actorType: happening.actorType,
    message: happening.message ?? after.failureReason,
    nowMs,
  })
  if (after.dueAtMs !== null) schedule(world, after.dueAtMs)
  return after
}

/** Where an operator can lead a payout, in the order of the way. */
export const ADVANCE_TARGETS = ['queued', 'processing', 'settling', 'action_required', 'completed'] as const
type AdvanceTarget = (typeof ADVANCE_TARGETS)[number]

/**
 * Takes the next step of a payout's way, or as many as lead to a status.
 *
 * @throws DomainError transition_refused, when the way ends before it comes there
 */
export const advance = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  to: AdvanceTarget | undefined,
  happening: Happening,
): Payout => {
  let moved = payout
  do {
    const event = moved.status === to ? undefined : eventTowards(moved, to)
    if (!event) throw new DomainError({ code: 'transition_refused', from: payout.status, to: to ?? 'another status' })
    moved = happen(tx, moving, world, moved, event, happening)
  } while (to !== undefined && moved.status !== to)
  return moved
}

const eventTowards = (payout: Payout, to: AdvanceTarget | undefined): PayoutEventType | undefined => {
  if (to === 'action_required' && canHappen('action_required', payout)) return 'action_required'
  return canHappen('resumed', payout) ? 'resumed' : nextStep(payout)?.event
}

interface Due {
  event: PayoutEventType
  dueAtMs: number
}

/** What the clock does next: the next step of the sandbox's pace, or the expiry of what nobody has begun. */
const dueAfter = ({ byClock }: Moving, world: World, payout: Payout, nowMs: number): Due | undefined => {
  const step = byClock(world) && payout.status !== 'action_required' ? nextStep(payout) : undefined
  if (step) return { event: step.event, dueAtMs: Math.max(payout.createdAtMs + step.afterMs, nowMs) }
  if (!canHappen('expired', payout)) return undefined
  return { event: 'expired', dueAtMs: payout.createdAtMs + EXPIRY_MS }
}

type MoneyMove = (tx: Tx, moving: Moving, world: World, payout: Payout, nowMs: number) => void

/** What each effect of the state machine writes to the ledger. */
const MONEY: Record<(typeof TRANSITIONS)[PayoutEventType]['money'], MoneyMove> = {
  none: () => undefined,
  pay: (tx, _moving, world, payout, nowMs) => {
    const wallet = walletOf(world, payout)
    const cause = { sourceType: 'payout', sourceId: payout.id, nowMs } as const
    settle(tx, wallet, cause, payout.paidMinor, paidLines(wallet, payout))
    if (payout.beneficiaryId !== null) {
      recordPayout(tx, payout.clientId, {
        beneficiaryId: payout.beneficiaryId,
        amountMinor: payout.beneficiaryTotalMinor,
        completedAtMs: nowMs,
      })
    }
  },
  refund: (tx, moving, world, payout, nowMs) => {
    const wallet = walletOf(world, payout)
    const remarks = `${payout.referenceId} ${payout.status}`
    const cause = { sourceType: 'refund', sourceId: payout.id, remarks, nowMs } as const
    refund(tx, wallet, cause, payout.paidMinor, exchangeOf(moving, wallet, payout))
  },
  return: (tx, moving, world, payout, nowMs) => {
    const wallet = walletOf(world, payout)
    const cause = {
      sourceType: 'refund',
      sourceId: payout.id,
      remarks: `${payout.referenceId} returned`,
      nowMs,
    } as const
    const exchange = exchangeOf(moving, wallet, payout)
    const back = payoutLines(wallet, payout, -1)
    moveWallet(tx, wallet, cause, payout.paidAmountMinor, back, exchange && { ...exchange, conversionMinor: 0 })
  },
}

/** Where the money of a completed payout belongs: the amount to the beneficiary, the rest to fees and conversion. */
const paidLines = (wallet: Wallet, payout: Payout): Line[] => {
  const conversionMinor = payout.paidConversionMinor ?? 0
  const feesMinor = payout.paidMinor - payout.paidAmountMinor - conversionMinor // derived, so that the lines add up
  return [
    ...payoutLines(wallet, payout, 1),
    { account: 'fees', currencyId: wallet.currencyId, amountMinor: feesMinor },
    { account: 'conversion', currencyId: wallet.currencyId, amountMinor: conversionMinor },
  ]
}

/** The amount on its way to the beneficiary, or back from it, through the exchange where currencies differ. */
const payoutLines = (wallet: Wallet, { currencyId, amountMinor, paidAmountMinor }: Payout, sign: 1 | -1): Line[] =>
  wallet.currencyId === currencyId
    ? [{ account: 'payouts', currencyId, amountMinor: sign * amountMinor }]
    : [
        { account: 'exchange', currencyId: wallet.currencyId, amountMinor: sign * paidAmountMinor },
        { account: 'exchange', currencyId, amountMinor: -sign * amountMinor },
        { account: 'payouts', currencyId, amountMinor: sign * amountMinor },
      ]

const walletOf = (world: World, { clientId, walletId }: Payout): Wallet =>
  found(findWallet(world, clientId, walletId), 'wallet')

/** The exchange at the rate that the payout was made at. */
const exchangeOf = ({ reference }: Moving, wallet: Wallet, payout: Payout): Exchange | undefined =>
  payout.rateE8 === null
    ? undefined
    : {
        sourceCurrency: reference.getCurrency(payout.currencyId).currency,
        destinationCurrency: reference.getCurrency(wallet.currencyId).currency,
        rateE8: payout.rateE8,
        conversionMinor: payout.paidConversionMinor ?? 0,
      }

interface Note {
  eventType: string
  fromStatus: PayoutStatus | null
  actorType: ActorType
  message: string | null
  nowMs: number
}

const note = (tx: Tx, { id, status }: Payout, { nowMs, ...event }: Note): void => {
  statements(tx).insertEvent({ id: null, payoutId: id, toStatus: status, ...event, createdAtMs: nowMs })
}

/** Cancels a payout for its client. @throws DomainError payout_not_cancellable */
export const cancelPayout = (tx: Tx, moving: Moving, world: World, payout: Payout): Payout => {
  if (!canHappen('cancelled', payout)) throw new DomainError({ code: 'payout_not_cancellable', status: payout.status })
  return happen(tx, moving, world, payout, 'cancelled', { actorType: 'client', nowMs: world.clock.nowMs() })
}

/** Has the clock of a world move its payouts again, or no longer, as its pace now says. */
export const repacePayouts = (tx: Tx, moving: Moving, world: World): void => {
  const nowMs = world.clock.nowMs()
  for (const payout of tx.select().from(payouts).where(inArray(payouts.status, OPEN_STATUSES)).all()) {
    const due = dueAfter(moving, world, payout, nowMs)
    tx.update(payouts)
      .set({ dueAtMs: due?.dueAtMs ?? null, dueEvent: due?.event ?? null })
      .where(eq(payouts.id, payout.id))
      .run()
    if (due) schedule(world, due.dueAtMs)
  }
}

/** Where a payout can still move by the clock. */
const OPEN_STATUSES: PayoutStatus[] = ['created', 'queued', 'processing', 'settling']

/** Payouts that the clock moves on (contract C13). */
export const duePayouts = (moving: Moving): DueSource => ({
  nextMs: (tx) => statements(tx).nextDueMs.get()?.dueAtMs ?? undefined,
  waiting: (tx) => tx.select({ n: count() }).from(payouts).where(isNotNull(payouts.dueAtMs)).get()?.n ?? 0,
  step: (tx, world) => {
    const payout = statements(tx).nextDue.get()
    if (!payout?.dueAtMs || !payout.dueEvent) return
    const event = payout.dueEvent as PayoutEventType
    happen(tx, moving, world, payout, event, { actorType: 'system', nowMs: payout.dueAtMs })
  },
})

const findByReference = (tx: Tx, clientId: number, referenceId: string) =>
  statements(tx).byReference.get({ clientId, referenceId })

/** The client's own payout, or undefined: another client's is as good as none. */
export const findPayout = (tx: Tx, clientId: number, id: string): Payout | undefined =>
  statements(tx).find(clientId, id)

/** Any client's payout, for its operator; or undefined. */
export const findAnyPayout = (tx: Tx, id: string): Payout | undefined =>
  tx.select().from(payouts).where(eq(payouts.id, id)).limit(1).get()

/** The payouts of all clients, the oldest first. */
export const allPayouts = (tx: Tx, status: PayoutStatus | undefined): Payout[] =>
  tx
    .select()
    .from(payouts)
    .where(status === undefined ? undefined : eq(payouts.status, status))
    .orderBy(asc(payouts.createdAtMs), asc(payouts.id))
    .all()

/** What has happened to a payout, the first event first. */
export const eventsOf = (tx: Tx, payoutId: string) => statements(tx).events.all({ payoutId })

/** What a list can be sorted by, and the columns that this compares (contract C13). */
const SORTS = {
  created_at: [payouts.createdAtMs],
  amount: [payouts.amountRank],
  status: [payouts.status],
} as const satisfies Record<string, readonly SQLiteColumn[]>

export type PayoutSort = keyof typeof SORTS
export const PAYOUT_SORTS = Object.keys(SORTS) as PayoutSort[]

const list = new List({
  table: payouts,
  filters: {
    status: payouts.status,
    currencyId: payouts.currencyId,
    search: holds(payouts.searchFolded, sql.placeholder('search')),
  },
  sorts: SORTS,
  counted: { as: 'payouts', by: { status: 'part', currencyId: 'currencyId' } },
  created: 'created_at',
  paths: [
    { filters: ['status'], sort: 'created_at' },
    { filters: ['currencyId'], sort: 'created_at' },
  ],
})

export interface PayoutQuery {
  page: Page
  status: PayoutStatus | undefined
  currencyId: number | undefined
  search: string | undefined
  sortBy: PayoutSort
  sortOrder: Direction
}

/** One page of the client's payouts, and how many match in all. */
export const listPayouts = (world: World, clientId: number, query: PayoutQuery) => {
  const { page, status, currencyId, search, sortBy, sortOrder } = query
  return list.page(() => world.db.query, clientId, {
    filters: { status, currencyId, search: search === undefined ? undefined : fold(search) },
    sort: sortBy,
    direction: sortOrder,
    limit: page.limit,
    offset: offsetOf(page),
  })
}
