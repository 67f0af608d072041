import { describe, expect, test } from 'bun:test'
import { FairQueue } from '../../src/kernel/fair-queue.ts'

const queueOf = (entries: readonly string[]): FairQueue<string> => {
  const queue = new FairQueue<string>()
  for (const entry of entries) queue.push(entry[0], entry)
  return queue
}

const emptied = (queue: FairQueue<string>): string[] => {
  const entries: string[] = []
  for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) entries.push(entry)
  return entries
}

describe('A fair queue', () => {
  test('gives the entries of one owner in their order', () => {
    expect(emptied(queueOf(['a1', 'a2', 'a3']))).toEqual(['a1', 'a2', 'a3'])
  })

  test('lets owners take turns, however many entries one has', () => {
    expect(emptied(queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('removes what matches, of all owners, and keeps the order of the others', () => {
    const queue = queueOf(['a1', 'a2', 'b1', 'b2', 'c1'])
    expect(queue.remove((entry) => entry === 'a1' || entry[0] === 'b').sort()).toEqual(['a1', 'b1', 'b2'])
    expect(queue.size).toBe(2)
    expect(emptied(queue)).toEqual(['a2', 'c1'])
    expect(queue.size).toBe(0)
  })
})
