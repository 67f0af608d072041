import { describe, expect, test } from 'bun:test'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
  TIME_MAX_MS,
  toTimestamp,
} from '../../src/kernel/clock.ts'
import { MovableClock, parseDuration } from '../../src/sandbox/worlds/movable-clock.ts'
import { MachineClock } from '../machine-clock.ts'

const NOON_MS = Date.UTC(2030, 0, 1, 12)

describe('durations', () => {
  test.each([
    ['PT5M', 5 * MINUTE_MS],
    ['P7D', 7 * DAY_MS],
    ['P2W', 14 * DAY_MS],
    ['PT0.5S', 500],
    ['PT0.001S', 1],
    ['PT1.25S', 1_250],
    ['P1DT2H3M4.005S', DAY_MS + 2 * HOUR_MS + 3 * MINUTE_MS + 4 * SECOND_MS + 5],
    ['PT90M', 90 * MINUTE_MS],
    ['PT1.5M', 90 * SECOND_MS],
    ['PT1.2345S', 1_234],
    ['PT0S', 0],
  ])('%s is %d ms', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs)
  })

  test.each([
    ...['', 'P', 'PT', 'P1DT', '5M', 'T5M', 'PT5', '-PT5M', 'PT-5M', 'PT5M ', ' PT5M', 'PT5M\n', 'P1Y', 'P1M'],
    ...['PT.5S', 'PT1.S', 'PT1S1M', 'P1D1W', 'PT1H1H', '5m', 'PT５M'],
  ])('%p is invalid', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

describe('timestamps', () => {
  test.each([
    ['2030-01-01T12:00:00Z', NOON_MS],
    ['2030-01-01T12:00:00.5Z', NOON_MS + 500],
    ['2030-01-01t12:00:00.5z', NOON_MS + 500],
    ['2030-01-01T14:00:00+02:00', NOON_MS],
    ['2030-01-01T06:30:00-05:30', NOON_MS],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['4999-12-31T23:59:59.999Z', TIME_MAX_MS],
  ])('%s is %d', (text, timeMs) => {
    expect(parseTimestamp(text)).toBe(timeMs)
  })

  test.each([
    ...['', '2030-01-01', '2030-01-01T12:00Z', '2030-01-01T12:00:00', '2030-01-01 12:00:00Z', '2030-13-01T00:00:00Z'],
    ...['2030-00-01T00:00:00Z', '2030-01-32T00:00:00Z', '2030-01-01T24:00:00Z', '2030-01-01T12:60:00Z', 'now'],
    ...['2030-01-01T12:00:60Z', '+002030-01-01T12:00:00Z', '2030-02-30T00:00:00Z'],
    ...['2029-02-29T00:00:00Z', '2030-04-31T00:00:00Z', '2030-01-01T12:00:00+24:00', '2030-01-01T12:00:00+01:60'],
  ])('%p is invalid', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })

  test('are written in UTC with milliseconds', () => {
    expect(toTimestamp(NOON_MS)).toBe('2030-01-01T12:00:00.000Z')
    expect(toTimestamp(TIME_MAX_MS)).toBe('4999-12-31T23:59:59.999Z')
    expect(parseTimestamp(toTimestamp(NOON_MS + 7))).toBe(NOON_MS + 7)
  })
})

describe('a movable clock', () => {
  test('its steady time moves ahead with it, stops with it, and never goes back', () => {
    const base = new MachineClock(NOON_MS)
    const clock = new MovableClock(base)
    const start = clock.steadyMs()
    const counted = () => clock.steadyMs() - start
    base.pass(SECOND_MS)
    expect(counted()).toBe(SECOND_MS)
    clock.set(NOON_MS + HOUR_MS)
    expect(counted()).toBe(HOUR_MS)
    base.timeMs -= HOUR_MS
    base.pass(SECOND_MS)
    expect(counted()).toBe(HOUR_MS + SECOND_MS)
    clock.freeze()
    base.pass(DAY_MS)
    expect(counted()).toBe(HOUR_MS + SECOND_MS)
    clock.set(clock.nowMs() + MINUTE_MS)
    expect(counted()).toBe(HOUR_MS + SECOND_MS + MINUTE_MS)
    clock.set(clock.nowMs() - MINUTE_MS)
    expect(counted()).toBe(HOUR_MS + SECOND_MS + MINUTE_MS)
    clock.thaw()
    base.pass(SECOND_MS)
    expect(counted()).toBe(HOUR_MS + 2 * SECOND_MS + MINUTE_MS)
  })

  test('created from a frozen state, its steady time starts when thawed', () => {
    const base = new MachineClock(NOON_MS)
    const clock = new MovableClock(base, { offsetMs: 0, frozenAtMs: NOON_MS })
    const start = clock.steadyMs()
    base.pass(HOUR_MS)
    expect(clock.steadyMs()).toBe(start)
    clock.thaw()
    base.pass(SECOND_MS)
    expect(clock.steadyMs()).toBe(start + SECOND_MS)
  })
})
