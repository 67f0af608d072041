import type { Tx } from '../db/database.ts'
import { DomainError, transitionRefused } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import { causeIn } from '../work/cause.ts'
import { type DueSource, schedule } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { publishPayout } from './publish.ts'
import { countDue, findFirstDue, insertEvent, movingPayouts, updatePayout } from './queries.ts'
import { movePayoutMoney } from './settlement.ts'
import {
  canHappen,
  EXPIRY_MS,
  nextStep,
  OPEN_PAYOUTS,
  type PayoutEventType,
  type PayoutStep,
  stepTowards,
  TRANSITIONS,
} from './states.ts'
import type { ActorType, Payout } from './tables.ts'

export interface Moving {
  reference: Reference
  byClock: (world: World) => boolean
  /** The next step of the clock, if it is not the usual one. */
  stepByClock?: ((payout: Payout, usual: PayoutStep | undefined) => PayoutStep | undefined) | undefined
}

export interface EventDetails {
  actorType: ActorType
  nowMs: number
  message?: string | undefined
  failureCode?: string | undefined
  failureReason?: string | undefined
}

/** Applies an event and moves the money (contract C13). @throws DomainError transition_refused */
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
  const { actorType, nowMs, message, failureCode, failureReason } = details
  const { to, stamps, money } = TRANSITIONS[event]
  const moved: Payout = {
    ...{ ...payout, status: to },
    ...(stamps && { [stamps]: nowMs }),
    ...(event === 'returned' && { returned: true }),
    ...(event === 'failed' && {
      failureCode: failureCode ?? 'payout_failed',
      failureReason: failureReason ?? 'The payout could not be made',
    }),
  }
  const after = withDue(moving, world, moved, nowMs)
  const context = { world, reference: moving.reference }
  movePayoutMoney(tx, context, money, after, nowMs)
  updatePayout(tx, after)
  insertEvent(tx, {
    id: null,
    payoutId: payout.id,
    eventType: event,
    fromStatus: payout.status,
    toStatus: after.status,
    actorType,
    message: message ?? after.failureReason,
    createdAtMs: nowMs,
    act: causeIn(world).act,
  })
  publishPayout(tx, context, after, event, nowMs)
  if (after.dueAtMs !== null) schedule(world, 'payouts', after.dueAtMs)
  return after
}

/** Takes the next step, or all steps to a status. @throws DomainError transition_refused if no steps lead there */
export const advance = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  to: Payout['status'] | undefined,
  details: EventDetails,
): Payout => {
  let moved = payout
  do {
    const event = moved.status === to ? undefined : stepTowards(moved, to)
    if (!event) throw new DomainError(transitionRefused(payout.status, to ?? 'another status'))
    moved = applyEvent(tx, moving, world, moved, event, details)
  } while (to !== undefined && moved.status !== to)
  return moved
}

/** True if a step leads on, or steps lead to a status. */
export const canAdvance = (payout: Payout, to: Payout['status'] | undefined): boolean => {
  let moved = payout
  do {
    const event = moved.status === to ? undefined : stepTowards(moved, to)
    if (!event) return false
    const { to: status, stamps } = TRANSITIONS[event]
    moved = { ...moved, status, ...(stamps && { [stamps]: moved.createdAtMs }) }
  } while (to !== undefined && moved.status !== to)
  return true
}

/** The payout with the due time of its next step, or of its expiry while its processing has not begun. */
export const withDue = (moving: Moving, world: World, payout: Payout, nowMs: number): Payout => {
  const isByClock = moving.byClock(world)
  const usual = isByClock ? nextStep(payout) : undefined
  const step = isByClock && moving.stepByClock ? moving.stepByClock(payout, usual) : usual
  if (step) return { ...payout, dueEvent: step.event, dueAtMs: Math.max(payout.createdAtMs + step.afterMs, nowMs) }
  return canHappen('expired', payout)
    ? { ...payout, dueEvent: 'expired', dueAtMs: payout.createdAtMs + EXPIRY_MS }
    : { ...payout, dueEvent: null, dueAtMs: null }
}

/** Sets the due times again after the pace of a world has changed. */
export const repacePayouts = (tx: Tx, moving: Moving, world: World): void => {
  const nowMs = world.clock.nowMs()
  for (const payout of movingPayouts(tx, OPEN_PAYOUTS)) {
    const paced = withDue(moving, world, payout, nowMs)
    updatePayout(tx, paced)
    if (paced.dueAtMs !== null) schedule(world, 'payouts', paced.dueAtMs)
  }
}

export const duePayouts = (moving: Moving): DueSource => ({
  kind: 'payouts',
  waiting: countDue,
  first: (query, quarantined) => {
    const payout = findFirstDue(query, quarantined)
    if (!payout) return undefined
    const { id, dueAtMs: nowMs, dueEvent } = payout
    const event = dueEvent as PayoutEventType
    const step = (tx: Tx, world: World) => applyEvent(tx, moving, world, payout, event, { actorType: 'system', nowMs })
    return { id, dueMs: nowMs, step }
  },
})
