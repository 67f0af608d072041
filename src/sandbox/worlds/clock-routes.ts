import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { Timestamp } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { violated } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { bodyErrors, controlOperation, worldErrors } from '../control/operation.ts'
import { getWorld, WorldQuery } from './model.ts'
import { MovableClock, parseDuration } from './movable-clock.ts'
import { keepClock } from './state.ts'

const ClockMove = Type.Object(
  {
    now: Type.Optional(Text({ description: 'RFC 3339; not before the present' })),
    advance: Type.Optional(Text({ description: 'ISO 8601 duration: PT5M' })),
    frozen: Type.Optional(Type.Boolean({ description: 'Whether the clock stands still afterwards' })),
  },
  { title: 'ClockRequest' },
)
const ClockState = Type.Object({ now: Timestamp, frozen: Type.Boolean() }, { title: 'Clock' })
const CLOCK_EXAMPLE = { now: '2026-01-01T00:05:00.000Z', frozen: true }

export const clockRoutes = ({ worlds }: { worlds: Worlds }) =>
  new Elysia({ name: 'sandbox-clock' })
    .get(
      '/clock',
      ({ query }) => clockWire(getWorld(worlds, query.world)),
      controlOperation({
        id: 'getClock',
        summary: 'Read the clock of a world',
        description: 'What time it is in the world, and whether the clock stands still.',
        query: WorldQuery,
        success: { status: 200, description: 'The clock', schema: ClockState, example: CLOCK_EXAMPLE },
        errors: worldErrors('clock'),
      }),
    )
    .post(
      '/clock',
      async ({ query, body }) => {
        const world = getWorld(worlds, query.world)
        moveClock(clockOf(world), body)
        await keepClock(world)
        return clockWire(world)
      },
      controlOperation({
        id: 'moveClock',
        summary: 'Set, advance, freeze or thaw the clock of a world',
        description: 'One clock for tokens, limits, cached charges and every timestamp. It never goes back.',
        query: WorldQuery,
        body: ClockMove,
        bodyExample: { advance: 'PT5M', frozen: true },
        success: { status: 200, description: 'The clock as it is now', schema: ClockState, example: CLOCK_EXAMPLE },
        errors: bodyErrors('clock', {
          field: 'now',
          rule: 'min',
          problem: 'must not be before the present, 2026-01-01T00:00:00.000Z',
        }),
      }),
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
