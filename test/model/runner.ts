import fc from 'fast-check'
import { expectSoundBooks } from '../wallets/books.ts'
import { COMMANDS } from './commands/index.ts'
import { edges, seeded } from './goods.ts'
import { type Limits, Model } from './model.ts'
import { Finding, Play } from './play.ts'
import { type Operations, Program, readOperations, type Setup } from './program.ts'

/** Plays each script to a new program, and shortens a script that ends in a finding. */

export interface Step {
  does: string
  with: object
}
export interface Script {
  setup: Setup
  steps: readonly Step[]
}

const LIMITS: Record<Setup['limits'], Limits> = {
  off: undefined,
  documented: [
    { tokens: 1_000, refillMs: 3_600_000 },
    { tokens: 100, refillMs: 60_000 },
  ],
  tight: [
    { tokens: 40, refillMs: 3_600_000 },
    { tokens: 8, refillMs: 60_000 },
  ],
}
const CHARGE_TTL_MS = 5 * 60_000

const setups: fc.Arbitrary<Setup> = fc.record({
  limits: fc.constantFrom<Setup['limits'][]>('off', 'off', 'off', 'documented', 'tight'),
  catalog: fc.constantFrom<Setup['catalog'][]>('seeded', 'edges', 'edges'),
  keeps: fc.constantFrom(false, false, true),
})
const stepsOf = (commands: typeof COMMANDS): fc.Arbitrary<Step> =>
  fc.oneof(
    ...commands.map(({ does, args, weight }) => ({ weight, arbitrary: args.map((input) => ({ does, with: input })) })),
  )
/** Short scripts see many first requests, long ones see deep states. */
const scripts = (length: number, steps: fc.Arbitrary<Step>): fc.Arbitrary<Script> =>
  fc.record({
    setup: setups,
    steps: fc.oneof(
      { weight: 1, arbitrary: fc.array(steps, { minLength: 1, maxLength: 12, size: 'max' }) },
      { weight: 3, arbitrary: fc.array(steps, { minLength: Math.ceil(length / 2), maxLength: length, size: 'max' }) },
    ),
  })

const byName = new Map(COMMANDS.map((each) => [each.does, each]))
let operations: Promise<Operations> | undefined

/** The result of a script: the lines that were sent, and the problem with the last of them, if there was one. */
export interface Outcome {
  lines: readonly string[]
  stepCount: number
  problem: string | undefined
}

/** Plays a script to a program that is started for it. */
export const playScript = async ({ setup, steps }: Script): Promise<Outcome> => {
  operations ??= readOperations()
  const program = await Program.start(setup, await operations)
  const model = new Model(setup.catalog === 'edges' ? edges : seeded, LIMITS[setup.limits], CHARGE_TTL_MS)
  const play = new Play(program, model)
  let stepCount = 0
  try {
    for (const step of steps) {
      const known = byName.get(step.does)
      if (!known) throw new Error(`no command is called "${step.does}"`)
      await known.run(play, step.with)
      await play.audit()
      stepCount += 1
    }
    await play.audit(true)
    for (const name of model.worlds.keys()) {
      const database = program.database(name)
      if (database) expectSoundBooks(database)
    }
    return { lines: play.lines, stepCount, problem: undefined }
  } catch (error) {
    const problem = error instanceof Finding ? error.message : String(error instanceof Error ? error.stack : error)
    return { lines: play.lines, stepCount: stepCount + 1, problem }
  } finally {
    await program.end()
  }
}

/** A shortened script with a finding, for people and to be kept. */
export interface Found {
  script: Script
  outcome: Outcome
  seed: number
}

export interface RunOptions {
  seed: number
  /** The minimum number of steps, over all scripts. */
  steps: number
  /** The maximum length of a script. */
  length: number
  /** The commands that scripts are made of; all, when left out. */
  commands?: typeof COMMANDS
  /** The number of different findings after which it stops. */
  findingsMax?: number
  onProgress?: (stepsDone: number) => void
  /** Called with each finding at once, because a long run may be stopped. */
  onFound?: (found: Found) => void
}

/** Plays scripts of a seed up to a number of steps, or of different findings. */
export const playSeed = async (options: RunOptions): Promise<{ steps: number; found: readonly Found[] }> => {
  const { seed, steps: stepsMax, length, commands = COMMANDS, findingsMax = 1, onProgress, onFound } = options
  const made = scripts(length, stepsOf(commands))
  const found: Found[] = []
  let done = 0
  for (let round = 0; done < stepsMax && found.length < findingsMax; round++) {
    const roundSeed = (seed * 1_000_003 + round) | 0
    const [script] = fc.sample(made, { seed: roundSeed, numRuns: 1 })
    if (!script) throw new Error('no script')
    const outcome = await playScript(script)
    done += outcome.stepCount
    onProgress?.(done)
    const { problem } = outcome
    if (problem === undefined || found.some(({ outcome }) => isAlike(outcome.problem ?? '', problem))) continue
    const shortened = { ...(await shrink(script, outcome)), seed }
    found.push(shortened)
    onFound?.(shortened)
  }
  return { steps: done, found }
}

/** Removes steps that a finding does not need: halves first, then single ones, then options of the setup. */
const shrink = async (script: Script, outcome: Outcome): Promise<Omit<Found, 'seed'>> => {
  let best = { script: { ...script, steps: script.steps.slice(0, outcome.stepCount) }, outcome }
  const tried = async (candidate: Script): Promise<boolean> => {
    const again = await playScript(candidate)
    if (again.problem === undefined || !isAlike(again.problem, outcome.problem ?? '')) return false
    best = { script: { ...candidate, steps: candidate.steps.slice(0, again.stepCount) }, outcome: again }
    return true
  }
  for (let size = Math.ceil(best.script.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.script.steps.length; ) {
      const { steps } = best.script
      const isShorter = await tried({ ...best.script, steps: [...steps.slice(0, from), ...steps.slice(from + size)] })
      if (!isShorter) from += size
    }
  }
  const simpler: Partial<Setup>[] = [{ keeps: false }, { limits: 'off' }, { catalog: 'seeded' }]
  for (const change of simpler) await tried({ ...best.script, setup: { ...best.script.setup, ...change } })
  await simplerArguments(() => best.script, tried)
  return best
}

/** Leaves out members of the arguments of steps, one by one. */
const simplerArguments = async (
  current: () => Script,
  tried: (candidate: Script) => Promise<boolean>,
): Promise<void> => {
  for (let nth = 0; nth < current().steps.length; nth++) {
    for (const smaller of smallerValues(current().steps[nth]?.with ?? {})) {
      const steps = current().steps.map((step, at) => (at === nth ? { ...step, with: smaller as object } : step))
      await tried({ ...current(), steps })
    }
  }
}

const ORDINARY: Record<string, unknown> = { world: 'default', client: 'sandbox', key: undefined, page: {}, filter: {} }
const smallerValues = (value: object): object[] =>
  Object.entries(value).flatMap(([name, member]) => {
    if (name in ORDINARY && !Bun.deepEquals(member, ORDINARY[name])) return [{ ...value, [name]: ORDINARY[name] }]
    return name === 'who' ? smallerValues(member as object).map((who) => ({ ...value, who })) : []
  })

/** True if two problems are the same except for amounts and ids. */
const isAlike = (one: string, other: string): boolean => bonesOf(one) === bonesOf(other)
const bonesOf = (problem: string): string =>
  problem
    .replace(/ \| .*|[{[].*/s, '')
    .replace(/(?:ben|pyt)_\w+/g, 'an id')
    .replace(/\d{4,}|\b\d{1,2}\b/g, '#')

/** A finding for people: the requests, the problem, and the steps that repeat it. */
export const describeFound = ({ script, outcome, seed }: Found): string =>
  [
    `found with seed ${seed}: ${outcome.problem}`,
    ...outcome.lines.map((line) => `  ${line}`),
    `setup ${JSON.stringify(script.setup)}`,
    ...script.steps.map((step) => `  ${JSON.stringify(step)},`),
  ].join('\n')
