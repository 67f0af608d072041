// Runs in process alone: it proves logic, which is the same behind a socket.

import { describe, expect, test } from 'bun:test'
import { COMMANDS } from './commands/index.ts'
import { readOperations } from './program.ts'
import { describeFound, playSeed } from './runner.ts'

/** The short form of the model: a few hundred steps of fixed seeds. The long one is `bun run model`. */

const SEEDS = [1, 2, 3]
const STEPS = 60
const LENGTH = 40
/** Commands that move money, or change prices, rates or wallets. */
const OF_MONEY =
  /^(?:place|order|pay|cancel|fail|deliver|return|advance|fund|open a wallet|ask for a price|ask what|set the rates|set the pace|move a clock)/
const MONEY_PATHS = /^\/api\/v1\/(?:products|wallets|transactions|orders|payouts|beneficiaries)(?:\/|$)/
const MONEY_STEPS = 600
const MONEY_LENGTH = 250

describe('the model', () => {
  test('has a command for every operation that moves money or shows movements', async () => {
    const operations = await readOperations()
    const covered = new Set(COMMANDS.flatMap((command) => command.operations))
    const ofMoney = [...operations].filter(([, { path }]) => MONEY_PATHS.test(path)).map(([operation]) => operation)
    expect(ofMoney.filter((operation) => !covered.has(operation))).toEqual([])
    expect([...covered].filter((operation) => !operations.has(operation))).toEqual([])
  })

  test.each(SEEDS)('predicts every response to the scripts of seed %d', async (seed) => {
    const { found } = await playSeed({ seed, steps: STEPS, length: LENGTH })
    expect(found.map(describeFound).join('\n')).toBe('')
  })

  test('predicts every balance after orders, payouts, failures and returns while time and rates change', async () => {
    const commands = COMMANDS.filter(({ does }) => OF_MONEY.test(does))
    expect(commands.length).toBeGreaterThan(15)
    const { found } = await playSeed({ seed: 4, steps: MONEY_STEPS, length: MONEY_LENGTH, commands })
    expect(found.map(describeFound).join('\n')).toBe('')
  })
})
