import { differencesOf } from './comparison.ts'
import type { WriteResult } from './exploration.ts'
import type { Purchase } from './statement.ts'
import { LOSSES, type Loss, Numbering, type Write } from './writes.ts'

/** A run to make, and the result it should have. */
export interface PlannedRun {
  loss: Loss
  /** The write whose response is lost. */
  write: Write
  /** The purchases in its world without the loss. */
  expected: readonly Purchase[]
}

export interface Plan {
  runs: readonly PlannedRun[]
  /** The number of writes, with those beyond the maximum. */
  writeCount: number
}

interface KeyedResult extends WriteResult {
  key: string
}

const doneWrites = (results: readonly WriteResult[], byName: boolean): KeyedResult[] => {
  const numbering = new Numbering(byName)
  return results
    .map((result) => ({ ...result, key: numbering.keyOf(result.write) }))
    .filter(({ write }) => write.isDone)
}

/**
 * The losses to try: each response of the first run, before and after its commit. Undefined if two runs without a loss
 * differ, even without the names that the command may invent.
 */
export const planOf = (
  first: readonly WriteResult[],
  second: readonly WriteResult[],
  writesMax: number,
): Plan | undefined => {
  for (const byName of [true, false]) {
    if (partingOf(first, second, byName) !== undefined) continue
    const writes = doneWrites(first, byName)
    const runs = writes.slice(0, writesMax).flatMap((result) => lossesOf(result, byName))
    return { runs, writeCount: writes.length }
  }
  return undefined
}

/** Worlds share nothing, so a loss affects its own world alone. */
const lossesOf = ({ key, write, purchases }: KeyedResult, byName: boolean): PlannedRun[] =>
  LOSSES.map((when) => ({
    loss: { key, when, byName },
    write,
    expected: purchases,
  }))

/** Describes the first difference between two runs without a loss, so that somebody can remove it; undefined without one. */
export const partingOf = (
  first: readonly WriteResult[],
  second: readonly WriteResult[],
  byName = false,
): string | undefined => {
  const others = new Map(doneWrites(second, byName).map(({ key, purchases }) => [key, purchases]))
  const writes = doneWrites(first, byName)
  /** All writes of a world have its purchases. */
  const compared = new Set<readonly Purchase[]>()
  for (const { key, write, purchases } of writes) {
    const name = `${write.method} ${write.route} in the world ${write.world.name}`
    const other = others.get(key)
    if (!other) return `${name} is only in the first one`
    if (compared.has(purchases)) continue
    compared.add(purchases)
    const [difference] = differencesOf(purchases, other, byName)
    if (!difference) continue
    const { example, expected, found } = difference
    return `the world of ${name} has ${expected.kept.length} of ${example.what}, and then ${found.kept.length}`
  }
  return others.size > writes.length ? 'the second one has more writes' : undefined
}
