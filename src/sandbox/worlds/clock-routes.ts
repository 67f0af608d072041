import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { violated } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from './model.ts'
import { MovableClock, parseDuration } from './movable-clock.ts'
import type { ClockMove, ClockState } from './operations.ts'
import * as operations from './operations.ts'
import { keepClock } from './state.ts'

export const clockRoutes = ({ worlds }: Parts) =>
  new Elysia({ name: 'sandbox-clock' })
    .get('/clock', ({ query }) => clockWire(getWorld(worlds, query.world)), operations.getClock)
    .post(
      '/clock',
      async ({ query, body }) => {
        const world = getWorld(worlds, query.world)
        moveClock(clockOf(world), body)
        await keepClock(world)
        return clockWire(world)
      },
      operations.moveClock,
    )

const clockOf = ({ clock }: World): MovableClock => {
  if (clock instanceof MovableClock) return clock
  throw new Error('a sandbox world has a clock that can be moved')
}

const clockWire = (world: World): Static<typeof ClockState> => ({
  now: toTimestamp(world.clock.nowMs()),
  frozen: clockOf(world).frozen,
})

/**
 * Freezes first, so that the time is exact, then sets and advances, and thaws last.
 *
 * @throws DomainError validation, before anything has moved
 */
const moveClock = (clock: MovableClock, { now, advance, frozen }: Static<typeof ClockMove>): void => {
  const present = clock.nowMs()
  const start = now === undefined ? present : parseTimestamp(now)
  if (start === undefined) throw violated('now', 'format', 'must be an RFC 3339 time like 2026-01-01T00:00:00Z')
  if (start < present) throw violated('now', 'min', `must not be before the present, ${toTimestamp(present)}`)
  const advanceMs = advance === undefined ? 0 : parseDuration(advance)
  if (advanceMs === undefined) throw violated('advance', 'format', 'must be an ISO 8601 duration like PT5M or P7D')
  if (start + advanceMs > TIME_MAX_MS)
    throw violated(now ? 'now' : 'advance', 'max', `must not go beyond ${toTimestamp(TIME_MAX_MS)}`)
  if (frozen === true) clock.freeze()
  if (start + advanceMs > clock.nowMs()) clock.set(start + advanceMs)
  if (frozen === false) clock.thaw()
}
