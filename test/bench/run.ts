import { parseArgs } from 'node:util'
import { growth } from './growth.ts'
import { postgres } from './postgres.ts'
import { requests } from './requests.ts'
import { starts } from './start.ts'
import { webhooks } from './webhooks.ts'
import { worlds } from './worlds.ts'

/**
 * Measures dist/scrip, or the executable in TEST_BINARY. Contenders are measured in turn within one run, so that a machine's
 * moods cancel out. Beneficiaries are written to the folder for temporary files: TMPDIR should name one on a disk.
 *
 *     bun run bench [requests] [start] [webhooks] [worlds] [growth] [postgres]
 *         [--records 1000,100000,1000000] [--rounds 3] [--seconds 5] [--warm-up 5] [--payouts 100000,1000000] [--before EXECUTABLE]
 *         [--row ROW]...
 *
 * Without names, all parts except growth and PostgreSQL are measured. `--before` measures requests of an earlier executable as well, and
 * `--row` only that row of them.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '5' },
    payouts: { type: 'string', default: '100000,1000000' },
    before: { type: 'string' },
    row: { type: 'string', multiple: true },
    records: { type: 'string', default: '1000,100000,1000000' },
  },
})
const rounds = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  warmUpSeconds: Number(values['warm-up']),
}
const numbers = (list: string): number[] => list.split(',').map(Number)
const [payoutCounts, sizes] = [numbers(values.payouts), numbers(values.records)]
if (![...Object.values(rounds), ...payoutCounts, ...sizes].every((value) => value > 0))
  throw new Error('options take a positive number')

const PARTS: Record<string, () => Promise<void>> = {
  requests: () => requests(rounds, payoutCounts, values.before, values.row),
  start: starts,
  webhooks,
  worlds,
  growth: () => growth(sizes, rounds.rounds),
  postgres: () => postgres(rounds),
}
const unknown = positionals.filter((name) => !PARTS[name])
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}`)

const chosen =
  positionals.length > 0 ? positionals : Object.keys(PARTS).filter((name) => name !== 'postgres' && name !== 'growth')
for (const name of chosen) {
  console.log(`\n${name}\n`)
  await PARTS[name]?.()
}
process.exit()
