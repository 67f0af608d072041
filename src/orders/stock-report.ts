import type { Query } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { type Kind, soldSince, stockLevels } from './stock-queries.ts'

/** Sales are averaged over this many days, of which today is the last (contract C17). */
const SALES_DAYS = 30

/** The imported codes that are left by product and denomination, and the days that they last at the present sales. */
export const stockReport = (query: Query, nowMs: number) => {
  const firstDay = Math.floor(nowMs / DAY_MS) - SALES_DAYS + 1
  const sales = new Map(soldSince(query, firstDay).map(({ sold, ...kind }) => [keyOf(kind), sold]))
  return stockLevels(query, nowMs).map(({ imported, ...level }) => {
    const available = imported - level.taken - level.expired - level.damaged
    return { ...level, available, daysLeft: daysLeftOf(sales.get(keyOf(level)) ?? 0, available) }
  })
}

const keyOf = ({ productId, denominationMinor }: Kind): string => `${productId} ${denominationMinor}`

/** The days that a stock lasts, with one decimal; null without sales. */
const daysLeftOf = (sold: number, available: number): number | null =>
  sold === 0 ? null : Math.round((available * SALES_DAYS * 10) / sold) / 10
