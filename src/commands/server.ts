import { createApp } from '../app/app.ts'
import type { Deps } from '../app/services.ts'
import type { FailedLogins } from '../audit/failed-logins.ts'
import { CatalogFault } from '../catalog/document.ts'
import { RatesFault } from '../charges/rates.ts'
import { type Config, urlOf } from '../config/config.ts'
import { UsageError, wantsColor } from '../config/environment.ts'
import { renderFailure, STRUCTURED } from '../http/errors.ts'
import { type Listening, type ListenOptions, listen } from '../http/listen.ts'
import { JSON_TYPE } from '../http/responses.ts'
import { pathOf } from '../http/target.ts'
import { SECOND_MS, systemClock } from '../kernel/clock.ts'
import { DomainError, INTERNAL } from '../kernel/failure.ts'
import { createLog, LineSink, type Log } from '../observability/log.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { StorageWatch } from '../observability/storage-watch.ts'
import { ScenarioFault } from '../sandbox/scenario/loading.ts'
import { assemble } from '../start/assemble.ts'
import { VERSION } from '../start/version.ts'
import { attemptTotals } from '../webhooks/deliveries.ts'
import type { DueWork } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import type { Worlds } from '../worlds/worlds.ts'
import { fileFault } from './advice.ts'
import { EXIT, ProgramError } from './exit.ts'
import { watchOperations } from './warnings.ts'

const METRICS_PATH = '/metrics'

export const logOf = ({ logLevel, logFormat }: Config): Log => {
  const sink = new LineSink(process.stderr, (count) => log.warn('lines of this log were dropped unread', { count }))
  const log = createLog({
    level: logLevel,
    format: logFormat,
    color: wantsColor(process.stderr.isTTY),
    columns: process.stderr.isTTY ? () => process.stderr.columns : undefined,
    clock: systemClock,
    write: sink.write,
  })
  return log
}

/** Opens, migrates, seeds and binds (contract C1). @throws ProgramError when data or address cannot be used */
export const startServer = async (config: Config, log: Log) => {
  const platform = openPlatform(config, log)
  const { worlds, nextRequestId } = platform
  const metrics = config.metrics && (await createMetrics({ version: VERSION, mode: config.mode, worlds }))
  let stopping = false
  let answer: ListenOptions['answer'] = () => new Response(null, { status: 503 })
  const metricsServer = metrics && serveMetrics(config, metrics, log)
  const onEscape = (error: Error) => unexpectedError(error, nextRequestId(), log)
  const server = bind({ ...config, answer: (request) => answer(request), onEscape }, metricsServer)
  const url = urlOf(config.host, server.port)
  const listeners = [log.requests, metrics?.listener].filter((listener) => listener !== undefined)
  const publicUrl = config.publicUrl ?? url
  const deps = platform.deps({ publicUrl, addressOf: server.addressOf, isClosing: () => stopping, listeners })
  const { handle, due, deliveries, failedLogins, logIn, tick } = appOf(deps, config, server)
  answer = handle
  metrics?.watchDue(due)
  metrics?.watchAttempts(attemptTotals)
  if (config.mode === 'live' && metrics) watchOperations(metrics, worlds.default, deps.reference)
  const recordFailed = () => (failedLogins ? recordFailedLogins(failedLogins, worlds.default, log) : undefined)
  const timekeeper = keepTime(due, worlds, log, () => {
    tick()
    if (failedLogins?.isDue(worlds.default.clock.nowMs())) void recordFailed()
  })
  return {
    url,
    sandbox: deps.sandbox,
    due,
    worlds,
    seed: platform.seed,
    logIn,
    /** Refuses new requests, gives those in flight some milliseconds to finish, and closes the data, after a last use. */
    stop: async (drainMsMax: number, lastUse?: () => unknown): Promise<void> => {
      stopping = true
      clearInterval(timekeeper)
      deps.sandbox?.stop()
      await Promise.all([server.stop(drainMsMax), deliveries.close(drainMsMax)])
      await metricsServer?.stop(0)
      await recordFailed()
      try {
        await lastUse?.()
      } finally {
        platform.close()
      }
    },
  }
}

/** The faults of a scenario can only be checked against the operations. @throws ProgramError when one can never strike */
const appOf = (deps: Deps, { scenario }: Config, server: Listening) => {
  try {
    return createApp(deps)
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error
    server.stop(0) // nothing is left to keep the process alive
    throw new ProgramError(EXIT.data, `${scenario}: ${error.message}`)
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

const openPlatform = (config: Config, log: Log) => {
  try {
    return assemble(config, systemClock, log)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const where =
      error instanceof CatalogFault
        ? config.catalogFile
        : error instanceof RatesFault
          ? config.ratesFile
          : error instanceof ScenarioFault
            ? config.scenario
            : namesItsPath(error)
              ? undefined
              : config.dataDir
    const what = error instanceof Error ? error.message : String(error)
    throw new ProgramError(EXIT.data, fileFault(error, where) ?? (where === undefined ? what : `${where}: ${what}`))
  }
}

/** Errors of the file system name the path in their message. */
const namesItsPath = (error: unknown): boolean => error instanceof Error && 'path' in error

/** The response to an error that escapes the HTTP layer: nothing of its cause (contract C4). */
const unexpectedError = (error: Error, requestId: string, log: Log): Response => {
  log.error('request failed', { requestId, cause: error.stack ?? String(error) })
  const { status, body } = renderFailure(INTERNAL, STRUCTURED)
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': JSON_TYPE, 'X-Request-Id': requestId },
  })
}

/** @throws ProgramError when the address cannot be bound */
const bind = (options: ListenOptions, besides?: Listening): Listening => {
  const { host, port } = options
  try {
    return listen(options)
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    besides?.stop(0) // nothing is left to keep the process alive
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw new ProgramError(
      EXIT.address,
      isTaken
        ? `cannot bind ${host}:${port}, because another program uses the port: stop it, or choose another one. Port 0 takes a free one.`
        : `cannot bind ${host}:${port}: ${what}`,
    )
  }
}

/** `GET /metrics` has an address of its own: it is for operators, not for clients. */
const serveMetrics = ({ metrics: address }: Config, metrics: Metrics, log: Log): Listening | undefined => {
  if (!address) return undefined
  const answer = async ({ method, url }: Request): Promise<Response> => {
    if (pathOf(url) !== METRICS_PATH) return new Response(`See ${METRICS_PATH}\n`, { status: 404 })
    if (method !== 'GET') return new Response(null, { status: 405, headers: { Allow: 'GET' } })
    return new Response(await metrics.page(), { headers: { 'content-type': metrics.contentType } })
  }
  const onEscape = (error: Error): Response => {
    log.error('no metrics', { cause: error.stack ?? String(error) })
    return new Response('The metrics cannot be read.\n', { status: 500 })
  }
  const server = bind({ ...address, answer, onEscape })
  log.info('metrics', { url: urlOf(address.host, server.port) + METRICS_PATH })
  return server
}

/** Does due work when no request does, and suspends idle worlds. A failure is logged and the work tried again. */
const keepTime = (due: DueWork, worlds: Worlds, log: Log, tick: () => void) => {
  const storage = new StorageWatch(log)
  return setInterval(() => {
    worlds.rest()
    const world = worlds.default
    storage.look(world.db)
    tick()
    if (!due.isDue(world)) return
    due.catchUp(world).catch((error: unknown) => {
      if (!isUnavailable(error)) log.error('due work failed', { cause: String(error) })
    })
  }, SECOND_MS)
}

const recordFailedLogins = (failedLogins: FailedLogins, { db, clock }: World, log: Log): Promise<void> =>
  db
    .write(failedLogins.take(clock.nowMs()))
    .catch((error: unknown) => log.error('failed logins are not in the audit', { cause: String(error) }))

const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.failure.code === 'unavailable'
