import { describe, expect, test } from 'bun:test'
import { turns } from '../../src/kernel/turns.ts'

const passTurns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/** Work that does not end before its time is over. */
const whole = (isOver: () => boolean): void => {
  while (!isOver());
}

describe('Long work', () => {
  test('runs one time slice in three turns of the event loop, in rotation of the owners', async () => {
    const admitted: string[] = []
    for (const owner of ['first', 'first', 'second']) turns.next(owner).then(() => admitted.push(owner))
    const seen: string[] = []
    for (let slice = 0; slice < 3; slice++) {
      await passTurns(3)
      seen.push(admitted.join(', '))
    }
    expect(seen).toEqual(['first', 'first, second', 'first, second, first'])
  })

  test('waits once the time of a slice is over, and others come before a second piece of the same owner', async () => {
    await passTurns(3)
    const order: string[] = []
    const take = (owner: string) =>
      turns.take(owner, (isOver) => {
        order.push(owner)
        whole(isOver)
      })
    const all = Promise.all([...['busy', 'busy', 'busy'].map(take), take('other')])
    expect(order).toEqual(['busy'])
    await all
    expect(order).toEqual(['busy', 'busy', 'other', 'busy'])
  })

  test('that has begun continues before other work of its owner', async () => {
    await passTurns(3)
    turns.slice(whole)
    const order: string[] = []
    const later = turns.take('owner', () => order.push('later'))
    const begun = turns.continue('owner', () => order.push('begun'))
    await Promise.all([later, begun])
    expect(order).toEqual(['begun', 'later'])
  })

  test('changes all entries of a list in their order, in as many slices as that takes', async () => {
    let slices = 0
    const results = await turns.map('owner', [1, 2, 3, 4], (entry) => {
      if (entry % 2 === 0) slices += 1
      if (entry % 2 === 0) turns.slice(whole)
      return entry * 10
    })
    expect(results).toEqual([10, 20, 30, 40])
    expect(slices).toBe(2)
    expect(await turns.map('owner', [], () => 1)).toEqual([])
  })
})
