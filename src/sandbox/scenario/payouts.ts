import { findBeneficiary } from '../../beneficiaries/queries.ts'
import type { Tx } from '../../db/database.ts'
import { DAY_MS, SECOND_MS } from '../../kernel/clock.ts'
import { RATE_ONE } from '../../kernel/money.ts'
import { type PayoutInput, readPayout } from '../../payouts/input.ts'
import { newPayout, type PayoutPrice, payoutPriceOf } from '../../payouts/payouts.ts'
import { changeBy, withDue } from '../../payouts/progress.ts'
import { insertEvent, insertPayout, type Payout, type PayoutStatus } from '../../payouts/queries.ts'
import { movePayoutMoney, reservePayout } from '../../payouts/settlement.ts'
import { canHappen, EXPIRY_MS, PACE, type PayoutEventType, TRANSITIONS } from '../../payouts/transitions.ts'
import type { Currency } from '../../reference/reference.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { sandboxStep } from '../test-values/payouts.ts'
import type { Loading, Place, ScenarioSources } from './loading.ts'
import type { PayoutDocument } from './schema.ts'

/** The payouts of a document: each with its events, and their effects on the ledger. */

interface PastEvent {
  type: PayoutEventType | 'created'
  atMs: number
  actorType: 'system' | 'client' | 'operator'
  message: string | null | undefined
}

/** An event after the first, and the payout before and after it. */
interface Stage {
  event: PastEvent & { type: PayoutEventType }
  from: Payout
  to: Payout
}

export const loadPayout = (tx: Tx, at: Place, entry: PayoutDocument): void => {
  const { loading } = at
  const clientId = at.clientOf(entry.client)
  if (clientId === undefined) return
  at.isNew('id', 'payouts', entry.id)
  const named = entry.reference_id === undefined ? 'id' : 'reference_id' // the id stands in for a reference
  at.isNew(named, `references of payouts of ${clientId}`, entry[named])
  const currency = loading.sources.reference.findCurrencyByCode(entry.currency)
  const usual = defaultOf(loading, clientId)
  const paying = at.walletOf(clientId, entry.wallet_id ?? usual?.wallet.id, currency?.id ?? 0)
  const events = eventsOf(at, entry)
  const [created] = events
  const id = entry.id ?? loading.ids.next('pyt', created?.atMs ?? loading.nowMs)
  const input = inputOf(at, entry, id, paying?.wallet.id)
  if (!paying || !input) return
  const payee = payeeOf(tx, at, entry, clientId, input)
  const price = entry.price
    ? priceOf(at.in('price'), entry.price, input, paying.currency, usual?.currency)
    : at.attempt(() => payoutPriceOf(tx, pricingOf(loading), clientId, paying.wallet, input))
  if (!price || !payee || !created) return
  const beginning = newPayout({ id, clientId, createdAtMs: created.atMs }, input, payee, price)
  const stages = stagesOf(at, entry, events, beginning)
  if (!stages) return
  const payout = stages.at(-1)?.to ?? beginning
  checkEnd(at, entry, payout)
  const moving = { stepByClock: sandboxStep }
  const final = withDue(moving, loading.pace.payouts === 'auto', payout, loading.nowMs)
  paying.pastMinor -= final.paidMinor
  const write = (own: Tx) => writePayout(own, loading.sources, paying.wallet, final, created, stages)
  loading.happened({ atMs: created.atMs, at, apply: write })
  for (const { event, to } of stages) {
    const { money } = TRANSITIONS[event.type]
    if (money === 'none') continue
    if (money === 'refund') paying.pastMinor += final.paidMinor
    if (money === 'return') paying.pastMinor += final.paidAmountMinor
    const move = (own: Tx) => movePayoutMoney(own, loading.sources, money, to, event.atMs, paying.wallet)
    loading.happened({ atMs: event.atMs, at, apply: move })
  }
}

/** The stages through which its events lead a payout; undefined if one of them cannot happen. */
const stagesOf = (
  at: Place,
  { failure_code, failure_reason }: PayoutDocument,
  events: readonly PastEvent[],
  beginning: Payout,
): Stage[] | undefined => {
  const details = { failureCode: failure_code ?? undefined, failureReason: failure_reason ?? undefined }
  const stages: Stage[] = []
  let from = beginning
  for (const [step, { type, ...event }] of events.entries()) {
    if (type === 'created') continue
    if (!canHappen(type, from)) {
      at.wrong(`events/${step}/event_type`, `${type} cannot happen to a payout that is ${from.status}`)
      return undefined
    }
    const to = { ...from, ...changeBy(type, { nowMs: event.atMs, ...details }) }
    stages.push({ event: { type, ...event }, from, to })
    from = to
  }
  return stages
}

/** Writes the payout, its payment and its events. */
const writePayout = (
  tx: Tx,
  sources: ScenarioSources,
  wallet: Wallet,
  payout: Payout,
  created: PastEvent,
  stages: readonly Stage[],
): void => {
  reservePayout(tx, sources, wallet, payout)
  insertPayout(tx, payout)
  const rowOf = ({ type: eventType, actorType, atMs: createdAtMs }: PastEvent) =>
    ({ id: null, payoutId: payout.id, eventType, actorType, createdAtMs }) as const
  const first = { ...rowOf(created), fromStatus: null, toStatus: 'created', message: created.message ?? null } as const
  const others = stages.map(({ event, from, to }) => {
    const message = event.message === undefined ? to.failureReason : event.message
    return { ...rowOf(event), fromStatus: from.status, toStatus: to.status, message }
  })
  for (const event of [first, ...others]) insertEvent(tx, event)
}

const pricingOf = ({ rates, sources }: Loading) => ({
  reference: sources.reference,
  rates,
  feeBasisPoints: sources.payoutFeeBasisPoints,
  conversionBasisPoints: sources.conversionBasisPoints,
})

const defaultOf = ({ wallets }: Loading, clientId: number) =>
  [...wallets.values()].find(({ wallet }) => wallet.clientId === clientId && wallet.isDefault)

/** Checked like the body of a request; of a person in the document, a saved beneficiary is only the identifier. */
const inputOf = (at: Place, entry: PayoutDocument, id: string, walletId = 1): PayoutInput | undefined => {
  const isPerson = entry.beneficiary_email !== undefined
  const body = {
    ...entry,
    reference_id: entry.reference_id ?? id,
    wallet_id: walletId,
    beneficiary_id: isPerson ? undefined : entry.beneficiary_id,
  }
  return at.attempt(() => readPayout(body, at.loading.sources.reference))
}

const payeeOf = (tx: Tx, at: Place, entry: PayoutDocument, clientId: number, { payee }: PayoutInput) => {
  const beneficiaryId = entry.beneficiary_id ?? null
  if (!('beneficiaryId' in payee)) return { beneficiaryId, payee }
  const { beneficiaryId: id } = payee
  const saved = findBeneficiary(tx, clientId, id)
  at.check(saved !== undefined, 'beneficiary_id', `no saved beneficiary of the client has the id ${id}`)
  return saved && { beneficiaryId, payee: saved }
}

const priceOf = (
  at: Place,
  price: NonNullable<PayoutDocument['price']>,
  input: PayoutInput,
  destination: Currency,
  total: Currency | undefined,
): PayoutPrice => {
  const { conversion_fee: fee, forex_rate: rate } = price
  const paidMinor = at.minorOf('paid', price.paid, destination)
  const paidAmountMinor = at.minorOf('paid_amount', price.paid_amount, destination)
  const paidConversionMinor = fee === null ? null : at.minorOf('conversion_fee', fee, destination)
  const isExchanged = input.currency.id !== destination.id
  const together = 'must be null with conversion_fee when both currencies are the same, and only then'
  at.check((rate !== null) === isExchanged && (fee === null) === (rate === null), 'forex_rate', together)
  at.check(paidMinor > 0, 'paid', 'must be greater than 0')
  const isCovered = paidAmountMinor + (paidConversionMinor ?? 0) <= paidMinor
  at.check(isCovered, 'paid', 'must be at least paid_amount and conversion_fee')
  const feesMinor = at.minorOf('fees', price.fees, input.currency)
  at.check(rate !== null || paidMinor === input.amountMinor + feesMinor, 'paid', 'must be amount and fees')
  at.check(rate !== null || paidAmountMinor === input.amountMinor, 'paid_amount', 'must be the amount')
  return {
    feesMinor,
    rateE8: rate === null ? null : Math.round(rate * RATE_ONE),
    paidMinor,
    paidAmountMinor,
    paidConversionMinor,
    beneficiaryTotalMinor: total ? at.minorOf('beneficiary_total', price.beneficiary_total, total) : 0,
  }
}

const FORWARD = PACE.map(({ event }) => event)

/** The shortest way to each status. */
const WAYS: Record<PayoutStatus, readonly PayoutEventType[]> = {
  created: [],
  queued: FORWARD.slice(0, 1),
  processing: FORWARD.slice(0, 2),
  settling: FORWARD.slice(0, 4),
  completed: FORWARD,
  failed: [...FORWARD.slice(0, 4), 'failed'],
  action_required: [...FORWARD.slice(0, 4), 'action_required'],
  cancelled: ['cancelled'],
  expired: ['expired'],
}

/** The events of the document, or those of the shortest way at the pace of the clock. */
const eventsOf = (at: Place, entry: PayoutDocument): PastEvent[] => {
  const { status = 'completed', returned = false, created_at: createdAt, events } = entry
  const { nowMs } = at.loading
  if (events) return givenEvents(at, events, createdAt)
  const types = returned ? [...WAYS[status], 'returned' as const] : WAYS[status]
  const afterMs = (type: PayoutEventType, step: number): number => {
    if (type === 'expired') return EXPIRY_MS
    return type === 'returned' ? DAY_MS : (step + 1) * SECOND_MS
  }
  const last = types.at(-1)
  const age = last === undefined ? 0 : afterMs(last, types.length - 1)
  const createdAtMs = at.timeOf('created_at', createdAt, Math.max(0, nowMs - age))
  const past = types.map((type, step): PastEvent => {
    const atMs = Math.min(createdAtMs + afterMs(type, step), Math.max(createdAtMs, nowMs))
    return { type, atMs, actorType: type === 'cancelled' ? 'client' : 'system', message: undefined }
  })
  return [{ type: 'created', atMs: createdAtMs, actorType: 'client', message: null }, ...past]
}

const isEventType = (type: string): type is PayoutEventType => Object.hasOwn(TRANSITIONS, type)

const givenEvents = (payout: Place, events: NonNullable<PayoutDocument['events']>, createdAt: string | undefined) => {
  payout.check(createdAt === undefined, 'created_at', 'is the time of the first event: leave it out')
  const past: PastEvent[] = []
  for (const [step, event] of events.entries()) {
    const at = payout.in('events').in(step)
    const { event_type: type, actor_type: actorType = step === 0 ? 'client' : 'system', message } = event
    const atMs = at.timeOf('created_at', event.created_at, at.loading.nowMs)
    at.check(atMs >= (past.at(-1)?.atMs ?? 0), 'created_at', 'must not be before the event before it')
    if ((step === 0) !== (type === 'created')) at.wrong('event_type', 'must be created at first, and only then')
    else if (type === 'created' || isEventType(type)) past.push({ type, atMs, actorType, message })
    else at.wrong('event_type', `must be one of created, ${Object.keys(TRANSITIONS).join(', ')}`)
  }
  return past.length === events.length ? past : []
}

const checkEnd = (at: Place, entry: PayoutDocument, payout: Payout): void => {
  const { status = entry.events ? payout.status : 'completed', returned = payout.returned } = entry
  at.check(status === payout.status, 'status', `must be ${payout.status}, to which its events lead`)
  at.check(returned === payout.returned, 'returned', `must be ${payout.returned}, to which its events lead`)
  for (const name of ['failure_code', 'failure_reason'] as const) {
    at.check((entry[name] ?? null) === null || payout.status === 'failed', name, 'is only for a failed payout')
  }
}
