import { parseArgs } from 'node:util'
import { describeFound, playSeed } from './runner.ts'

/**
 * The long form of the model: `bun run model -- --steps 100000 --seed 1`. Ends with 1 at the first finding, or, with
 * `--findings 20`, after 20 different ones.
 */

const { values } = parseArgs({
  options: {
    findings: { type: 'string', default: '1' },
    steps: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    length: { type: 'string', default: '200' },
  },
})
const seed = Number(values.seed)
const startedAt = performance.now()
let told = 0
const { steps, found } = await playSeed({
  seed,
  steps: Number(values.steps),
  length: Number(values.length),
  findingsMax: Number(values.findings),
  onFound: (each) => console.log(describeFound(each)),
  onProgress: (done) => {
    if (done - told < 5_000) return
    told = done
    console.error(`${done} steps`)
  },
})
const seconds = (performance.now() - startedAt) / 1_000
console.log(`${steps} steps of seed ${seed} in ${seconds.toFixed(1)} s, ${Math.round(steps / seconds)} a second`)
process.exit(found.length > 0 ? 1 : 0)
