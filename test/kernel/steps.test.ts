import { expect, test } from 'bun:test'
import { everyStep } from '../../src/kernel/steps.ts'

test('each step runs in its turn, whatever became of the one before, and the first error is thrown last', async () => {
  const done: string[] = []
  const step = (name: string, error?: Error) => async () => {
    await Bun.sleep(0)
    done.push(name)
    if (error) throw error
  }
  const steps = [
    step('first'),
    step('second', new Error('disk')),
    () => {
      throw new Error('later')
    },
    step('last'),
  ]
  await expect(everyStep(steps)).rejects.toThrow('disk')
  expect(done).toEqual(['first', 'second', 'last'])
  await everyStep([step('alone')])
})
