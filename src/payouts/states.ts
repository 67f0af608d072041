import { DAY_MS, SECOND_MS } from '../kernel/clock.ts'
import { canHappen as canTake, statusesWith, type Transition, verbsAllowed } from '../kernel/states.ts'
import type { Payout } from './tables.ts'

/** The state machine of payouts (contract C13). */

export type MoneyEffect = 'pay' | 'refund' | 'return'

interface PayoutTransition extends Transition<Payout> {
  money?: MoneyEffect
  stamps?: 'queuedAtMs' | 'submittedAtMs' | 'completedAtMs' | 'failedAtMs' | 'cancelledAtMs'
}

const isSubmitted = ({ submittedAtMs }: Payout): boolean => submittedAtMs !== null

/** A payout expires if its processing has not begun after this time. */
export const EXPIRY_MS = 7 * DAY_MS

const transitions = {
  queued: { from: ['created'], to: 'queued', act: 'advance', afterMs: SECOND_MS, stamps: 'queuedAtMs' },
  processing: { from: ['queued'], to: 'processing', act: 'advance', afterMs: 2 * SECOND_MS },
  submitted: {
    ...{ from: ['processing'], to: 'processing', act: 'advance', afterMs: 3 * SECOND_MS, stamps: 'submittedAtMs' },
    only: (payout) => !isSubmitted(payout),
  },
  settling: { from: ['processing'], to: 'settling', act: 'advance', afterMs: 4 * SECOND_MS, only: isSubmitted },
  completed: {
    ...{ from: ['settling'], to: 'completed', act: 'advance', afterMs: 5 * SECOND_MS },
    ...{ money: 'pay', stamps: 'completedAtMs' },
  },
  failed: { from: ['processing', 'settling'], to: 'failed', act: 'fail', money: 'refund', stamps: 'failedAtMs' },
  action_required: { from: ['settling'], to: 'action_required', act: 'advance' },
  resumed: { from: ['action_required'], to: 'settling', act: 'advance' },
  cancelled: {
    ...{ from: ['created', 'queued', 'action_required', 'processing'], to: 'cancelled', act: 'cancel' },
    ...{ money: 'refund', stamps: 'cancelledAtMs' },
    only: (payout) => payout.status !== 'processing' || !isSubmitted(payout),
  },
  expired: { from: ['created', 'queued'], to: 'expired', money: 'refund' },
  returned: {
    ...{ from: ['completed'], to: 'completed', act: 'return', money: 'return' },
    only: ({ returned }) => !returned,
  },
} satisfies Record<string, PayoutTransition>

/** The events of a payout after its creation (contract C13). */
export type PayoutEventType = keyof typeof transitions
export const TRANSITIONS: Record<PayoutEventType, PayoutTransition & { to: Payout['status'] }> = transitions

const eventTypes = Object.keys(transitions) as PayoutEventType[]

export const canHappen = (event: PayoutEventType, payout: Payout): boolean => canTake(TRANSITIONS[event], payout)

/** The acts that a payout allows, by their verbs. */
export const actsOfPayout = (payout: Payout): string[] => verbsAllowed(TRANSITIONS, payout)

const ADVANCES = eventTypes.filter((event) => TRANSITIONS[event].act === 'advance')

/** The statuses that an operator can advance a payout to. */
export const ADVANCE_TARGETS = [...new Set(ADVANCES.map((event) => TRANSITIONS[event].to))]

const advancesOf = (payout: Payout) => ADVANCES.filter((event) => canHappen(event, payout))

/** The statuses that one step of an operator's advance can lead to. */
export const nextStatuses = (payout: Payout): Payout['status'][] =>
  advancesOf(payout).map((event) => TRANSITIONS[event].to)

/** The step that an operator's advance takes: to a status that the clock does not choose, or on as the clock goes. */
export const stepTowards = (payout: Payout, to: Payout['status'] | undefined): PayoutEventType | undefined => {
  const events = advancesOf(payout)
  const isOfClock = (event: PayoutEventType) => TRANSITIONS[event].afterMs !== undefined
  const direct = events.find((event) => TRANSITIONS[event].to === to && !isOfClock(event))
  return direct ?? events.find(isOfClock) ?? events[0]
}

/** The statuses of payouts that wait for the clock or an operator. */
export const OPEN_PAYOUTS = statusesWith(TRANSITIONS, 'advance')

export interface PayoutStep {
  event: PayoutEventType
  /** The time after the creation of the payout. */
  afterMs: number
}

/** The steps that the clock takes, in order. */
const STEPS = eventTypes.flatMap((event) => {
  const { afterMs } = TRANSITIONS[event]
  return afterMs === undefined ? [] : [{ event, afterMs }]
})

/** The steps that lead a payout to its completion and that it has not taken. */
export const stepsAhead = (payout: Payout, taken: readonly string[]): PayoutEventType[] => {
  if (!OPEN_PAYOUTS.includes(payout.status)) return []
  const last = STEPS.findLastIndex(({ event }) => taken.includes(event))
  return STEPS.slice(last + 1).map(({ event }) => event)
}

/** The next step of the clock. */
export const nextStep = (payout: Payout): PayoutStep | undefined => STEPS.find(({ event }) => canHappen(event, payout))
