import { describe, expect, test } from 'bun:test'
import { RIGS } from './rigs.ts'

/** Each rig in its short form finds nothing: `bun run rig NAME --short`. */

describe.each(Object.entries(RIGS))('the rig %s', (_, { rig }) => {
  test('finds nothing', async () => {
    const { findings } = await rig({ rounds: 1, seed: 1, isShort: true, progress: () => undefined })
    expect(findings).toEqual([])
  })
})
