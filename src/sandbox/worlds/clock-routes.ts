import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { bodyCheck } from '../../http/validation.ts'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { violated } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlRefusals, readControl, WorldQuery, worldOf } from '../control/control.ts'
import { MovableClock, parseDuration } from './movable-clock.ts'
import { keepClock } from './state.ts'

const ClockBody = Type.Object(
  {
    now: Type.Optional(Type.String({ description: 'RFC 3339; not before the present' })),
    advance: Type.Optional(Type.String({ description: 'ISO 8601 duration: PT5M' })),
    frozen: Type.Optional(Type.Boolean({ description: 'Whether the clock stands still afterwards' })),
  },
  { title: 'ClockRequest' },
)
const ClockSchema = Type.Object(
  { now: Type.String({ format: 'date-time' }), frozen: Type.Boolean() },
  { title: 'Clock' },
)
const checkClock = bodyCheck(ClockBody)

const CLOCK_EXAMPLE = { now: '2026-01-01T00:05:00.000Z', frozen: true }

export const clockRoutes = ({ worlds }: { worlds: Worlds }) =>
  new Elysia({ name: 'sandbox-clock' })
    .get(
      '/clock',
      ({ request }) => clockWire(worldOf(worlds, request)),
      documented({
        id: 'getClock',
        tag: 'Sandbox',
        summary: 'Read the clock of a world',
        description: 'What time it is in the world, and whether the clock stands still.',
        public: true,
        query: WorldQuery,
        success: { status: 200, description: 'The clock', schema: ClockSchema, example: CLOCK_EXAMPLE },
        refusals: controlRefusals('clock'),
      }),
    )
    .post(
      '/clock',
      async ({ request }) => {
        const world = worldOf(worlds, request)
        moveClock(clockOf(world), await readControl(request, ClockBody, checkClock))
        await keepClock(world)
        return clockWire(world)
      },
      documented({
        id: 'moveClock',
        tag: 'Sandbox',
        summary: 'Set, advance, freeze or thaw the clock of a world',
        description: 'One clock for tokens, limits, cached charges and every timestamp. It never goes back.',
        public: true,
        query: WorldQuery,
        body: { schema: ClockBody, example: { advance: 'PT5M', frozen: true } },
        success: { status: 200, description: 'The clock as it is now', schema: ClockSchema, example: CLOCK_EXAMPLE },
        refusals: {
          ...controlRefusals('clock'),
          'clock.body_unreadable': { code: 'body_unreadable' },
          'clock.validation': {
            code: 'validation',
            violations: [
              { field: 'now', rule: 'min', problem: 'must not be before the present, 2026-01-01T00:00:00.000Z' },
            ],
          },
        },
      }),
    )

const clockOf = ({ clock }: World): MovableClock => {
  if (clock instanceof MovableClock) return clock
  throw new Error('a sandbox world has a clock that can be moved')
}

const clockWire = (world: World) => ({ now: toTimestamp(world.clock.nowMs()), frozen: clockOf(world).frozen })

/**
 * Freezes first, so that the time is the very one that was asked for, then sets and advances, and thaws last.
 *
 * @throws DomainError validation, before anything has moved
 */
const moveClock = (clock: MovableClock, move: { now?: string; advance?: string; frozen?: boolean }): void => {
  const present = clock.nowMs()
  const start = move.now === undefined ? present : parseTimestamp(move.now)
  if (start === undefined) throw violated('now', 'format', 'must be an RFC 3339 time like 2026-01-01T00:00:00Z')
  if (start < present) throw violated('now', 'min', `must not be before the present, ${toTimestamp(present)}`)
  const advanceMs = move.advance === undefined ? 0 : parseDuration(move.advance)
  if (advanceMs === undefined) throw violated('advance', 'format', 'must be an ISO 8601 duration like PT5M or P7D')
  if (start + advanceMs > TIME_MAX_MS)
    throw violated(move.now ? 'now' : 'advance', 'max', `must not go beyond ${toTimestamp(TIME_MAX_MS)}`)
  if (move.frozen === true) clock.freeze()
  if (start + advanceMs > clock.nowMs()) clock.set(start + advanceMs)
  if (move.frozen === false) clock.thaw()
}
