import { test } from 'bun:test'

/** A test that takes long: `npm test` runs it only with `--all`. */
export const longTest = (sentence: string, work: () => unknown): void => {
  if (process.env.TEST_ALL === '1') test(sentence, async () => void (await work()))
}
