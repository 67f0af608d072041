import { parseArgs } from 'node:util'
import { printed } from './report.ts'
import { RIGS } from './rigs.ts'

/**
 * Runs one rig against the compiled executable, prints its steps and findings, and exits with 1 on a finding:
 *
 *     bun run rig NAME [--rounds N] [--seed S] [--short]
 *
 * TEST_BINARY names another executable than dist/scrip. docs/internals/robustness.md says what each of them does.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    short: { type: 'boolean', default: false },
  },
})
const chosen = RIGS[positionals[0] ?? '']
if (!chosen) {
  console.error(`usage: bun run rig ${Object.keys(RIGS).join('|')} [--rounds N] [--seed S] [--short]`)
  process.exit(2)
}
const rounds = Number(values.rounds ?? chosen.rounds)
const seed = Number(values.seed)
if (!(rounds >= 1 && Number.isInteger(seed))) throw new Error('--rounds and --seed take whole numbers')
const startedAtMs = performance.now()
const report = await chosen.rig({ rounds, seed, isShort: values.short, progress: console.error })
console.log(printed(report))
console.log(
  `${positionals[0]} --rounds ${rounds} --seed ${seed}: ${Math.round((performance.now() - startedAtMs) / 1_000)} s`,
)
process.exit(report.findings.length === 0 ? 0 : 1)
