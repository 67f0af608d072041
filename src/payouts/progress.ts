import type { Tx } from '../db/database.ts'
import { DomainError, transitionRefused } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import { type DueSource, schedule } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import {
  countDue,
  findNextDue,
  findNextDueMs,
  insertEvent,
  type PayoutChange,
  payoutsIn,
  updatePayout,
} from './queries.ts'
import { movePayoutMoney } from './settlement.ts'
import type { ActorType, Payout, PayoutStatus } from './tables.ts'
import { canHappen, EXPIRY_MS, nextStep, type PayoutEventType, TRANSITIONS } from './transitions.ts'

/** What payouts are moved on with, once they are made. */
export interface Moving {
  reference: Reference
  /** Whether the clock moves the payouts of a world; otherwise an operator does. */
  byClock: (world: World) => boolean
}

/** Who causes an event, and what is said of it. */
export interface EventDetails {
  actorType: ActorType
  nowMs: number
  message?: string | undefined
  failureCode?: string | undefined
  failureReason?: string | undefined
}

/**
 * Applies an event to a payout, with what it does to the money (contract C13).
 *
 * @throws DomainError transition_refused
 */
export const applyEvent = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  event: PayoutEventType,
  details: EventDetails,
): Payout => {
  if (!canHappen(event, payout)) {
    throw new DomainError(transitionRefused(payout.status, event))
  }
  const { actorType, nowMs, message } = details
  const moved: Payout = { ...payout, ...changeBy(event, details) }
  const next = dueAfter(moving, world, moved, nowMs)
  const after: Payout = { ...moved, dueAtMs: next?.dueAtMs ?? null, dueEvent: next?.event ?? null }
  movePayoutMoney(tx, moving.reference, TRANSITIONS[event].money, after, nowMs)
  updatePayout(tx, after)
  insertEvent(tx, {
    payoutId: payout.id,
    eventType: event,
    fromStatus: payout.status,
    toStatus: after.status,
    actorType,
    message: message ?? after.failureReason,
    createdAtMs: nowMs,
  })
  if (after.dueAtMs !== null) schedule(world, after.dueAtMs)
  return after
}

const changeBy = (event: PayoutEventType, { nowMs, failureCode, failureReason }: EventDetails): PayoutChange => {
  const { to, stamps } = TRANSITIONS[event]
  return {
    status: to,
    ...(stamps && { [stamps]: nowMs }),
    ...(event === 'returned' && { returned: true }),
    ...(event === 'failed' && {
      failureCode: failureCode ?? 'payout_failed',
      failureReason: failureReason ?? 'The payout could not be made',
    }),
  }
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
  details: EventDetails,
): Payout => {
  let moved = payout
  do {
    const event = moved.status === to ? undefined : eventTowards(moved, to)
    if (!event) throw new DomainError(transitionRefused(payout.status, to ?? 'another status'))
    moved = applyEvent(tx, moving, world, moved, event, details)
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

/** What the clock does next: the next step, or the expiry of a payout that nobody has begun. */
const dueAfter = ({ byClock }: Moving, world: World, payout: Payout, nowMs: number): Due | undefined => {
  const step = byClock(world) ? nextStep(payout) : undefined
  if (step) return { event: step.event, dueAtMs: Math.max(payout.createdAtMs + step.afterMs, nowMs) }
  if (!canHappen('expired', payout)) return undefined
  return { event: 'expired', dueAtMs: payout.createdAtMs + EXPIRY_MS }
}

/** Has the clock of a world move its payouts again, or no longer, as its pace now says. */
export const repacePayouts = (tx: Tx, moving: Moving, world: World): void => {
  const nowMs = world.clock.nowMs()
  for (const payout of payoutsIn(tx, OPEN_STATUSES)) {
    const due = dueAfter(moving, world, payout, nowMs)
    updatePayout(tx, { ...payout, dueAtMs: due?.dueAtMs ?? null, dueEvent: due?.event ?? null })
    if (due) schedule(world, due.dueAtMs)
  }
}

/** Where a payout can still move by the clock. */
const OPEN_STATUSES: PayoutStatus[] = ['created', 'queued', 'processing', 'settling']

/** Payouts that the clock moves on (contract C13). */
export const duePayouts = (moving: Moving): DueSource => ({
  nextMs: findNextDueMs,
  waiting: countDue,
  step: (tx, world) => {
    const payout = findNextDue(tx)
    if (!payout?.dueAtMs || !payout.dueEvent) return
    const event = payout.dueEvent as PayoutEventType
    applyEvent(tx, moving, world, payout, event, { actorType: 'system', nowMs: payout.dueAtMs })
  },
})
