import { describe, expect, test } from 'bun:test'
import { sinceStartMs } from '../../src/kernel/clock.ts'
import { paced } from '../../src/kernel/paced.ts'

const PAUSE_MS = 30

/** Work that notes when it ran, and waits for the run after those so far. */
const noted = () => {
  const ranAtMs: number[] = []
  let ran = Promise.withResolvers<void>()
  const soon = paced(() => {
    ranAtMs.push(sinceStartMs())
    ran.resolve()
    ran = Promise.withResolvers()
  }, PAUSE_MS)
  return { ranAtMs, soon, next: () => ran.promise }
}

describe('paced work', () => {
  test('runs after what asks for it, and once however often it was asked for', async () => {
    const { ranAtMs, soon, next } = noted()
    const first = next()
    for (let times = 0; times < 3; times++) soon()
    expect(ranAtMs).toHaveLength(0)
    await first
    expect(ranAtMs).toHaveLength(1)
    const second = next()
    soon()
    await second
    expect(ranAtMs).toHaveLength(2)
  })

  test('starts again after the pause at the earliest', async () => {
    const { ranAtMs, soon, next } = noted()
    for (let times = 0; times < 3; times++) {
      const run = next()
      soon()
      await run
    }
    const [first = 0, second = 0, third = 0] = ranAtMs
    expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(PAUSE_MS - 1)
  })

  test('that asks for itself runs again', async () => {
    let runs = 0
    await new Promise<void>((resolve) => {
      const soon = paced(() => (++runs < 3 ? soon() : resolve()), 1)
      soon()
    })
    expect(runs).toBe(3)
  })
})
