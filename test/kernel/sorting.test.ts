import { describe, expect, test } from 'bun:test'
import { sortedInSteps } from '../../src/kernel/sorting.ts'

interface Entry {
  key: number
  place: number
}

const byKey = (one: Entry, other: Entry): number => one.key - other.key

/** Few keys, so that many entries are equal, in an order without a pattern. */
const shuffled = (count: number): Entry[] =>
  Array.from({ length: count }, (_, place) => ({ key: (place * 7_919) % 613, place }))

const run = <Result>(steps: Generator<undefined, Result>): { count: number; result: Result } => {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done) return { count, result: value }
  }
}

describe('Sorting in steps', () => {
  for (const count of [0, 1, 2, 3_999, 4_000, 4_001, 8_001, 30_000]) {
    test(`puts ${count} entries in the order of Array.prototype.sort, and leaves the list as it was`, () => {
      const entries = shuffled(count)
      expect(run(sortedInSteps(entries, byKey)).result).toEqual(entries.toSorted(byKey))
      expect(entries).toEqual(shuffled(count))
    })
  }

  test('compares a few ten thousand times at most before others can work', () => {
    let [compared, most] = [0, 0]
    const counting = (one: Entry, other: Entry): number => {
      compared += 1
      return byKey(one, other)
    }
    const steps = sortedInSteps(shuffled(100_000), counting)
    while (!steps.next().done) {
      most = Math.max(most, compared)
      compared = 0
    }
    expect(most).toBeWithin(1, 60_000)
  })
})
