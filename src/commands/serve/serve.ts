import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { isNotifying } from '../../config/environment.ts'
import type { PostgresTarget } from '../../config/postgres-url.ts'
import { SECOND_MS, sinceStartMs } from '../../kernel/clock.ts'
import { everyStep } from '../../kernel/steps.ts'
import { visibleLines } from '../../kernel/visible.ts'
import type { Log } from '../../observability/log.ts'
import type { RecordServer } from '../../record/server.ts'
import { VERSION } from '../../start/version.ts'
import { EXIT, errorText, ProgramError } from '../exit.ts'
import { firstSteps } from './first-steps.ts'
import { greetingOf } from './greeting.ts'
import { notifyReady } from './notify.ts'
import { logOf, startServer, takeOver } from './server.ts'
import { nextStopSignal } from './stop-signal.ts'
import type { HandOver } from './take-over/hand-over.ts'

/** How long requests in flight may take after a stop signal, and connections after a hand-over. */
const DRAIN_MS_MAX = 10 * SECOND_MS

/** After this time, the program exits anyway: the data is safe. */
const STOP_MS_MAX = DRAIN_MS_MAX + SECOND_MS

/** `scrip serve` (contract C1). */
export const serve = async (config: Config): Promise<void> => {
  const log = logOf(config)
  const before = config.takeOver ? await predecessorOf(config, log) : undefined
  const record = config.postgres && (await recordOf(config, config.postgres, log))
  const server = before
    ? await takeOver(config, log, before)
    : await explained(config, () => startServer(config, log, record))
  const stopSignal = nextStopSignal() // listens before anyone learns that there is something to stop
  await before?.tellServed()
  const { handOver } = server
  handOver?.listen()
  try {
    if (config.readyFile !== undefined) writeReadyFile(config.readyFile, server.url)
  } catch (error) {
    if (!before) {
      await server.stop(0)
      throw error
    }
    log.error('the ready file was not written', { cause: String(error) }) // nobody else would serve
  }
  const startupMs = Math.round(sinceStartMs())
  process.stdout.write(
    `ready url=${server.url} mode=${config.mode} version=${VERSION} pid=${process.pid} startup_ms=${startupMs}${roleOf(record)}\n`,
  )
  if (isNotifying()) await notifyReady(log) // after the line, which ends a reload: then systemd is the parent
  if (isForPerson(config)) process.stderr.write(visibleLines(greetingOf(config, server.url)))
  else log.info('listening', { url: server.url, mode: config.mode, data: config.dataDir ?? 'in memory' })
  if (config.mode === 'live' && config.dataDir !== undefined && record?.isServing !== false) {
    const steps = firstSteps(server.worlds.default.db, config.dataDir)
    for (const { lacking, next } of steps) log.info(lacking, { next })
  }
  const fault = await Promise.race([
    handOver ? untilOver(handOver, stopSignal, log) : stopSignal,
    failureOf(config, record),
  ])
  log.info('stopping')
  setTimeout(() => process.exit(EXIT.failed), STOP_MS_MAX)
  try {
    await everyStep([() => handOver?.close(), () => server.stop(DRAIN_MS_MAX)])
  } catch (error) {
    log.error('not all was stopped', { cause: String(error) })
    process.exit(EXIT.failed)
  }
  if (fault) process.stderr.write(errorText(fault.message))
  process.exit(fault?.exitCode ?? EXIT.done)
}

/** Errors of the record in words. Loaded where it is needed. */
const explained = async <T>(config: Config, work: () => Promise<T>): Promise<T> =>
  config.postgres ? (await import('../records/record.ts')).explainRecord(config.dataDir ?? '', work) : work()

/** Why a server can no longer serve its record. Never resolves without a record. */
const failureOf = async (config: Config, record: RecordServer | undefined): Promise<ProgramError> => {
  try {
    return await explained(config, () => record?.failure ?? new Promise<never>(() => undefined))
  } catch (error) {
    if (error instanceof ProgramError) return error
    throw error
  }
}

/** Loaded where it is needed. */
const recordOf = async (config: Config, target: PostgresTarget, log: Log): Promise<RecordServer> =>
  (await import('../records/record.ts')).openRecord(config, target, log)

const roleOf = (record: RecordServer | undefined): string =>
  record ? ` role=${record.state === 'active' ? 'active' : 'warm'}` : ''

/** Whether a person reads the log, which then also gets the messages of the start. */
const isForPerson = ({ logFormat, logLevel }: Config): boolean =>
  process.stderr.isTTY && logFormat === 'pretty' && (logLevel === 'info' || logLevel === 'debug')

/** Loaded where it is needed. */
const predecessorOf = async (config: Config, log: Log) =>
  (await import('./take-over/predecessor.ts')).findPredecessor(config, log)

/** Until a signal, or until clients that keep their connections open have found the server that has taken over. */
const untilOver = async (handOver: HandOver, stopSignal: Promise<void>, log: Log): Promise<void> => {
  await Promise.race([stopSignal, handOver.served])
  await Promise.race([handOver.settled, Bun.sleep(DRAIN_MS_MAX)])
  if (!handOver.hasServed) return
  log.info('handed over')
  await Promise.race([stopSignal, Bun.sleep(DRAIN_MS_MAX)])
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
