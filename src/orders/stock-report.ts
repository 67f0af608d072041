import type { Query } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { nextTurn } from '../kernel/turns.ts'
import { findAnyOrder, nextOrderId } from './queries.ts'
import { freeStock, type Kind, soldBy, stockLevels } from './stock-queries.ts'

/** Sales are averaged over this many days (contract C17). */
const SALES_DAYS = 30
/** Orders that are read at once, in 2 to 5 ms. */
const STRIDE = 2_000

/** The imported codes that are left by product and denomination, and the days that they last at the present sales. */
export const stockReport = async (query: Query, nowMs: number) => {
  const sales = await salesBefore(query, nowMs)
  return stockLevels(query, nowMs).map(({ imported, ...level }) => {
    const available = imported - level.taken - level.expired - level.damaged
    return { ...level, available, daysLeft: daysLeftOf(sales, level, available) }
  })
}

/** A shorter report of codes that are for sale or were sold recently. It does not count taken, expired and damaged codes. */
export const stockOutlook = async (query: Query, nowMs: number) => {
  const sales = await salesBefore(query, nowMs)
  const kinds = new Map<string, Kind & { available: number }>()
  for (const { sold: _, ...kind } of sales.values()) kinds.set(keyOf(kind), { ...kind, available: 0 })
  for (const kind of freeStock(query, nowMs)) kinds.set(keyOf(kind), kind)
  return [...kinds.values()].map((kind) => ({ ...kind, daysLeft: daysLeftOf(sales, kind, kind.available) }))
}

type Sales = ReadonlyMap<string, Kind & { sold: number }>

const keyOf = ({ productId, denominationMinor }: Kind): string => `${productId} ${denominationMinor}`

/** Sums up sales in several steps, so that requests are served in between. */
const salesBefore = async (query: Query, nowMs: number): Promise<Sales> => {
  const sinceMs = nowMs - SALES_DAYS * DAY_MS
  const sales = new Map<string, Kind & { sold: number }>()
  // Orders are numbered in the order in which they are placed.
  for (let toId = nextOrderId(query) - 1; (findAnyOrder(query, toId)?.placedAtMs ?? 0) >= sinceMs; toId -= STRIDE) {
    for (const row of soldBy(query, { sinceMs, toId, limit: STRIDE })) {
      sales.set(keyOf(row), { ...row, sold: row.sold + (sales.get(keyOf(row))?.sold ?? 0) })
    }
    await nextTurn()
  }
  return sales
}

/** The days that a stock lasts, with one decimal; null without sales. */
const daysLeftOf = (sales: Sales, kind: Kind, available: number): number | null => {
  const { sold } = sales.get(keyOf(kind)) ?? { sold: 0 }
  return sold === 0 ? null : Math.round((available * SALES_DAYS * 10) / sold) / 10
}
