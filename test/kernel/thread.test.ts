import { describe, expect, test } from 'bun:test'
import { askThread } from '../../src/kernel/thread.ts'

const answering = (body: string): string => `self.onmessage = ({ data }) => { ${body} }`

describe('A program in a thread of its own', () => {
  test('is asked one question, and ends with its answer', async () => {
    const doubling = answering('postMessage({ answer: data.number * 2 })')
    expect(await Promise.all([1, 2].map((number) => askThread<number>(doubling, { number })))).toEqual([2, 4])
  })

  test('reports what went wrong, with its code', async () => {
    const failing = answering("postMessage({ message: 'the disk is full', code: 'SQLITE_FULL' })")
    const error = await askThread(failing, {}).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: 'the disk is full', code: 'SQLITE_FULL' })
  })

  test('that throws is an error', async () => {
    await expect(askThread(answering("throw new Error('a mistake')"), {})).rejects.toThrow('a mistake')
  })

  test('that does not end is stopped', async () => {
    const error = await askThread(answering('for (;;);'), {}, 100).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: 'it takes too long', code: 'ETIMEDOUT' })
  })
})
