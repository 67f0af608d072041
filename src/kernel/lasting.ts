import { DAY_MS } from './clock.ts'

/** Use is averaged over this many days, of which today is the last (contract C17). */
const DAYS = 30

/** The first of these days, as a number of days since 1970. */
export const firstDay = (nowMs: number): number => Math.floor(nowMs / DAY_MS) - DAYS + 1

/** The days that the rest lasts, with one decimal; null if none of it is used. */
export const daysLeft = (left: number, used: number): number | null =>
  used === 0 ? null : Math.round((Math.max(0, left) * DAYS * 10) / used) / 10
