import { expect, test } from 'bun:test'
import { turns } from '../../src/kernel/turns.ts'

test('one time slice runs in each turn of the event loop, in rotation of the owners', async () => {
  const admitted: string[] = []
  for (const owner of ['first', 'first', 'second']) turns.next(owner).then(() => admitted.push(owner))
  const seen: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    seen.push(admitted.join(', '))
  }
  expect(seen).toEqual(['first', 'first, second', 'first, second, first'])
})
