import { differencesOf, summaryOf } from './comparison.ts'
import type { WriteResult } from './exploration.ts'
import type { Purchase } from './statement.ts'
import { keysOf, LOSSES, type Loss } from './writes.ts'

/** A response to lose, and the write and the purchases of the run without a loss. */
export interface PlannedLoss extends WriteResult {
  loss: Loss
}

export interface Plan {
  losses: readonly PlannedLoss[]
  /** How many writes there are, with those beyond the maximum. */
  writeCount: number
}

interface KeyedResult extends WriteResult {
  key: string
}

const doneWrites = (results: readonly WriteResult[], byName: boolean): KeyedResult[] => {
  const keys = keysOf(
    results.map(({ write }) => write),
    byName,
  )
  return results.flatMap((result, index) => (result.write.isDone ? [{ ...result, key: keys[index] ?? '' }] : []))
}

/** Whether two runs without a loss made the same writes and left the same purchases behind. */
const isSame = (first: readonly KeyedResult[], second: readonly KeyedResult[], byName: boolean): boolean => {
  const summaries = new Map<readonly Purchase[], string>()
  const summaryIn = (purchases: readonly Purchase[]): string => {
    const summary = summaries.get(purchases) ?? summaryOf(purchases, byName)
    summaries.set(purchases, summary)
    return summary
  }
  const others = new Map(second.map(({ key, purchases }) => [key, purchases]))
  return (
    first.length === second.length &&
    first.every(({ key, purchases }) => {
      const other = others.get(key)
      return other !== undefined && summaryIn(other) === summaryIn(purchases)
    })
  )
}

/**
 * The losses to try: each write of the first run, before and after its commit. Undefined if two runs without a loss differ,
 * even when names are left out that the command may invent.
 */
export const planOf = (
  first: readonly WriteResult[],
  second: readonly WriteResult[],
  writesMax: number,
): Plan | undefined => {
  for (const byName of [true, false]) {
    const writes = doneWrites(first, byName)
    if (!isSame(writes, doneWrites(second, byName), byName)) continue
    const losses = writes
      .slice(0, writesMax)
      .flatMap(({ key, ...result }) => LOSSES.map((when) => ({ ...result, loss: { key, when, byName } })))
    return { losses, writeCount: writes.length }
  }
  return undefined
}

/** Where two runs without a loss part, for a person who has to make them the same. */
export const partingOf = (first: readonly WriteResult[], second: readonly WriteResult[]): string => {
  const others = new Map(doneWrites(second, false).map(({ key, purchases }) => [key, purchases]))
  for (const { key, write, purchases } of doneWrites(first, false)) {
    const name = `${write.method} ${write.route} in the world ${write.world.name}`
    const other = others.get(key)
    if (!other) return `${name} is in the first one alone`
    const [difference] = differencesOf(purchases, other, false)
    if (!difference) continue
    const { example, expected, found } = difference
    return `the world of ${name} has ${expected.kept.length} of ${example.what}, and then ${found.kept.length}`
  }
  return 'the second one has more writes'
}
