import { describe, expect, test } from 'bun:test'
import { RIGS } from './rigs.ts'

/** Each rig in its short form finds nothing: `bun run rig NAME --short`. */

describe.each(['disk', 'fairness', 'kill', 'overload', 'power', 'soak'])('the rig %s', (name) => {
  test('finds nothing', async () => {
    const report = await RIGS[name]?.rig({ rounds: 1, seed: 1, isShort: true })
    expect(report?.findings).toEqual([])
  })
})
