import type { Query } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { nextTurn } from '../kernel/turns.ts'
import { findAnyOrder, nextOrderId } from './queries.ts'
import { soldBy, stockLeft, stockLevels } from './stock-queries.ts'

/** Sales are averaged over this many days (contract C17). */
const SALES_DAYS = 30
/** Orders that are read at once, in 2 to 5 ms. */
const STRIDE = 2_000

/** What is left of the imported codes by product and denomination, and for how many days at the present sales. */
export const stockReport = async (query: Query, nowMs: number) => {
  const daysLeft = await lastingBy(query, nowMs)
  return stockLevels(query, nowMs).map(({ imported, ...level }) => {
    const available = imported - level.taken - level.expired - level.damaged
    return { ...level, available, daysLeft: daysLeft(level, available) }
  })
}

/** The same without what became of the others, which would have to be counted. */
export const stockOutlook = async (query: Query, nowMs: number) => {
  const daysLeft = await lastingBy(query, nowMs)
  return stockLeft(query, nowMs).map((kind) => ({ ...kind, daysLeft: daysLeft(kind, kind.available) }))
}

interface Kind {
  productId: number
  denominationMinor: number
}

/** For how many days codes last, with one decimal; null without sales. Reads the sales beside requests. */
const lastingBy = async (query: Query, nowMs: number) => {
  const sinceMs = nowMs - SALES_DAYS * DAY_MS
  const sales = new Map<string, number>()
  const keyOf = ({ productId, denominationMinor }: Kind) => `${productId} ${denominationMinor}`
  // Orders are numbered in the order in which they are placed.
  for (let toId = nextOrderId(query) - 1; (findAnyOrder(query, toId)?.placedAtMs ?? 0) >= sinceMs; toId -= STRIDE) {
    for (const row of soldBy(query, { sinceMs, toId, limit: STRIDE })) {
      sales.set(keyOf(row), (sales.get(keyOf(row)) ?? 0) + row.sold)
    }
    await nextTurn()
  }
  return (kind: Kind, available: number): number | null => {
    const sold = sales.get(keyOf(kind)) ?? 0
    return sold === 0 ? null : Math.round((available * SALES_DAYS * 10) / sold) / 10
  }
}
