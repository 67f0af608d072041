import { expect, test } from 'bun:test'
import { type OnProgress, progressOf, withProgress } from '../../src/commands/terminal/progress.ts'

test('long work reports its progress in a line every ten seconds, without control characters', async () => {
  const linesOf = async (steps: readonly [seconds: number, ...Parameters<OnProgress>][]): Promise<string[]> => {
    const lines: string[] = []
    let nowMs = 0
    const work = (onProgress: OnProgress) => {
      for (const [seconds, ...step] of steps) {
        nowMs = seconds * 1_000
        onProgress(...step)
      }
    }
    await withProgress(
      work,
      (line) => lines.push(line),
      () => nowMs,
    )
    return lines
  }
  const half = Array.from({ length: 26 }, (_, second) => [second, 'checking', second, 50] as const)
  expect(await linesOf(half.map((step) => [...step]))).toEqual(['checking 20 %\n', 'checking 40 %\n'])
  expect(await linesOf([[9, 'checking', 0, 0]])).toEqual([])
  expect(await linesOf([[10, 'encrypting codes: 7', 0, 0]])).toEqual(['encrypting codes: 7\n'])
})

test('work of which the parts are counted says how long the rest takes', () => {
  expect(progressOf(6, 50, 8_000)).toBe('6 of 50, about 59 s left')
  expect(progressOf(50, 50, 70_000)).toBe('50 of 50, about 0 s left')
})
