import { Database as SqliteDatabase } from 'bun:sqlite'
import { createApp } from '../../app/app.ts'
import type { Deps } from '../../app/services.ts'
import type { FailedLogins } from '../../audit/failed-logins.ts'
import { keepHead } from '../../audit/head.ts'
import { restoreHeldPrices } from '../../charges/cache.ts'
import { type Config, urlOf } from '../../config/config.ts'
import { UsageError, wantsColor } from '../../config/environment.ts'
import { databasePath } from '../../db/data-folder.ts'
import { queryOn } from '../../db/database.ts'
import { renderFailure, STRUCTURED } from '../../http/errors.ts'
import { receiveForwarded } from '../../http/forwarding.ts'
import { JSON_TYPE } from '../../http/json.ts'
import type { ListenOptions } from '../../http/listen.ts'
import { RequestSwitch } from '../../http/request-switch.ts'
import { systemClock } from '../../kernel/clock.ts'
import { INTERNAL } from '../../kernel/failure.ts'
import { FileFault } from '../../kernel/problems.ts'
import { everyStep } from '../../kernel/steps.ts'
import { createLog, LineSink, type Log } from '../../observability/log.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { requireKeys } from '../../orders/voucher-key.ts'
import type { RecordServer, Roles } from '../../record/server.ts'
import { ScenarioFault } from '../../sandbox/scenario/loading.ts'
import { assemble } from '../../start/assemble.ts'
import { createDatabase } from '../../start/folder.ts'
import type { ServedFolder } from '../../start/served-folder.ts'
import { VERSION } from '../../start/version.ts'
import type { Deliveries } from '../../webhooks/deliveries.ts'
import { dataError } from '../advice.ts'
import { bind } from './bind.ts'
import { serveMetrics, watchWork } from './metrics.ts'
import { watchRecord } from './record-metrics.ts'
import { HandOver } from './take-over/hand-over.ts'
import type { Predecessor } from './take-over/protocol.ts'
import { timekeeperOf } from './timekeeper.ts'

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

/** Opens, migrates, seeds and binds (contract C1). @throws ProgramError when data or address cannot be used */
export const startServer = async (config: Config, log: Log, record?: RecordServer) => {
  const start = await open(config, log, undefined, record)
  const ports = bindPorts(start, config.port, start.folder && 'first')
  try {
    const server = serving(start, ports, appAt(start, ports.api.port))
    await server.begin()
    return server
  } catch (error) {
    await everyStep([() => ports.close(), () => record?.stop()]) // nothing is left to keep the process alive
    throw error
  }
}

/**
 * Takes over from a running server, which lets go of the folder once whatever does not need the folder is done.
 * @throws ProgramError when data or address cannot be used
 */
export const takeOver = async (config: Config, log: Log, before: Predecessor) => {
  const start = await open(config, log, before)
  const app = appAt(start, before.port)
  const legacy = await before.letGo()
  withProgramErrors(config, () => start.folder?.take())
  // Also after the previous server was killed: the kernel may close its port after the connection that reports its end.
  const ports = bindPorts(start, before.port, 'second')
  const forwarded = receiveForwarded(before.forwardSocket, start)
  start.requests.receiveFrom(forwarded)
  if (legacy) restoreHeldPrices(start.worlds.default, legacy.heldPrices)
  const server = serving(start, ports, app, forwarded)
  await server.begin()
  return server
}

/** What needs no port. */
const open = async (config: Config, log: Log, before?: Predecessor, record?: RecordServer) => {
  const platform = openPlatform(config, log, before !== undefined || record !== undefined)
  const { worlds, nextRequestId } = platform
  const requests = new RequestSwitch()
  return {
    ...platform,
    config,
    log,
    metrics: config.metrics && (await createMetrics({ version: VERSION, mode: config.mode, worlds })),
    precompile: before !== undefined || record !== undefined,
    record,
    requests,
    respond: requests.respond,
    onEscape: (error: Error) => unexpectedError(error, nextRequestId(), log),
  }
}

type Start = Awaited<ReturnType<typeof open>>

/** @param port that clients reach */
const appAt = ({ config, log, metrics, requests, precompile, record, deps: depsOf }: Start, port: number) => {
  const url = urlOf(config.host, port)
  const deps = depsOf({
    publicUrl: config.publicUrl ?? url,
    addressOf: requests.addressOf,
    isClosing: () => requests.isClosing,
    isHandingOver: () => requests.isHandingOver,
    isServing: record && (() => record.isServing),
    listeners: [log.requests, metrics?.listener].filter((listener) => listener !== undefined),
  })
  return { url, deps, ...appOf({ ...deps, precompile }, config) }
}

/** The port of the API, and that of metrics. */
const bindPorts = (start: Start, port: number, sharing: ListenOptions['sharing']) => {
  const { config, log, metrics, requests, respond, onEscape } = start
  const ofMetrics = metrics && config.metrics && serveMetrics(config.metrics, metrics, log, sharing)
  try {
    const api = bind({ host: config.host, port, respond, onEscape, sharing })
    requests.receiveFrom(api)
    return { api, ofMetrics, close: () => Promise.all([api.stop(0), ofMetrics?.stop(0)]) }
  } catch (error) {
    void ofMetrics?.stop(0) // nothing is left to keep the process alive
    throw error
  }
}

/** Requests are served from here on. */
const serving = (
  start: Start,
  { api, ofMetrics }: ReturnType<typeof bindPorts>,
  { url, deps, handle, due, deliveries, failedLogins, logIn, tick, refresh }: ReturnType<typeof appAt>,
  forwarded?: ReturnType<typeof receiveForwarded>,
) => {
  const { config, log, metrics, requests, worlds, folder, seed, close, record } = start
  requests.serve(record?.respondWith(handle) ?? handle)
  if (metrics) watchWork(metrics, due, config, deps)
  if (metrics && record) watchRecord(metrics, record)
  const finish = async () =>
    failedLogins && deps.isServing?.() !== false ? recordFailedLogins(failedLogins, deps) : undefined
  const timekeeper = timekeeperOf(due, worlds, log, () => {
    tick()
    if (failedLogins?.isDue(worlds.default.clock.nowMs())) void finish()
  })
  const facts = { host: config.host, port: api.port, pid: process.pid, version: VERSION }
  const parts = {
    world: worlds.default,
    server: api,
    metricsServer: ofMetrics,
    requests,
    deliveries,
    timekeeper,
    finish,
  }
  return {
    url,
    sandbox: deps.sandbox,
    due,
    worlds,
    seed,
    logIn,
    /** Resolves when the server serves, or follows the one that does. */
    begin: async (): Promise<void> => {
      if (!record || !folder) return timekeeper.start()
      folder.gateOf = record.gateOf
      const { voucherKey } = config
      await record.start(rolesOf({ url: deps.publicUrl, voucherKey, folder, timekeeper, deliveries, refresh }))
    },
    handOver: folder && !record ? new HandOver({ ...parts, folder, facts, log }) : undefined,
    /** Refuses new requests, gives those in flight some milliseconds to finish, and closes the data, after a last use. */
    stop: async (drainMsMax: number, lastUse?: () => unknown): Promise<void> => {
      requests.close()
      timekeeper.stop()
      await everyStep([
        () => deps.sandbox?.stop(),
        () => Promise.allSettled([api.stop(drainMsMax), deliveries.close(drainMsMax)]),
        () => Promise.allSettled([ofMetrics?.stop(0), forwarded?.stop()]),
        finish,
        () => record?.stop(),
        () => lastUse?.(),
        close,
      ])
    },
  }
}

interface RoleParts {
  url: string
  voucherKey: Uint8Array | undefined
  folder: ServedFolder
  timekeeper: { start: () => void; stop: () => void }
  deliveries: Deliveries
  refresh: () => void
}

/** How a server of a record becomes active, and warm again (contract C18). */
const rolesOf = ({ url, voucherKey, folder, timekeeper, deliveries, refresh }: RoleParts): Roles => ({
  url,
  create: () => createDatabase(folder.dataDir, 'live', systemClock),
  requireKeys: () => {
    using sqlite = new SqliteDatabase(databasePath(folder.dataDir), { readwrite: true, create: false })
    requireKeys(queryOn(sqlite), folder.dataDir, voucherKey)
  },
  bringUpToDate: (database) => folder.bringUpToDate(database),
  serve: () => {
    folder.take()
    refresh()
    deliveries.resume()
    timekeeper.start()
  },
  letGo: async (settle) => {
    timekeeper.stop()
    await Promise.all([deliveries.close(0), settle(folder.world.db)])
    folder.handOver()
  },
})

/** The faults of a scenario can only be checked against the operations. @throws ProgramError when one can never apply */
export const appOf = (deps: Deps, { scenario }: Config) => {
  try {
    return createApp(deps)
  } catch (error) {
    throw error instanceof ScenarioFault ? dataError(error, scenario) : error
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
      error instanceof FileFault
        ? { catalog: config.catalogFile, rates: config.ratesFile, codes: undefined }[error.file]
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
