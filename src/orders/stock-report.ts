import type { Query } from '../db/database.ts'
import { daysLeft, firstDay } from '../kernel/lasting.ts'
import { type Kind, soldSince, stockLevels } from './stock-queries.ts'

/** The imported codes that are left by product and denomination, and the days that they last at the present sales. */
export const stockReport = (query: Query, nowMs: number) => {
  const sales = new Map(soldSince(query, firstDay(nowMs)).map(({ sold, ...kind }) => [keyOf(kind), sold]))
  return stockLevels(query, nowMs).map(({ imported, ...level }) => {
    const available = imported - level.taken - level.expired - level.damaged
    return { ...level, available, daysLeft: daysLeft(available, sales.get(keyOf(level)) ?? 0) }
  })
}

const keyOf = ({ productId, denominationMinor }: Kind): string => `${productId} ${denominationMinor}`
