import { createApp } from '../../app/app.ts'
import type { Deps } from '../../app/services.ts'
import type { FailedLogins } from '../../audit/failed-logins.ts'
import { keepHead } from '../../audit/head.ts'
import { CatalogFault } from '../../catalog/document.ts'
import { restoreHeldPrices } from '../../charges/cache.ts'
import { RatesFault } from '../../charges/rates.ts'
import { type Config, urlOf } from '../../config/config.ts'
import { UsageError, wantsColor } from '../../config/environment.ts'
import { renderFailure, STRUCTURED } from '../../http/errors.ts'
import { receiveForwarded } from '../../http/forwarding.ts'
import { type Listening, type ListenOptions, listen, type Respond } from '../../http/listen.ts'
import { RequestSwitch } from '../../http/request-switch.ts'
import { JSON_TYPE } from '../../http/responses.ts'
import { pathOf } from '../../http/target.ts'
import { SECOND_MS, systemClock } from '../../kernel/clock.ts'
import { DomainError, INTERNAL } from '../../kernel/failure.ts'
import { everyStep } from '../../kernel/steps.ts'
import { createLog, LineSink, type Log } from '../../observability/log.ts'
import { createMetrics, type Metrics } from '../../observability/metrics.ts'
import { StorageWatch } from '../../observability/storage-watch.ts'
import { ScenarioFault } from '../../sandbox/scenario/loading.ts'
import { assemble } from '../../start/assemble.ts'
import { VERSION } from '../../start/version.ts'
import { attemptTotals } from '../../webhooks/deliveries.ts'
import type { DueWork } from '../../worlds/due.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { dataError } from '../advice.ts'
import { EXIT, ProgramError } from '../exit.ts'
import { HandOver } from './take-over/hand-over.ts'
import type { Legacy, Predecessor } from './take-over/protocol.ts'
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
  process.on('exit', sink.flush)
  return log
}

/**
 * Opens, migrates, seeds and binds (contract C1).
 * @param before the server that has the folder: it lets go once whatever does not need the folder is done
 * @throws ProgramError when data or address cannot be used
 */
export const startServer = async (config: Config, log: Log, before?: Predecessor) => {
  const platform = openPlatform(config, log, before !== undefined)
  const { worlds, nextRequestId, folder } = platform
  const metrics = config.metrics && (await createMetrics({ version: VERSION, mode: config.mode, worlds }))
  let stopping = false
  let respond: Respond = () => new Response(null, { status: 503 })
  const onEscape = (error: Error) => unexpectedError(error, nextRequestId(), log)
  const listeners = [log.requests, metrics?.listener].filter((listener) => listener !== undefined)
  const addressOf = (request: Request) => forwarded?.addressOf(request) ?? server.addressOf(request)
  const states = { isClosing: () => stopping, isHandingOver: () => requests.isHandingOver }
  const appAt = (port: number, server?: Listening) => {
    const url = urlOf(config.host, port)
    const deps = platform.deps({ publicUrl: config.publicUrl ?? url, addressOf, ...states, listeners })
    return { url, deps, ...appOf({ ...deps, precompile: before !== undefined }, config, server) }
  }
  const prepared = before && appAt(before.port)
  const legacy = await before?.letGo()
  if (before) withProgramErrors(config, () => folder?.take())
  const common = { respond: (request: Request) => respond(request), onEscape, sharing: sharingOf(folder, legacy) }
  const metricsServer = metrics && serveMetrics(config, metrics, log, common.sharing)
  const server = bind({ ...common, host: config.host, port: before?.port ?? config.port }, metricsServer)
  const forwarded = before && receiveForwarded(before.forwardSocket, common)
  const { url, deps, handle, due, deliveries, failedLogins, logIn, tick } = prepared ?? appAt(server.port, server)
  const requests = new RequestSwitch(handle, server.pendingCount)
  if (legacy) restoreHeldPrices(worlds.default, legacy.heldPrices)
  respond = requests.respond
  if (metrics) watchWork(metrics, due, config, deps)
  const finish = async () => (failedLogins ? recordFailedLogins(failedLogins, deps) : undefined)
  const timekeeper = timekeeperOf(due, worlds, log, () => {
    tick()
    if (failedLogins?.isDue(worlds.default.clock.nowMs())) void finish()
  })
  timekeeper.start()
  return {
    url,
    port: server.port,
    sandbox: deps.sandbox,
    due,
    worlds,
    seed: platform.seed,
    logIn,
    handOver:
      folder &&
      new HandOver({ folder, world: worlds.default, server, metricsServer, requests, deliveries, timekeeper, finish }),
    /** Refuses new requests, gives those in flight some milliseconds to finish, and closes the data, after a last use. */
    stop: async (drainMsMax: number, lastUse?: () => unknown): Promise<void> => {
      stopping = true
      timekeeper.stop()
      await everyStep([
        () => deps.sandbox?.stop(),
        () => Promise.allSettled([server.stop(drainMsMax), deliveries.close(drainMsMax)]),
        () => Promise.allSettled([metricsServer?.stop(0), forwarded?.stop()]),
        finish,
        () => lastUse?.(),
        () => platform.close(),
      ])
    },
  }
}

const watchWork = (metrics: Metrics, due: DueWork, { mode }: Config, { worlds, reference }: Deps): void => {
  metrics.watchDue(due)
  metrics.watchAttempts(attemptTotals)
  if (mode === 'live') watchOperations(metrics, worlds.default, reference)
}

/** Only live mode is handed over. */
const sharingOf = (folder: object | undefined, legacy: Legacy | undefined): ListenOptions['sharing'] =>
  folder && (legacy ? 'second' : 'first')

/** The faults of a scenario can only be checked against the operations. @throws ProgramError when one can never apply */
export const appOf = (deps: Deps, { scenario }: Config, server?: Listening) => {
  try {
    return createApp(deps)
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error
    server?.stop(0) // nothing is left to keep the process alive
    throw dataError(error, scenario)
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/** @throws ProgramError as {@link assemble} */
export const openPlatform = (config: Config, log: Log, isServedElsewhere = false) =>
  withProgramErrors(config, () => assemble(config, systemClock, log, isServedElsewhere))

const withProgramErrors = <T>(config: Config, open: () => T): T => {
  try {
    return open()
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
    throw dataError(error, where)
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
export const bind = (options: ListenOptions, besides?: Listening): Listening => {
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
        ? `cannot bind ${host}:${port}, because another program uses the port\nStop it, or choose another port; 0 takes a free one.`
        : `cannot bind ${host}:${port}: ${what}\nChoose another --host or --port.`,
    )
  }
}

/** `GET /metrics` has an address of its own: it is for operators, not for clients. */
const serveMetrics = (
  { metrics: address }: Config,
  metrics: Metrics,
  log: Log,
  sharing: ListenOptions['sharing'],
): Listening | undefined => {
  if (!address) return undefined
  const respond = async ({ method, url }: Request): Promise<Response> => {
    if (pathOf(url) !== METRICS_PATH) return new Response(`See ${METRICS_PATH}\n`, { status: 404 })
    if (method !== 'GET') return new Response(null, { status: 405, headers: { Allow: 'GET' } })
    return new Response(await metrics.page(), { headers: { 'content-type': metrics.contentType } })
  }
  const onEscape = (error: Error): Response => {
    if (isUnavailable(error)) return new Response('The data cannot be read at the moment.\n', { status: 503 })
    log.error('no metrics', { cause: error.stack ?? String(error) })
    return new Response('The metrics cannot be read.\n', { status: 500 })
  }
  const server = bind({ ...address, respond, onEscape, sharing })
  log.info('metrics', { url: urlOf(address.host, server.port) + METRICS_PATH })
  return server
}

/** Does due work when no request does, and suspends idle worlds. A failure is logged and the work tried again. */
const timekeeperOf = (due: DueWork, worlds: Worlds, log: Log, tick: () => void) => {
  const storage = new StorageWatch(log)
  const look = (): void => {
    worlds.rest()
    const world = worlds.default
    storage.look(world.db)
    tick()
    if (!due.isDue(world)) return
    due.catchUp(world).catch((error: unknown) => {
      if (!isUnavailable(error)) log.error('due work failed', { cause: String(error) })
    })
  }
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    start: () => {
      timer = setInterval(look, SECOND_MS)
    },
    stop: () => clearInterval(timer),
  }
}

const recordFailedLogins = async (failedLogins: FailedLogins, deps: Deps): Promise<void> => {
  if (failedLogins.isEmpty) return
  const { worlds, seals, log, config } = deps
  const { db, clock } = worlds.default
  try {
    await db.write(failedLogins.take(clock.nowMs(), seals))
    await db.write((tx) => config.dataDir && keepHead(tx, config.dataDir, seals(tx)))
  } catch (error) {
    log.error('failed logins are not in the audit', { cause: String(error) })
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.failure.code === 'unavailable'
