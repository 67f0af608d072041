import { writeFileSync } from 'node:fs'
import type { RunConfig } from '../config/config.ts'
import { UsageError } from '../config/environment.ts'
import type { CoverageReport } from '../sandbox/requests/operations.ts'
import { toTable } from '../sandbox/requests/outcomes.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import { EXIT, ProgramError } from './exit.ts'
import { writeReadyFile } from './serve.ts'
import { logOf, type RunningServer, startServer } from './server.ts'

type Environment = Readonly<Record<string, string | undefined>>

const TO_STANDARD_ERROR = '-'

/** `scrip run` (contract C15). Standard input, output and error are the command's own, and so is the exit code. */
export const run = async (config: RunConfig, command: readonly string[], given: Environment): Promise<void> => {
  if (config.world !== undefined && !SandboxWorlds.isName(config.world)) {
    throw new UsageError('--world is lower-case letters, digits, - and _, at most 64')
  }
  const log = logOf(config)
  const server = await startServer(config, log)
  const { sandbox } = server
  if (!sandbox) throw new Error('a configuration of run is one of the sandbox')
  log.info('listening', { url: server.url, data: config.dataDir ?? 'in memory' })
  let exitCode: number
  try {
    if (config.readyFile !== undefined) writeReadyFile(config.readyFile, server.url)
    exitCode = await resultOf(command, { ...given, ...(await accessTo(server, config.world)) })
  } finally {
    await server.stop(0)
  }
  try {
    const report = sandbox.coverage()
    if (config.coverageFile !== undefined) await writeReport(config.coverageFile, report)
    if (exitCode === EXIT.done) refuseUnder(config.failUnderPercent, report)
  } catch (error) {
    if (exitCode === EXIT.done) throw error
    log.error('no coverage report', { cause: String(error) }) // the failure of the command comes first
  }
  process.exit(exitCode)
}

const accessTo = async ({ url, logIn }: RunningServer, world: string | undefined): Promise<Environment> => {
  const username = world === undefined ? 'sandbox' : `sbx_${world}`
  const password = 'sandbox'
  return {
    SCRIP_URL: url,
    SCRIP_USERNAME: username,
    SCRIP_PASSWORD: password,
    SCRIP_ACCESS_TOKEN: await logIn({ username, password }),
  }
}

/** Signals that would end this program and leave the command behind. */
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const

/** Runs a command and passes signals on to it. Returns its exit code as a shell would. @throws ProgramError */
const resultOf = async (command: readonly string[], env: Environment): Promise<number> => {
  // Listened to before there is a command: it may be quicker to say something than this is to go on.
  let child: Bun.Subprocess | undefined
  for (const signal of PASSED_ON) process.on(signal, () => child?.kill(signal))
  child = spawn(command, env)
  return child.exited // 128 and the number of the signal, when it died by one
}

const spawn = (command: readonly string[], env: Environment) => {
  try {
    return Bun.spawn([...command], { env, stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const exitCode = code === 'ENOENT' ? EXIT.commandNotFound : EXIT.commandNotExecutable
    throw new ProgramError(exitCode, `cannot run ${command[0]}: ${message}`)
  }
}

const writeReport = async (file: string, report: CoverageReport): Promise<void> => {
  if (file === TO_STANDARD_ERROR) await Bun.write(Bun.stderr, toTable(report))
  else writeFileSync(file, file.endsWith('.json') ? `${JSON.stringify(report, null, 2)}\n` : toTable(report))
}

const refuseUnder = (percentMin: number | undefined, { exercised, documented, percent }: CoverageReport): void => {
  if (percentMin === undefined || exercised * 100 >= percentMin * documented) return
  throw new ProgramError(
    EXIT.failed,
    `${exercised} of ${documented} documented outcomes were exercised: ${percent} % is under ${percentMin} %`,
  )
}
