import { availableParallelism, constants } from 'node:os'
import type { ExploreConfig } from '../../../config/config.ts'
import { SECOND_MS, sinceStartMs } from '../../../kernel/clock.ts'
import { EXIT, type ExitCode, errorText, refused } from '../../../kernel/exit.ts'
import { freshSeed } from '../../../kernel/ids.ts'
import type { Log } from '../../../observability/log.ts'
import { consequenceOf, differencesOf } from '../../../sandbox/explore/comparison.ts'
import type { WriteResult } from '../../../sandbox/explore/exploration.ts'
import { type PlannedRun, partingOf, planOf } from '../../../sandbox/explore/plan.ts'
import type { Loss, Write } from '../../../sandbox/explore/writes.ts'
import type { CoverageReport } from '../../../sandbox/requests/contract.ts'
import type { RecordingListener } from '../../../sandbox/requests/request-log.ts'
import { logOf, startServer } from '../../serve/server.ts'
import { progressOf, withProgress } from '../../terminal/progress.ts'
import { Command, type EndedCommand, type Environment } from './command.ts'
import { type ExploredRun, explorationReport } from './exploration-report.ts'
import { accessTo } from './run.ts'
import { Summary } from './summary.ts'

/** Other runs slow a run down, and clients wait before they retry. */
const TIMES_FIRST_RUN = 10
const TIMEOUT_MS_MIN = 30 * SECOND_MS

interface Run extends Pick<EndedCommand, 'exitCode' | 'durationMs'> {
  results: readonly WriteResult[]
  /** The write whose response was lost. */
  lost: Write | undefined
  report: CoverageReport
}

interface RunOptions {
  output: 'inherit' | 'ignore'
  loss?: Loss
  timeoutMs?: number
  onRecorded?: RecordingListener
}

/** `scrip run --explore`: runs a command again for each response that can be lost (contract C15, decision 49). */
export const explore = async (
  givenConfig: ExploreConfig,
  words: readonly string[],
  outer: Environment,
): Promise<void> => {
  const config = { ...givenConfig, seed: givenConfig.seed ?? freshSeed() }
  const summary = new Summary(config.evidence.summary)
  const log = logOf(config)
  const command = new Command(words)
  const run = (options: RunOptions) => runOnce(config, log, command, outer, options)
  const first = await run({ output: 'inherit', onRecorded: summary.requests.add })
  exitIf(command)
  if (first.exitCode !== EXIT.done) {
    summary.write({ words, exitCode: first.exitCode ?? EXIT.failed, report: first.report })
    await Bun.write(Bun.stderr, errorText('the command failed without a fault\nNothing was explored.'))
    process.exit(first.exitCode)
  }
  const timeoutMs = config.explore.timeoutMs ?? Math.max(TIMEOUT_MS_MIN, first.durationMs * TIMES_FIRST_RUN)
  const second = await run({ output: 'ignore', timeoutMs })
  exitIf(command)
  if (second.exitCode !== EXIT.done) throw different('the second one failed')
  const plan = planOf(first.results, second.results, config.explore.writesMax)
  if (!plan) throw different(partingOf(first.results, second.results) ?? 'in what they write')
  const jobs = config.explore.jobs ?? availableParallelism()
  const explored = await exploreAll(plan.runs, jobs, command, async (planned) => {
    const ended = await run({ output: 'ignore', loss: planned.loss, timeoutMs })
    return { ...planned, ...assess(planned, ended, first) }
  })
  await Bun.write(Bun.stderr, explorationReport(plan, explored))
  exitIf(command)
  summary.write({ words, exitCode: exitCodeOf(explored), report: first.report, explored })
  // Within another scrip run, the command may write to the other sandbox.
  if (plan.writeCount === 0 && outer.SCRIP_ACCESS_TOKEN === undefined) process.exit(EXIT.failed)
  process.exit(exitCodeOf(explored))
}

const different = (parting: string) => refused(`two runs without a fault differ: ${parting}\nNothing can be compared.`)

/** Ends as a shell does when a signal has ended a command. */
const exitIf = ({ signal }: Command): void => {
  if (signal) process.exit(SIGNAL_EXIT + constants.signals[signal])
}
const SIGNAL_EXIT = 128

const FINDINGS: readonly ExploredRun['consequence'][] = ['too many', 'too few', 'not reached']

const exitCodeOf = (explored: readonly ExploredRun[]): ExitCode =>
  explored.some(({ consequence }) => FINDINGS.includes(consequence)) ? EXIT.failed : EXIT.done

/** Runs the command on a new server, so that all of its worlds are new. */
const runOnce = async (
  config: ExploreConfig,
  log: Log,
  command: Command,
  outer: Environment,
  { output, loss, timeoutMs, onRecorded }: RunOptions,
): Promise<Run> => {
  const server = await startServer(config, log)
  try {
    const exploration = server.sandbox?.explore(loss)
    if (!server.sandbox || !exploration) throw new Error('a configuration of run is one of the sandbox')
    if (onRecorded) server.sandbox.onRecorded(onRecorded)
    // A scrip run inside the command does not explore.
    const env = { ...outer, SCRIP_EXPLORE: undefined, ...(await accessTo(server)) }
    const { exitCode, durationMs } = await command.run(env, { as: 'detached', output, timeoutMs })
    const results = await exploration.results(server.due)
    return { exitCode, durationMs, results, lost: exploration.lost, report: server.sandbox.coverage() }
  } finally {
    await server.stop(0)
  }
}

/** Makes the runs, several at a time, and returns them in their order; fewer if a signal ends it. */
const exploreAll = async (
  runs: readonly PlannedRun[],
  jobs: number,
  command: Command,
  exploreOne: (planned: PlannedRun) => Promise<ExploredRun>,
): Promise<ExploredRun[]> => {
  const explored = new Map<PlannedRun, ExploredRun>()
  const beganMs = sinceStartMs()
  await withProgress((onProgress) =>
    inParallel(runs, jobs, async (planned) => {
      if (command.signal) return
      const ended = await exploreOne(planned)
      if (command.signal) return
      explored.set(planned, ended)
      onProgress(`exploring ${progressOf(explored.size, runs.length, sinceStartMs() - beganMs)}`, 0, 0)
    }),
  )
  return runs.flatMap((planned) => explored.get(planned) ?? [])
}

const inParallel = async <Item>(items: readonly Item[], jobs: number, work: (item: Item) => Promise<void>) => {
  const waiting = items.values()
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker))
}

type Assessment = Pick<ExploredRun, 'consequence' | 'differences' | 'isResent'>

const assess = ({ write, expected, loss }: PlannedRun, run: Run, first: Run): Assessment => {
  const found = run.results.find((result) => result.write === run.lost)
  if (!found) return { consequence: 'not reached', differences: [], isResent: false }
  const differences = differencesOf(expected, found.purchases, loss.byName)
  const consequence = consequenceOf(differences, run.exitCode === EXIT.done)
  return {
    consequence: consequence === 'failed' && run.exitCode === undefined ? 'cut off' : consequence,
    differences,
    isResent: timesDone(found.write, run) > timesDone(write, first),
  }
}

/** The number of writes in a run that are done and equal this one to the last byte. */
const timesDone = ({ world, client, method, route, body }: Write, { results }: Run): number =>
  results.filter(
    ({ write }) =>
      write.isDone &&
      write.world.name === world.name &&
      write.client === client &&
      write.method === method &&
      write.route === route &&
      write.body === body,
  ).length
