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
import type { Loading, ScenarioSources } from './loading.ts'
import type { PayoutDocument } from './schema.ts'

/** The payouts of a document: each with its events, and what each of them did to the books. */

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

export const loadPayout = (tx: Tx, loading: Loading, path: string, entry: PayoutDocument): void => {
  const { reference } = loading.sources
  const clientId = loading.clientOf(path, entry.client)
  if (clientId === undefined) return
  loading.isNew(`${path}/id`, 'payouts', entry.id)
  const named = entry.reference_id === undefined ? 'id' : 'reference_id' // the id stands in for a reference
  loading.isNew(`${path}/${named}`, `references of payouts of ${clientId}`, entry[named])
  const currency = reference.findCurrencyByCode(entry.currency)
  const paying = loading.walletOf(
    path,
    clientId,
    entry.wallet_id ?? defaultWalletOf(loading, clientId),
    currency?.id ?? 0,
  )
  const events = eventsOf(loading, path, entry)
  const [created] = events
  const id = entry.id ?? loading.ids.next('pyt', created?.atMs ?? loading.nowMs)
  const input = inputOf(loading, path, entry, id, paying?.wallet.id)
  if (!paying || !input) return
  const payee = payeeOf(tx, loading, path, entry, clientId, input)
  const price = entry.price
    ? priceOf(loading, `${path}/price`, entry, input, paying.currency, defaultCurrencyOf(loading, clientId))
    : loading.attempt(path, () => payoutPriceOf(tx, pricingOf(loading), clientId, paying.wallet, input))
  if (!price || !payee || !created) return
  const beginning = newPayout({ id, clientId, createdAtMs: created.atMs }, input, payee, price)
  const stages = stagesOf(loading, path, entry, events, beginning)
  if (!stages) return
  const payout = stages.at(-1)?.to ?? beginning
  checkEnd(loading, path, entry, payout)
  const moving = { stepByClock: sandboxStep }
  const final = withDue(moving, loading.pace.payouts === 'auto', payout, loading.nowMs)
  paying.pastMinor -= final.paidMinor
  loading.happened({
    atMs: created.atMs,
    path,
    apply: (own) => writePayout(own, loading.sources, paying.wallet, final, created, stages),
  })
  for (const { event, to } of stages) {
    const { money } = TRANSITIONS[event.type]
    if (money === 'none') continue
    if (money === 'refund') paying.pastMinor += final.paidMinor
    if (money === 'return') paying.pastMinor += final.paidAmountMinor
    loading.happened({
      atMs: event.atMs,
      path,
      apply: (own) => movePayoutMoney(own, loading.sources, money, to, event.atMs, paying.wallet),
    })
  }
}

/** What its events have made of a payout, one after the other; undefined if one of them cannot happen. */
const stagesOf = (
  loading: Loading,
  path: string,
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
      loading.wrong(`${path}/events/${step}/event_type`, `${type} cannot happen to a payout that is ${from.status}`)
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
const defaultWalletOf = (loading: Loading, clientId: number) => defaultOf(loading, clientId)?.wallet.id
const defaultCurrencyOf = (loading: Loading, clientId: number) => defaultOf(loading, clientId)?.currency

/** Checked like the body of a request; of a person in the document, a saved beneficiary is only the identifier. */
const inputOf = (loading: Loading, path: string, entry: PayoutDocument, id: string, walletId: number | undefined) => {
  const isPerson = entry.beneficiary_email !== undefined
  const body = {
    ...entry,
    reference_id: entry.reference_id ?? id,
    wallet_id: walletId ?? 1,
    beneficiary_id: isPerson ? undefined : entry.beneficiary_id,
  }
  return loading.attempt(path, () => readPayout(body, loading.sources.reference))
}

const payeeOf = (
  tx: Tx,
  loading: Loading,
  path: string,
  entry: PayoutDocument,
  clientId: number,
  { payee }: PayoutInput,
) => {
  const beneficiaryId = entry.beneficiary_id ?? null
  if (!('beneficiaryId' in payee)) return { beneficiaryId, payee }
  const saved = findBeneficiary(tx, clientId, payee.beneficiaryId)
  if (!saved)
    loading.wrong(`${path}/beneficiary_id`, `no saved beneficiary of the client has the id ${payee.beneficiaryId}`)
  return saved && { beneficiaryId, payee: saved }
}

const priceOf = (
  loading: Loading,
  path: string,
  { price }: PayoutDocument,
  input: PayoutInput,
  destination: Currency,
  total: Currency | undefined,
): PayoutPrice | undefined => {
  if (!price) return undefined
  const inWallet = (name: 'paid' | 'paid_amount') => loading.minorOf(`${path}/${name}`, price[name], destination)
  const [paidMinor, paidAmountMinor] = [inWallet('paid'), inWallet('paid_amount')]
  const { conversion_fee: fee, forex_rate: rate } = price
  const paidConversionMinor = fee === null ? null : loading.minorOf(`${path}/conversion_fee`, fee, destination)
  if ((rate === null) !== (input.currency.id === destination.id) || (fee === null) !== (rate === null)) {
    loading.wrong(
      `${path}/forex_rate`,
      'must be null with conversion_fee when both currencies are the same, and only then',
    )
  }
  if (paidMinor <= 0) loading.wrong(`${path}/paid`, 'must be greater than 0')
  if (paidAmountMinor + (paidConversionMinor ?? 0) > paidMinor) {
    loading.wrong(`${path}/paid`, 'must be at least paid_amount and conversion_fee')
  }
  const feesMinor = loading.minorOf(`${path}/fees`, price.fees, input.currency)
  if (rate === null && paidMinor !== input.amountMinor + feesMinor)
    loading.wrong(`${path}/paid`, 'must be amount and fees')
  if (rate === null && paidAmountMinor !== input.amountMinor) loading.wrong(`${path}/paid_amount`, 'must be the amount')
  return {
    feesMinor,
    rateE8: rate === null ? null : Math.round(rate * RATE_ONE),
    paidMinor,
    paidAmountMinor,
    paidConversionMinor,
    beneficiaryTotalMinor: total ? loading.minorOf(`${path}/beneficiary_total`, price.beneficiary_total, total) : 0,
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

/** The events of the document, or those of the shortest way, at the pace of the clock. */
const eventsOf = (loading: Loading, path: string, entry: PayoutDocument): PastEvent[] => {
  const { status = 'completed', returned = false, created_at: createdAt, events } = entry
  if (events) return givenEvents(loading, path, events, createdAt)
  const types = returned ? [...WAYS[status], 'returned' as const] : WAYS[status]
  const afterMs = (type: PayoutEventType, step: number): number => {
    if (type === 'expired') return EXPIRY_MS
    return type === 'returned' ? DAY_MS : (step + 1) * SECOND_MS
  }
  const last = types.at(-1)
  const age = last === undefined ? 0 : afterMs(last, types.length - 1)
  const createdAtMs = loading.timeOf(`${path}/created_at`, createdAt, Math.max(0, loading.nowMs - age))
  const past = types.map((type, step): PastEvent => {
    const atMs = Math.min(createdAtMs + afterMs(type, step), Math.max(createdAtMs, loading.nowMs))
    return { type, atMs, actorType: type === 'cancelled' ? 'client' : 'system', message: undefined }
  })
  return [{ type: 'created', atMs: createdAtMs, actorType: 'client', message: null }, ...past]
}

const isEventType = (type: string): type is PayoutEventType => Object.hasOwn(TRANSITIONS, type)

const givenEvents = (
  loading: Loading,
  path: string,
  events: NonNullable<PayoutDocument['events']>,
  createdAt: string | undefined,
): PastEvent[] => {
  if (createdAt !== undefined) loading.wrong(`${path}/created_at`, 'is the time of the first event: leave it out')
  const past: PastEvent[] = []
  for (const [step, event] of events.entries()) {
    const at = `${path}/events/${step}`
    const { event_type: type, actor_type: actorType = step === 0 ? 'client' : 'system', message } = event
    const atMs = loading.timeOf(`${at}/created_at`, event.created_at, loading.nowMs)
    if (atMs < (past.at(-1)?.atMs ?? 0)) loading.wrong(`${at}/created_at`, 'must not be before the event before it')
    if ((step === 0) !== (type === 'created'))
      loading.wrong(`${at}/event_type`, 'must be created at first, and only then')
    else if (type === 'created' || isEventType(type)) past.push({ type, atMs, actorType, message })
    else loading.wrong(`${at}/event_type`, `must be one of created, ${Object.keys(TRANSITIONS).join(', ')}`)
  }
  return past.length === events.length ? past : []
}

const checkEnd = (loading: Loading, path: string, entry: PayoutDocument, payout: Payout): void => {
  const { status = entry.events ? undefined : 'completed', returned } = entry
  if (status !== undefined && status !== payout.status) {
    loading.wrong(`${path}/status`, `must be ${payout.status}, to which its events lead`)
  }
  if (returned !== undefined && returned !== payout.returned) {
    loading.wrong(`${path}/returned`, `must be ${payout.returned}, to which its events lead`)
  }
  for (const name of ['failure_code', 'failure_reason'] as const) {
    if ((entry[name] ?? null) !== null && payout.status !== 'failed')
      loading.wrong(`${path}/${name}`, 'is of a failed payout')
  }
}
