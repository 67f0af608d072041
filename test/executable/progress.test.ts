import { expect, test } from 'bun:test'
import { type OnProgress, withProgress } from '../../src/commands/terminal/progress.ts'

/** How far long work has come, by a clock of the test. */
const written = async (
  screen: { isTTY?: boolean; columns?: number },
  bytes: number,
  steps: readonly [ms: number, ...Parameters<OnProgress>][],
): Promise<string[]> => {
  const texts: string[] = []
  let nowMs = 0
  const work = (onProgress: OnProgress) => {
    for (const [ms, ...step] of steps) {
      nowMs = ms
      onProgress(...step)
    }
  }
  await withProgress(bytes, work, { ...screen, write: (text) => texts.push(text) }, () => nowMs)
  return texts
}

const ERASE_LINE = '\r\x1b[2K'
const LONG_BYTES = 64 * 1_024 * 1_024

test('a terminal gets a bar after a second, or at once for large work, and it is erased at the end', async () => {
  expect(
    await written({ isTTY: true, columns: 60 }, 0, [
      [0, 'writing', 0, 4],
      [999, 'writing', 1, 4],
      [1_000, 'writing', 2, 4],
      [2_500, 'waiting for the disk', 0, 0],
    ]),
  ).toEqual([
    `${ERASE_LINE}${'█'.repeat(10)}${'░'.repeat(10)}  50 %  1 s  writing`,
    `${ERASE_LINE}2 s  waiting for the disk`,
    ERASE_LINE,
  ])
  expect(await written({ isTTY: true }, LONG_BYTES, [[0, 'copying', 3, 2]])).toEqual([
    `${ERASE_LINE}${'█'.repeat(20)} 100 %  0 s  copying`,
    ERASE_LINE,
  ])
  expect(await written({ isTTY: true, columns: 12 }, LONG_BYTES, [[0, 'copying', 0, 0]])).toEqual([
    `${ERASE_LINE}0 s  copyi…`,
    ERASE_LINE,
  ])
})

test('a file or pipe gets a line every ten seconds, without control characters', async () => {
  const steps = Array.from({ length: 26 }, (_, second): [number, string, number, number] => [
    second * 1_000,
    'checking',
    second,
    50,
  ])
  expect(await written({}, LONG_BYTES, steps)).toEqual(['checking  20 %\n', 'checking  40 %\n'])
  expect(await written({}, 0, [[9_999, 'checking', 0, 0]])).toEqual([])
  expect(await written({}, 0, [[10_000, 'sealing codes: 7', 0, 0]])).toEqual(['sealing codes: 7\n'])
})
