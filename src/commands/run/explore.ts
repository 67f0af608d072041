import { availableParallelism, constants } from 'node:os'
import type { ExploreConfig } from '../../config/config.ts'
import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'
import { freshSeed } from '../../kernel/ids.ts'
import type { Log } from '../../observability/log.ts'
import { consequenceOf, differencesOf } from '../../sandbox/explore/comparison.ts'
import type { WriteResult } from '../../sandbox/explore/exploration.ts'
import { type PlannedLoss, partingOf, planOf } from '../../sandbox/explore/plan.ts'
import type { Loss, Write } from '../../sandbox/explore/writes.ts'
import { EXIT, type ExitCode, ProgramError } from '../exit.ts'
import { withProgress } from '../progress.ts'
import { logOf, startServer } from '../server.ts'
import type { Environment } from './child.ts'
import { appendJobSummary } from './evidence.ts'
import { asMarkdown, type ExploredLoss, explorationReport } from './exploration-report.ts'
import { ExploredCommand } from './explored-command.ts'
import { accessTo } from './run.ts'

/** Runs beside it slow a run down, and clients wait before they retry. */
const TIMES_FIRST_RUN = 10
const TIMEOUT_MS_MIN = 30 * SECOND_MS
/** Test suites wait more than they compute. */
const JOBS_PER_PROCESSOR = 2

interface Run {
  /** Undefined if it was ended after its time limit. */
  exitCode: number | undefined
  durationMs: number
  results: readonly WriteResult[]
  lost: Write | undefined
}

interface RunOptions {
  output: 'inherit' | 'ignore'
  loss?: Loss
  timeoutMs?: number
}

/** `scrip run --explore`: runs a command again for each response that can be lost (contract C15, decision 49). */
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
    await Bun.write(Bun.stderr, 'scrip: the command failed without a lost response: nothing was explored\n')
    process.exit(first.exitCode)
  }
  const timeoutMs = config.explore.timeoutMs ?? Math.max(TIMEOUT_MS_MIN, first.durationMs * TIMES_FIRST_RUN)
  const second = await run({ output: 'ignore', timeoutMs })
  exitIf(command)
  if (second.exitCode !== EXIT.done) throw different('the second one failed')
  const plan = planOf(first.results, second.results, config.explore.writesMax)
  if (!plan) throw different(partingOf(first.results, second.results))
  const jobs = config.explore.jobs ?? availableParallelism() * JOBS_PER_PROCESSOR
  const explored = await exploreAll(plan.losses, jobs, command, (loss) => run({ output: 'ignore', loss, timeoutMs }))
  const report = explorationReport(plan, explored)
  await Bun.write(Bun.stderr, report)
  const { jobSummaryFile } = config.evidence
  if (jobSummaryFile !== undefined) appendJobSummary(jobSummaryFile, asMarkdown(report), log)
  exitIf(command)
  process.exit(exitCodeOf(explored))
}

const different = (parting: string) =>
  new ProgramError(EXIT.failed, `two runs without a lost response differ, so that nothing can be compared: ${parting}`)

/** Ends as a shell does when a signal has ended a command. */
const exitIf = ({ signal }: ExploredCommand): void => {
  if (signal) process.exit(SIGNAL_EXIT + constants.signals[signal])
}
const SIGNAL_EXIT = 128

const FINDINGS: readonly ExploredLoss['consequence'][] = ['too many', 'too few', 'not reached']

const exitCodeOf = (explored: readonly ExploredLoss[]): ExitCode =>
  explored.some(({ consequence }) => FINDINGS.includes(consequence)) ? EXIT.failed : EXIT.done

/** Runs the command on a server of its own, so that all of its worlds are new. */
const runOnce = async (
  config: ExploreConfig,
  log: Log,
  command: ExploredCommand,
  given: Environment,
  { output, loss, timeoutMs }: RunOptions,
): Promise<Run> => {
  const server = await startServer(config, log)
  try {
    const exploration = server.sandbox?.explore(loss)
    if (!exploration) throw new Error('a configuration of run is one of the sandbox')
    // A scrip run within the command explores nothing.
    const env = { ...given, SCRIP_EXPLORE: undefined, ...(await accessTo(server, config.world)) }
    const beganMs = sinceStartMs()
    const exitCode = await command.run(env, output, timeoutMs)
    const durationMs = sinceStartMs() - beganMs
    return { exitCode, durationMs, results: await exploration.results(server.due), lost: exploration.log.lost }
  } finally {
    await server.stop(0)
  }
}

/** Explores the losses, several at a time, and returns them in their order; fewer if a signal ends it. */
const exploreAll = async (
  losses: readonly PlannedLoss[],
  jobs: number,
  command: ExploredCommand,
  run: (loss: Loss) => Promise<Run>,
): Promise<ExploredLoss[]> => {
  const explored: ExploredLoss[] = []
  const waiting = losses.entries()
  let done = 0
  await withProgress(0, async (onProgress) => {
    const work = async (): Promise<void> => {
      for (const [index, planned] of waiting) {
        const ended = await run(planned.loss)
        if (command.signal) return
        explored[index] = { ...planned, ...assess(planned, ended) }
        done += 1
        onProgress('exploring', done, losses.length)
      }
    }
    await Promise.all(Array.from({ length: Math.min(jobs, losses.length) }, work))
  })
  return explored.filter((loss) => loss !== undefined)
}

const assess = (
  { loss, purchases }: PlannedLoss,
  { exitCode, lost, results }: Run,
): Pick<ExploredLoss, 'consequence' | 'differences'> => {
  const found = results.find(({ write }) => write === lost)
  if (!found) return { consequence: 'not reached', differences: [] }
  const differences = differencesOf(purchases, found.purchases, loss.byName)
  const consequence = consequenceOf(differences, exitCode === EXIT.done)
  return { consequence: consequence === 'failed' && exitCode === undefined ? 'cut off' : consequence, differences }
}
