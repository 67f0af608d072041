import { BlockList } from 'node:net'
import { InvalidArgumentError } from 'commander'
import { addNetwork } from '../http/client-address.ts'
import { type BucketSize, readLimits } from '../http/rate-limit.ts'
import { DAY_MS, durationIn, monthIn, timeIn } from '../kernel/clock.ts'

/** Parsers of option values. A wrong value is a usage error: exit code 2. */

/** A hundred years: beyond it, expiry times leave the four-digit years. */
const DURATION_MS_MAX = 36_500 * DAY_MS
const ISSUER_LENGTH_MAX = 500

export const parseText = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('It is empty.')
  return text
}

/** It may have several lines. */
export const parseIssuer = (text: string): string => {
  if (text.trim() === '' || text.length > ISSUER_LENGTH_MAX || /[^\P{Cc}\n]/u.test(text)) {
    throw new InvalidArgumentError('An issuer has 1 to 500 characters; of control characters, only line ends.')
  }
  return text
}

export const parsePort = (text: string): number => {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return number
}

export const parseCount = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999999.')
  return Number(text)
}

/** In milliseconds. */
export const parseDuration = (text: string): number => {
  const durationMs = durationIn(text)
  if (durationMs === undefined) throw new InvalidArgumentError('A time is a number and a unit: 30s, 5m, 1h, 7d.')
  if (durationMs > DURATION_MS_MAX) throw new InvalidArgumentError('A time is at most 36500d.')
  return durationMs
}

/** In Unix milliseconds. A date is its midnight in UTC (contract C17). */
export const parseTime = (text: string): number => {
  const timeMs = timeIn(text)
  if (timeMs === undefined) {
    throw new InvalidArgumentError('A time is a date or an RFC 3339 time: 2026-11-01, 2026-11-01T09:30:00Z.')
  }
  return timeMs
}

export const parseMonth = (text: string): { sinceMs: number; untilMs: number } => {
  const month = monthIn(text)
  if (!month) throw new InvalidArgumentError('A month looks like 2026-11.')
  return month
}

export const parseLimits = (text: string): readonly BucketSize[] | 'off' => {
  const limits = readLimits(text)
  if (limits === undefined) throw new InvalidArgumentError('Limits look like 1000/h,100/m, or off.')
  return limits
}

/** In basis points. */
export const parseFee = (text: string): number => {
  if (!/^\d{1,3}(?:\.\d{1,2})?$/.test(text) || Number(text) > 100) {
    throw new InvalidArgumentError('A fee is a percentage from 0 to 100 with at most two decimals.')
  }
  return Math.round(Number(text) * 100)
}

export const parsePercent = (text: string): number => {
  const [, number] = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text) ?? []
  if (number === undefined || Number(number) > 100) {
    throw new InvalidArgumentError('A percentage is a number from 0 to 100: 60%.')
  }
  return Number(number)
}

/** The flag may be repeated: `previous` is the value of its earlier uses. */
export const parseNetworks = (text: string, previous: unknown): BlockList => {
  const all = previous instanceof BlockList ? previous : new BlockList()
  if (!text.split(',').every((part) => addNetwork(all, part.trim()))) {
    throw new InvalidArgumentError('Networks look like 10.0.0.0/8,fd00::/8.')
  }
  return all
}

/** The flag may be repeated: `previous` has the values of its earlier uses. */
export const parseOrigins = (text: string, previous: unknown): ReadonlySet<string> => {
  const origins = text.split(',').map((part) => part.trim())
  if (!origins.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin)) {
    throw new InvalidArgumentError('An origin looks like http://localhost:5173: no path, no slash at its end, no *.')
  }
  return new Set([...(previous instanceof Set ? previous : []), ...origins])
}

export const parseUrl = (text: string): string => {
  if (!/^https?:/.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('A URL looks like https://rewards.example.com.')
  }
  return text.replace(/\/+$/, '')
}
