import { availableParallelism, constants } from 'node:os'
import type { ExploreConfig } from '../../config/config.ts'
import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'
import { freshSeed } from '../../kernel/ids.ts'
import type { Log } from '../../observability/log.ts'
import {
  consequenceOf,
  differencesOf,
  type PurchasesByWorld,
  purchasesByWorld,
} from '../../sandbox/explore/comparison.ts'
import type { RunFault } from '../../sandbox/explore/exploration.ts'
import { type PlannedRun, partingOf, planOf, type RunResult } from '../../sandbox/explore/plan.ts'
import type { Write } from '../../sandbox/explore/writes.ts'
import { EXIT, type ExitCode, ProgramError } from '../exit.ts'
import { withProgress } from '../progress.ts'
import { logOf, startServer } from '../server.ts'
import type { Environment } from './child.ts'
import { appendJobSummary } from './evidence.ts'
import { asMarkdown, type ExploredRun, explorationReport } from './exploration-report.ts'
import { ExploredCommand } from './explored-command.ts'
import { accessTo } from './run.ts'

/** Runs beside it slow a run down, and clients wait before they retry. */
const TIMES_FIRST_RUN = 10
const TIMEOUT_MS_MIN = 30 * SECOND_MS
/** Test suites wait more than they compute. */
const JOBS_PER_PROCESSOR = 2

interface Run extends RunResult {
  /** Undefined if it was ended after its time limit. */
  exitCode: number | undefined
  durationMs: number
  lost: Write | undefined
  /** Whether a fault of events has struck. */
  hasStruck: boolean
}

interface RunOptions {
  output: 'inherit' | 'ignore'
  fault?: RunFault
  timeoutMs?: number
}

/** `scrip run --explore`: runs a command again for each fault that can strike it (contract C15, decision 49). */
export const explore = async (
  givenConfig: ExploreConfig,
  words: readonly string[],
  given: Environment,
): Promise<void> => {
  const config = { ...givenConfig, seed: givenConfig.seed ?? freshSeed() }
  const log = logOf(config)
  const command = new ExploredCommand(words)
  const run = (options: RunOptions) => runOnce(config, log, command, given, options)
  const first = await run({ output: 'inherit' })
  exitIf(command)
  if (first.exitCode !== EXIT.done) {
    await Bun.write(Bun.stderr, 'scrip: the command failed without a fault: nothing was explored\n')
    process.exit(first.exitCode)
  }
  const timeoutMs = config.explore.timeoutMs ?? Math.max(TIMEOUT_MS_MIN, first.durationMs * TIMES_FIRST_RUN)
  const second = await run({ output: 'ignore', timeoutMs })
  exitIf(command)
  if (second.exitCode !== EXIT.done) throw different('the second one failed')
  const plan = planOf(first, second, config.explore.writesMax)
  if (!plan) throw different(partingOf(first.results, second.results))
  const jobs = config.explore.jobs ?? availableParallelism() * JOBS_PER_PROCESSOR
  const explored = await exploreAll(plan.runs, jobs, command, (fault) => run({ output: 'ignore', fault, timeoutMs }))
  const report = explorationReport(plan, explored)
  await Bun.write(Bun.stderr, report)
  const { jobSummaryFile } = config.evidence
  if (jobSummaryFile !== undefined) appendJobSummary(jobSummaryFile, asMarkdown(report), log)
  exitIf(command)
  process.exit(exitCodeOf(explored))
}

const different = (parting: string) =>
  new ProgramError(EXIT.failed, `two runs without a fault differ, so that nothing can be compared: ${parting}`)

/** Ends as a shell does when a signal has ended a command. */
const exitIf = ({ signal }: ExploredCommand): void => {
  if (signal) process.exit(SIGNAL_EXIT + constants.signals[signal])
}
const SIGNAL_EXIT = 128

const FINDINGS: readonly ExploredRun['consequence'][] = ['too many', 'too few', 'not reached']

const exitCodeOf = (explored: readonly ExploredRun[]): ExitCode =>
  explored.some(({ consequence }) => FINDINGS.includes(consequence)) ? EXIT.failed : EXIT.done

/** Runs the command on a server of its own, so that all of its worlds are new. */
const runOnce = async (
  config: ExploreConfig,
  log: Log,
  command: ExploredCommand,
  given: Environment,
  { output, fault = {}, timeoutMs }: RunOptions,
): Promise<Run> => {
  const server = await startServer(config, log)
  try {
    const exploration = server.sandbox?.explore(fault)
    if (!exploration) throw new Error('a configuration of run is one of the sandbox')
    // A scrip run within the command explores nothing.
    const env = { ...given, SCRIP_EXPLORE: undefined, ...(await accessTo(server, config.world)) }
    const beganMs = sinceStartMs()
    const exitCode = await command.run(env, output, timeoutMs)
    const durationMs = sinceStartMs() - beganMs
    const results = await exploration.results(server.due)
    const { log: writes, events } = exploration
    return { exitCode, durationMs, results, lost: writes.lost, eventFaults: events.faults, hasStruck: events.hasStruck }
  } finally {
    await server.stop(0)
  }
}

/** Makes the runs, several at a time, and returns them in their order; fewer if a signal ends it. */
const exploreAll = async (
  runs: readonly PlannedRun[],
  jobs: number,
  command: ExploredCommand,
  run: (fault: RunFault) => Promise<Run>,
): Promise<ExploredRun[]> => {
  const explored: ExploredRun[] = []
  const waiting = runs.entries()
  let done = 0
  await withProgress(0, async (onProgress) => {
    const work = async (): Promise<void> => {
      for (const [index, planned] of waiting) {
        const ended = await run(planned.fault)
        if (command.signal) return
        explored[index] = { ...planned, ...assess(planned, ended) }
        done += 1
        onProgress('exploring', done, runs.length)
      }
    }
    await Promise.all(Array.from({ length: Math.min(jobs, runs.length) }, work))
  })
  return explored.filter((run) => run !== undefined)
}

const assess = (planned: PlannedRun, run: Run): Pick<ExploredRun, 'consequence' | 'differences'> => {
  const found = foundIn(planned, run)
  if (!found) return { consequence: planned.write ? 'not reached' : 'not sent', differences: [] }
  const differences = differencesOf(planned.expected, found, planned.byName)
  const consequence = consequenceOf(differences, run.exitCode === EXIT.done)
  return { consequence: consequence === 'failed' && run.exitCode === undefined ? 'cut off' : consequence, differences }
}

/** What the worlds hold that the fault could reach; undefined if it has not struck. */
const foundIn = ({ write, byName }: PlannedRun, { lost, hasStruck, results }: Run): PurchasesByWorld | undefined => {
  if (!write) return hasStruck ? purchasesByWorld(results, byName) : undefined
  const found = results.find((result) => result.write === lost)
  return found && new Map([[write.world.name, found.purchases]])
}
