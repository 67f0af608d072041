import { differencesOf, type PurchasesByWorld, purchasesByWorld, summaryOf } from './comparison.ts'
import type { EventFault } from './events.ts'
import type { RunFault, WriteResult } from './exploration.ts'
import type { Purchase } from './statement.ts'
import { keysOf, LOSSES, type Write } from './writes.ts'

/** The result of a run without a fault. */
export interface RunResult {
  results: readonly WriteResult[]
  eventFaults: readonly EventFault[]
}

/** A run to make, and the result it should have. */
export interface PlannedRun {
  fault: RunFault
  /** The write whose response is lost. */
  write: Write | undefined
  expected: PurchasesByWorld
  byName: boolean
}

export interface Plan {
  runs: readonly PlannedRun[]
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
 * The faults to try: the loss of each response of the first run, before and after its commit, and what can become of the
 * events that both runs were sent. Undefined if two runs without a fault differ, even when names are left out that the
 * command may invent.
 */
export const planOf = (first: RunResult, second: RunResult, writesMax: number): Plan | undefined => {
  for (const byName of [true, false]) {
    const writes = doneWrites(first.results, byName)
    if (!isSame(writes, doneWrites(second.results, byName), byName)) continue
    const losses = writes.slice(0, writesMax).flatMap((result) => lossesOf(result, byName))
    return { runs: [...losses, ...eventRunsOf(first, second, byName)], writeCount: writes.length }
  }
  return undefined
}

/** Worlds share nothing, so that a loss can show in its own world alone. */
const lossesOf = ({ key, write, purchases }: KeyedResult, byName: boolean): PlannedRun[] =>
  LOSSES.map((when) => ({
    fault: { loss: { key, when, byName } },
    write,
    expected: new Map([[write.world.name, purchases]]),
    byName,
  }))

const eventRunsOf = (first: RunResult, second: RunResult, byName: boolean): PlannedRun[] => {
  const expected = purchasesByWorld(first.results, byName)
  return first.eventFaults
    .filter(({ type, how }) => second.eventFaults.some((other) => other.type === type && other.how === how))
    .map((event) => ({ fault: { event }, write: undefined, expected, byName }))
}

/** Where two runs without a loss differ, for a person who has to make them the same. */
export const partingOf = (first: readonly WriteResult[], second: readonly WriteResult[]): string => {
  const others = new Map(doneWrites(second, false).map(({ key, purchases }) => [key, purchases]))
  for (const { key, write, purchases } of doneWrites(first, false)) {
    const name = `${write.method} ${write.route} in the world ${write.world.name}`
    const other = others.get(key)
    if (!other) return `${name} is in the first one alone`
    const { name: world } = write.world
    const [difference] = differencesOf(new Map([[world, purchases]]), new Map([[world, other]]), false)
    if (!difference) continue
    const { example, expected, found } = difference
    return `the world of ${name} has ${expected.kept.length} of ${example.what}, and then ${found.kept.length}`
  }
  return 'the second one has more writes'
}
