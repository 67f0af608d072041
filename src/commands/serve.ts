import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { visibleLines } from '../kernel/visible.ts'
import { VERSION } from '../start/version.ts'
import { EXIT } from './exit.ts'
import { firstSteps } from './first-steps.ts'
import { greetingOf } from './greeting.ts'
import { logOf, startServer } from './server.ts'
import { nextStopSignal } from './stop-signal.ts'

/** How long requests in flight may take after a stop signal. */
const DRAIN_MS_MAX = 10 * SECOND_MS

/** `scrip serve` (contract C1). */
export const serve = async (config: Config): Promise<void> => {
  const log = logOf(config)
  const server = await startServer(config, log)
  const stopSignal = nextStopSignal() // listens before anyone learns that there is something to stop
  try {
    if (config.readyFile !== undefined) writeReadyFile(config.readyFile, server.url)
  } catch (error) {
    await server.stop(0)
    throw error
  }
  const startupMs = Math.round(sinceStartMs())
  process.stdout.write(
    `ready url=${server.url} mode=${config.mode} version=${VERSION} pid=${process.pid} startup_ms=${startupMs}\n`,
  )
  if (isForPerson(config)) process.stderr.write(visibleLines(greetingOf(config, server.url)))
  else log.info('listening', { url: server.url, mode: config.mode, data: config.dataDir ?? 'in memory' })
  if (config.mode === 'live' && config.dataDir !== undefined) {
    const steps = firstSteps(server.worlds.default.db, config.dataDir)
    for (const { lacking, next } of steps) log.info(lacking, { next })
  }
  await stopSignal
  log.info('stopping')
  await server.stop(DRAIN_MS_MAX)
  process.exit(EXIT.done)
}

/** Whether a person reads the log, in which what a server says at its start belongs. */
const isForPerson = ({ logFormat, logLevel }: Config): boolean =>
  process.stderr.isTTY && logFormat === 'pretty' && (logLevel === 'info' || logLevel === 'debug')

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
