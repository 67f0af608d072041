import { existsSync } from 'node:fs'
import type { RunConfig } from '../../../config/config.ts'
import { DEFAULT_CREDENTIAL } from '../../../config/option-table.ts'
import { databasePath } from '../../../folder/files.ts'
import { isOfMode } from '../../../folder/mode.ts'
import { EXIT, refused, unusable } from '../../../kernel/exit.ts'
import type { Log } from '../../../observability/log.ts'
import type { CoverageReport } from '../../../sandbox/requests/contract.ts'
import { clockOf, keepClock } from '../../../sandbox/worlds/state.ts'
import type { Worlds } from '../../../work/worlds.ts'
import { writeReadyFile } from '../../serve/serve.ts'
import { logOf, type RunningServer, startServer } from '../../serve/server.ts'
import { Command, type Environment } from './command.ts'
import { type Ended, Evidence } from './evidence.ts'
import { Summary } from './summary.ts'

/** `scrip run` (contract C15). Standard input, output and error are the command's own, and so is the exit code. */
export const run = async (config: RunConfig, command: readonly string[], outer: Environment): Promise<void> => {
  process.exit(await runInSandbox(config, command, outer))
}

/** @throws ProgramError */
const runInSandbox = async (config: RunConfig, command: readonly string[], outer: Environment): Promise<number> => {
  const summary = new Summary(config.evidence.summary)
  requireSandbox(config)
  using evidence = new Evidence(config.evidence)
  const log = logOf(config)
  const server = await startServer(config, log)
  const { sandbox } = server
  if (!sandbox) throw new Error('a configuration of run is one of the sandbox')
  log.info('listening', { url: server.url, data: config.dataDir ?? 'in memory' })
  let ended: Ended | undefined
  try {
    if (config.readyFile !== undefined) writeReadyFile(config.readyFile, server.url)
    sandbox.onRecorded(summary.requests.add)
    evidence.begin(server.url, sandbox)
    const env = { ...outer, ...(await accessTo(server)) }
    const { exitCode = EXIT.failed } = await new Command(command).run(env, { as: 'inherit' })
    const report = sandbox.coverage()
    const shortfall = shortfallOf(report, config.evidence.coveragePercentMin)
    ended = { exitCode, report, shortfall }
    summary.write({ words: command, ...ended })
    await freezeClocks(server.worlds)
  } finally {
    await server.stop(0, () => ended && conclude(ended, evidence, log))
  }
  return ended.exitCode
}

/** @throws ProgramError for the folder of live mode, which a shell may name for other commands */
const requireSandbox = ({ dataDir, dataDirBy }: RunConfig): void => {
  if (dataDir === undefined) return
  const path = databasePath(dataDir)
  if (!existsSync(path) || !isOfMode(path, 'live')) return
  const advice = dataDirBy.startsWith('-') ? 'Leave it out' : `Unset ${dataDirBy}`
  throw unusable(
    `${dataDirBy} names ${dataDir}, which contains live data: scrip run leaves it alone\n${advice} to run in memory, or use another folder.`,
  )
}

/** Says that the coverage is too low; undefined if it is not. */
const shortfallOf = ({ exercised, documented, percent }: CoverageReport, percentMin = 0): string | undefined =>
  exercised * 100 < percentMin * documented
    ? `${exercised} of ${documented} documented outcomes covered: ${percent} % is less than ${percentMin} %`
    : undefined

/** Nothing expires or moves until somebody looks at the data that the run has left in its folder. */
const freezeClocks = async (worlds: Worlds): Promise<void> => {
  for (const world of worlds.all) {
    clockOf(world).freeze()
    await keepClock(world)
  }
}

/** The failure of the command takes precedence. @throws ProgramError if only the evidence has failed */
const conclude = async (ended: Ended, evidence: Evidence, log: Log): Promise<void> => {
  const { exitCode, shortfall } = ended
  if (exitCode !== EXIT.done) process.stderr.write(evidence.failedRequests)
  const isWhole = await evidence.end(ended, log)
  if (exitCode !== EXIT.done) return
  if (shortfall !== undefined) throw refused(shortfall)
  if (!isWhole) throw refused('not all files could be written\nThe log says why.')
}

/** The variables that give a command the address of the sandbox, and its credentials. */
export const accessTo = async ({ url, logIn }: RunningServer): Promise<Environment> => {
  const [username, password] = [DEFAULT_CREDENTIAL, DEFAULT_CREDENTIAL]
  return {
    SCRIP_URL: url,
    SCRIP_USERNAME: username,
    SCRIP_PASSWORD: password,
    SCRIP_ACCESS_TOKEN: await logIn({ username, password }),
  }
}
