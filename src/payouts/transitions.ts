import { DAY_MS, SECOND_MS } from '../kernel/clock.ts'
import type { Payout, PayoutStatus } from './tables.ts'

export type MoneyEffect = 'pay' | 'refund' | 'return'

interface Transition {
  from: readonly PayoutStatus[]
  to: PayoutStatus
  money?: MoneyEffect
  stamps?: 'queuedAtMs' | 'submittedAtMs' | 'completedAtMs' | 'failedAtMs' | 'cancelledAtMs'
  only?: (payout: Payout) => boolean
}

const isSubmitted = ({ submittedAtMs }: Payout): boolean => submittedAtMs !== null

const transitions = {
  queued: { from: ['created'], to: 'queued', stamps: 'queuedAtMs' },
  processing: { from: ['queued'], to: 'processing' },
  submitted: {
    from: ['processing'],
    to: 'processing',
    stamps: 'submittedAtMs',
    only: (payout) => !isSubmitted(payout),
  },
  settling: { from: ['processing'], to: 'settling', only: isSubmitted },
  completed: { from: ['settling'], to: 'completed', money: 'pay', stamps: 'completedAtMs' },
  failed: { from: ['processing', 'settling'], to: 'failed', money: 'refund', stamps: 'failedAtMs' },
  action_required: { from: ['settling'], to: 'action_required' },
  resumed: { from: ['action_required'], to: 'settling' },
  cancelled: {
    from: ['created', 'queued', 'action_required', 'processing'],
    to: 'cancelled',
    money: 'refund',
    stamps: 'cancelledAtMs',
    only: (payout) => payout.status !== 'processing' || !isSubmitted(payout),
  },
  expired: { from: ['created', 'queued'], to: 'expired', money: 'refund' },
  returned: { from: ['completed'], to: 'completed', money: 'return', only: ({ returned }) => !returned },
} satisfies Record<string, Transition>

/** The events of a payout after its creation (contract C13). */
export type PayoutEventType = keyof typeof transitions
export const TRANSITIONS: Record<PayoutEventType, Transition> = transitions

export const canHappen = (event: PayoutEventType, payout: Payout): boolean => {
  const { from, only } = TRANSITIONS[event]
  return from.includes(payout.status) && (only?.(payout) ?? true)
}

export interface PayoutStep {
  event: PayoutEventType
  /** The time after the creation of the payout. */
  afterMs: number
}

/** The steps of a payout by the clock (contract C13). */
const PACE: readonly PayoutStep[] = [
  { event: 'queued', afterMs: SECOND_MS },
  { event: 'processing', afterMs: 2 * SECOND_MS },
  { event: 'submitted', afterMs: 3 * SECOND_MS },
  { event: 'settling', afterMs: 4 * SECOND_MS },
  { event: 'completed', afterMs: 5 * SECOND_MS },
]

/** A payout expires if its processing has not begun after this time. */
export const EXPIRY_MS = 7 * DAY_MS

export const nextStep = (payout: Payout): PayoutStep | undefined => PACE.find(({ event }) => canHappen(event, payout))
