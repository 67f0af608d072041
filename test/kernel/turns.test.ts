import { describe, expect, test } from 'bun:test'
import { finish, turns } from '../../src/kernel/turns.ts'

const passTurns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/** Work that does not end before its time is over. */
const whole = (isOver: () => boolean): void => {
  while (!isOver());
}

describe('Long work', () => {
  test('runs one time slice in each turn of the event loop, in rotation of the owners', async () => {
    const admitted: string[] = []
    for (const owner of ['first', 'first', 'second']) turns.next(owner).then(() => admitted.push(owner))
    const seen: string[] = []
    for (let slice = 0; slice < 3; slice++) {
      await passTurns(1)
      seen.push(admitted.join(', '))
    }
    expect(seen).toEqual(['first', 'first, second', 'first, second, first'])
  })

  test('waits once the time of a slice is over, and others come before a second piece of the same owner', async () => {
    await passTurns(2)
    const order: string[] = []
    const take = (owner: string) =>
      turns.take(owner, () => {
        order.push(owner)
        turns.slice(whole)
      })
    const all = Promise.all([...['busy', 'busy', 'busy'].map(take), take('other')])
    expect(order).toEqual(['busy'])
    await all
    expect(order).toEqual(['busy', 'busy', 'other', 'busy'])
  })

  /** Each of its steps takes a whole slice. */
  function* long(name: string, order: string[]): Generator<undefined, string> {
    for (const step of [1, 2]) {
      order.push(`${name} ${step}`)
      turns.slice(whole)
      yield
    }
    return name
  }

  test('in steps takes as many slices as it needs, ends before other work of its owner, and lets others in between', async () => {
    await passTurns(2)
    const order: string[] = []
    const running = [
      turns.run('owner', long('first', order)),
      turns.run('owner', long('second', order)),
      turns.run('other', long('third', order)),
    ]
    expect(await Promise.all(running)).toEqual(['first', 'second', 'third'])
    const own = order.filter((step) => !step.startsWith('third'))
    expect(own).toEqual(['first 1', 'first 2', 'second 1', 'second 2'])
    expect(order.indexOf('third 1')).toBeLessThan(order.indexOf('second 2'))
  })

  test('in steps can run at once, where nobody waits', () => {
    const order: string[] = []
    expect(finish(long('only', order))).toBe('only')
    expect(order).toEqual(['only 1', 'only 2'])
  })

  test('that fails leaves the turn to others', async () => {
    const failing = turns.take('owner', () => {
      throw new Error('not today')
    })
    await expect(failing).rejects.toThrow('not today')
    expect(await turns.take('owner', () => 1)).toBe(1)
  })
})
