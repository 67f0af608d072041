import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { isNotifying } from '../../config/environment.ts'
import { DEFAULT_CREDENTIAL } from '../../config/option-table.ts'
import type { PostgresTarget } from '../../config/postgres-url.ts'
import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'
import { EXIT, errorText, ProgramError } from '../../kernel/exit.ts'
import { visibleLines } from '../../kernel/visible.ts'
import type { Log } from '../../observability/log.ts'
import type { ReplicatedServer } from '../../replication/server.ts'
import { VERSION } from '../../start/version.ts'
import { explainFaults } from '../advice.ts'
import { print } from '../terminal/output.ts'
import { logOf, startServer } from './server.ts'
import { nextStopSignal } from './stop-signal.ts'

/** The time limit of requests in flight after a stop signal. */
const DRAIN_MS_MAX = 10 * SECOND_MS

/** After this time, the program exits anyway: the data is safe. */
const STOP_MS_MAX = DRAIN_MS_MAX + SECOND_MS

/** `scrip serve` (contract C1). */
export const serve = async (config: Config): Promise<void> => {
  const log = logOf(config)
  if (config.isTrial) return (await import('./trial-start.ts')).startOnCopy(config, log)
  const replica = config.postgres && (await replicationOf(config, config.postgres, log))
  const server = await explainFaults(config.dataDir ?? '', () => startServer(config, log, replica))
  // Listens before anyone learns that the server runs.
  const stopSignal = config.mode === 'sandbox' ? nextStopSignal('SIGHUP') : nextStopSignal()
  // A rotation of logs must not stop the service.
  if (config.mode === 'live') process.on('SIGHUP', () => log.info('SIGHUP changes nothing in live mode'))
  try {
    if (config.readyFile !== undefined) writeReadyFile(config.readyFile, server.url)
  } catch (error) {
    await server.stop(0)
    throw error
  }
  const startupMs = Math.round(sinceStartMs())
  // A server serves on, also where nobody can read its address.
  print(
    `ready url=${server.url} mode=${config.mode} version=${VERSION} pid=${process.pid} startup_ms=${startupMs}${roleOf(replica)}\n`,
  ).catch(({ message }: Error) => log.error(message, { url: server.url }))
  if (isNotifying()) await notifyReady(log)
  if (isForPerson(config)) process.stderr.write(visibleLines(greetingOf(config, server.url)))
  else log.info('listening', { url: server.url, mode: config.mode, data: config.dataDir ?? 'in memory' })
  const fault = await Promise.race([stopSignal, failureOf(config, replica)])
  log.info('stopping')
  setTimeout(() => process.exit(EXIT.failed), STOP_MS_MAX)
  try {
    await server.stop(DRAIN_MS_MAX)
  } catch (error) {
    log.error('not everything was stopped', { cause: String(error) })
    process.exit(EXIT.failed)
  }
  if (fault) process.stderr.write(errorText(fault.message))
  process.exit(fault?.exitCode ?? EXIT.done)
}

/** The greeting on a terminal, below the ready line: the addresses, the credentials, and how to stop. */
const greetingOf = ({ mode, dataDir }: Config, url: string): string =>
  Object.entries({
    Open: mode === 'sandbox' ? url : `${url}/docs`,
    'Log in': mode === 'sandbox' ? SANDBOX_LOGIN : 'as a client: scrip client add NAME prints its password',
    Data: dataDir ?? 'in memory; --data-dir DIR keeps it',
    Stop: 'Ctrl+C',
  })
    .map(([name, text]) => `${name.padEnd(NAME_WIDTH)}${text}\n`)
    .join('')

const NAME_WIDTH = 8
// In the sandbox, an account's password is its name.
const SANDBOX_LOGIN = `${DEFAULT_CREDENTIAL} / ${DEFAULT_CREDENTIAL}, or sbx_NAME and any password for a world of your own`

/** Resolves to the reason why a server can no longer serve its installation. Never resolves without PostgreSQL. */
const failureOf = async ({ dataDir = '' }: Config, replica: ReplicatedServer | undefined): Promise<ProgramError> => {
  try {
    return await explainFaults(dataDir, () => replica?.failure ?? new Promise<never>(() => undefined))
  } catch (error) {
    if (error instanceof ProgramError) return error
    throw error
  }
}

/** Opens replication. The module is loaded when it is needed. */
const replicationOf = async (config: Config, target: PostgresTarget, log: Log): Promise<ReplicatedServer> =>
  (await import('../records/replication.ts')).openReplication(config, target, log)

const roleOf = (replica: ReplicatedServer | undefined): string =>
  replica ? ` role=${replica.state === 'active' ? 'active' : 'warm'}` : ''

/** True if a person reads the log, which then also gets the messages of the start. */
const isForPerson = ({ logFormat, logLevel }: Config): boolean =>
  process.stderr.isTTY && logFormat === 'pretty' && (logLevel === 'info' || logLevel === 'debug')

/**
 * Tells systemd that this process serves, and is the main process of its unit from now on. The runtime has no datagram
 * sockets in the file system; wherever systemd runs, there is a command for them.
 */
const notifyReady = async (log: Log): Promise<void> => {
  try {
    const child = Bun.spawn(['systemd-notify', '--ready', `--pid=${process.pid}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if ((await child.exited) !== 0) throw new Error(await child.stderr.text())
  } catch (error) {
    log.warn('systemd was not notified', { cause: String(error) })
  }
}

/** Replaces a file in one step, but writes into a pipe or a device. */
export const writeReadyFile = (file: string, url: string): void => {
  if (existsSync(file) && !statSync(file).isFile()) {
    writeFileSync(file, `${url}\n`)
    return
  }
  const staged = `${file}.${process.pid}`
  writeFileSync(staged, `${url}\n`)
  renameSync(staged, file)
}
