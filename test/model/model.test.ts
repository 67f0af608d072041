import { describe, expect, test } from 'bun:test'
import { COMMANDS } from './commands/index.ts'
import { readOperations } from './program.ts'
import { describeFound, playSeed } from './runner.ts'

/** The short form of the model: a few hundred steps of fixed seeds. The long one is `bun run model`. */

const SEEDS = [1, 2, 3]
const STEPS = 60
const LENGTH = 40

describe('the model', () => {
  test('has a command for every operation of the document', async () => {
    const { operations } = await readOperations()
    const asked = new Set(COMMANDS.flatMap((command) => command.operations))
    expect([...operations.keys()].filter((operation) => !asked.has(operation))).toEqual([])
    expect([...asked].filter((operation) => !operations.has(operation))).toEqual([])
  })

  test.each(SEEDS)('predicts every response to the scripts of seed %d', async (seed) => {
    const { found } = await playSeed({ seed, steps: STEPS, length: LENGTH })
    expect(found.map(describeFound).join('\n')).toBe('')
  })
})
