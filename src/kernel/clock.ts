export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

/** The milliseconds of a text such as 30s, 5m, 1h or 7d, or undefined if it is invalid. */
export const durationIn = (text: string): number | undefined => {
  const [, count, unit = ''] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0)
}

/** In Unix milliseconds. */
export interface Clock {
  nowMs(): number
}

export interface SteadyClock extends Clock {
  /** A clock that never goes back, unlike the time of day: for rate limits (decision 28). */
  steadyMs(): number
}

export const systemClock: SteadyClock = {
  nowMs: () => Date.now(),
  steadyMs: () => Math.floor(performance.now()),
}

/** Milliseconds since the process started, for durations only. */
export const sinceStartMs = (): number => performance.now()

/** The times that RFC 3339 can write, which has years of four digits. */
const WRITABLE_MIN_MS = -62_167_219_200_000
const WRITABLE_MAX_MS = 253_402_300_799_999

/** RFC 3339 in UTC with milliseconds (contract C5). A time that it cannot write, which only a damaged row has, is the nearest that it can. */
export const toTimestamp = (timeMs: number): string =>
  new Date(Math.min(Math.max(timeMs, WRITABLE_MIN_MS), WRITABLE_MAX_MS)).toISOString()

export const toTimestampOrNull = (timeMs: number | null): string | null =>
  timeMs === null ? null : toTimestamp(timeMs)

/** 4999-12-31T23:59:59.999Z: later due times still have a four-digit year, and ids keep their length. */
export const TIME_MAX_MS = 95_617_583_999_999

const TIMESTAMP =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** The Unix milliseconds of an RFC 3339 timestamp, or undefined if the text is invalid. */
export const parseTimestamp = (text: string): number | undefined => {
  if (!TIMESTAMP.test(text) || !isDay(text.slice(0, DAY_LENGTH))) return undefined
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** As {@link parseTimestamp}; a date is its midnight in UTC. */
export const timeIn = (text: string): number | undefined => parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text)

const MONTH = /^([1-9]\d{3})-(0[1-9]|1[0-2])$/

/** The month in UTC, from its first instant to the first one of the next month, or undefined if the text is invalid. */
export const monthIn = (text: string): { sinceMs: number; untilMs: number } | undefined => {
  const [, year, month] = MONTH.exec(text) ?? []
  if (year === undefined) return undefined
  return { sinceMs: Date.UTC(Number(year), Number(month) - 1), untilMs: Date.UTC(Number(year), Number(month)) }
}

const DAY_LENGTH = 'YYYY-MM-DD'.length

/** Date.parse reads 30 February as a day in March. */
const isDay = (day: string): boolean => toTimestamp(Date.parse(day)).startsWith(day)
