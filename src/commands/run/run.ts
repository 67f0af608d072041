import type { RunConfig } from '../../config/config.ts'
import { UsageError } from '../../config/environment.ts'
import { SandboxWorlds } from '../../sandbox/worlds/worlds.ts'
import { EXIT } from '../exit.ts'
import { writeReadyFile } from '../serve.ts'
import { logOf, type RunningServer, startServer } from '../server.ts'
import { type Environment, exitCodeOf, passSignalsOn } from './child.ts'
import { refuseUnder, writeCoverage } from './coverage.ts'

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
    const env = { ...given, ...(await accessTo(server, config.world)) }
    passSignalsOn()
    exitCode = await exitCodeOf(command, env)
  } finally {
    await server.stop(0)
  }
  try {
    const report = sandbox.coverage()
    if (config.coverageFile !== undefined) await writeCoverage(config.coverageFile, report)
    if (exitCode === EXIT.done) refuseUnder(config.failUnderPercent, report)
  } catch (error) {
    if (exitCode === EXIT.done) throw error
    log.error('no coverage report', { cause: String(error) }) // the failure of the command comes first
  }
  process.exit(exitCode)
}

/** The variables that tell a command where the sandbox is, and who it is there. */
export const accessTo = async ({ url, logIn }: RunningServer, world: string | undefined): Promise<Environment> => {
  const username = world === undefined ? 'sandbox' : `sbx_${world}`
  const password = 'sandbox'
  return {
    SCRIP_URL: url,
    SCRIP_USERNAME: username,
    SCRIP_PASSWORD: password,
    SCRIP_ACCESS_TOKEN: await logIn({ username, password }),
  }
}
