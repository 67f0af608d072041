import type { Query } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { soldSince, stockLevels } from './stock-queries.ts'

/** Sales are averaged over so many days (contract C17). */
const SALES_DAYS = 30

/** What is left of the imported codes by product and denomination, and for how many days at the present sales. */
export const stockReport = (query: Query, nowMs: number) => {
  const sales = new Map(
    soldSince(query, nowMs - SALES_DAYS * DAY_MS).map((row) => [`${row.productId} ${row.denominationMinor}`, row.sold]),
  )
  return stockLevels(query, nowMs).map(({ imported, ...level }) => {
    const available = imported - level.taken - level.expired - level.damaged
    const sold = sales.get(`${level.productId} ${level.denominationMinor}`) ?? 0
    return { ...level, available, daysLeft: daysLeft(available, sold) }
  })
}

/** With one decimal; null without sales. */
const daysLeft = (available: number, sold: number): number | null =>
  sold === 0 ? null : Math.round((available * SALES_DAYS * 10) / sold) / 10
