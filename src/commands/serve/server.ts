import { Database as SqliteDatabase } from 'bun:sqlite'
import type { Deps } from '../../app/services.ts'
import type { FailedLogins } from '../../audit/failed-logins.ts'
import { type Config, urlOf } from '../../config/config.ts'
import { wantsColor } from '../../config/environment.ts'
import { queryOn } from '../../db/database.ts'
import { databasePath, hasDatabase } from '../../folder/files.ts'
import { statOf } from '../../folder/permissions.ts'
import { renderFailure, STRUCTURED } from '../../http/errors.ts'
import { responseBeside } from '../../http/json.ts'
import { SECOND_MS, systemClock } from '../../kernel/clock.ts'
import { DataFault, ProgramError } from '../../kernel/exit.ts'
import { INTERNAL, isUnavailable } from '../../kernel/failure.ts'
import { Outage } from '../../kernel/outage.ts'
import { createLog, type Log } from '../../observability/log.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { requireKeys } from '../../orders/voucher-key.ts'
import type { ReplicatedServer, Roles } from '../../replication/server.ts'
import { whileServing } from '../../replication/while-serving.ts'
import { build } from '../../start/build.ts'
import { createDatabase } from '../../start/folder.ts'
import { type Opened, open } from '../../start/open.ts'
import { playBeginning } from '../../start/scenario.ts'
import type { ServedFolder } from '../../start/served-folder.ts'
import { VERSION } from '../../start/version.ts'
import type { Deliveries } from '../../webhooks/deliveries.ts'
import type { DueWork } from '../../work/due.ts'
import type { World } from '../../work/world.ts'
import type { Worlds } from '../../work/worlds.ts'
import { dataError } from '../advice.ts'
import { serveActs } from './acts.ts'
import { bind } from './bind.ts'
import { serveMetrics, watchReplication, watchWork } from './metrics.ts'

const DAMAGED = 'the database is damaged: stop the server, run scrip verify, and restore the last sound backup'

/** The most characters of a log that wait for a reader. Further lines are dropped. */
const UNREAD_MAX = 1_048_576

export const logOf = ({ logLevel, logFormat }: Config): Log => {
  let unread = 0
  return createLog({
    level: logLevel,
    format: logFormat,
    color: wantsColor(process.stderr.isTTY),
    columns: process.stderr.isTTY ? () => process.stderr.columns : undefined,
    clock: systemClock,
    write: (line) => {
      if (unread > UNREAD_MAX) return
      unread += line.length
      process.stderr.write(line, () => {
        unread -= line.length
      })
    },
  })
}

/** Opens, migrates, seeds, binds and serves (contract C1). @throws ProgramError when data or address cannot be used */
export const startServer = async (config: Config, log: Log, replica?: ReplicatedServer) => {
  reportOldLog(config, log)
  const opened = await openData(config, log).catch(async (error: unknown) => {
    await replica?.stop() // a failed start must not keep the process alive
    throw error
  })
  return await serveFrom(opened, replica)
}

const serveFrom = async (opened: Opened, replica: ReplicatedServer | undefined) => {
  const { config, log, worlds, folder, seed, nextRequestId } = opened
  let [isClosing, drainMsMax] = [false, 0]
  let lastUse: (() => unknown) | undefined
  /** All that has started ends in reverse order, also after a start that failed, and even if one of them does not end. */
  await using parts = new AsyncDisposableStack()
  parts.defer(opened.close)
  parts.defer(async () => void (await lastUse?.()))
  parts.defer(() => replica?.stop())
  const metrics = config.metrics && (await createMetrics({ version: VERSION, mode: config.mode, worlds }))
  const ofMetrics = metrics && config.metrics && serveMetrics(config.metrics, metrics, log)
  parts.defer(() => ofMetrics?.stop(0))
  const onEscape = (error: Error) => unexpectedError(error, nextRequestId(), log)
  const api = bind({ host: config.host, port: config.port, onEscape })
  parts.defer(() => api.stop(0))
  const url = urlOf(config.host, api.port)
  const isServing = replica && (() => replica.isServing)
  const app = build(opened, {
    publicUrl: config.publicUrl ?? url,
    addressOf: api.addressOf,
    isClosing: () => isClosing,
    isServing,
    listeners: [log.requests, metrics?.listener].filter((listener) => listener !== undefined),
    precompile: replica !== undefined,
  })
  const { deps, sandbox, due, deliveries, delivering, failedLogins, logIn, tick, refresh } = app
  api.serve(replica ? whileServing(replica, app.handle, nextRequestId) : app.handle)
  if (metrics) watchWork(metrics, due, config, deps)
  if (metrics && replica) watchReplication(metrics, replica)
  const finish = async () =>
    failedLogins && isServing?.() !== false ? recordFailedLogins(failedLogins, deps) : undefined
  parts.defer(finish)
  parts.defer(async () => void (await Promise.allSettled([api.stop(drainMsMax), deliveries.close(drainMsMax)])))
  const acts = serveActs({ config, log, worldOf: () => worlds.default, replica, delivering, refresh })
  parts.defer(() => acts?.stop(drainMsMax))
  parts.defer(() => sandbox?.stop())
  const onDamage = (damage: Error): void => {
    log.error(DAMAGED, { cause: damage.message })
    replica?.damaged(damage)
  }
  const timekeeper = timekeeperOf(due, worlds, log, onDamage, () => {
    tick()
    if (failedLogins?.isDue(worlds.default.clock.nowMs())) void finish()
  })
  parts.defer(timekeeper.stop)
  if (replica && folder) {
    folder.gateOf = replica.gateOf
    const { voucherKey } = config
    await replica.start(rolesOf({ url: deps.publicUrl, voucherKey, folder, timekeeper, deliveries, refresh }))
  } else timekeeper.start()
  const running = parts.move()
  return {
    url,
    sandbox,
    due,
    worlds,
    seed,
    logIn,
    /** Refuses new requests, gives those in flight some milliseconds to finish, and closes the data, after a last use. */
    stop: async (drainMs: number, last?: () => unknown): Promise<void> => {
      isClosing = true
      drainMsMax = drainMs
      lastUse = last
      await running.disposeAsync()
    },
  }
}

/**
 * A server that is killed leaves the log of its last commits, which SQLite applies to whatever database it finds beside it. The log
 * is the younger of the two, unless somebody has replaced the database.
 */
const reportOldLog = ({ dataDir, postgres }: Config, log: Log): void => {
  if (dataDir === undefined || postgres || !hasDatabase(dataDir)) return // a copy is compared with its record
  const [database, wal] = [databasePath(dataDir), `${databasePath(dataDir)}-wal`].map((path) => statOf(path))
  if (database && wal && wal.size > 0 && database.ctimeMs > wal.ctimeMs)
    log.warn(OLD_LOG, { log: `${databasePath(dataDir)}-wal` })
}

const OLD_LOG =
  'the database is newer than the log beside it: if you replaced the file, the log belongs to the previous one; stop the server, and use scrip restore'

interface RoleParts {
  url: string
  voucherKey: Uint8Array | undefined
  folder: ServedFolder
  timekeeper: { start: () => void; stop: () => void }
  deliveries: Deliveries
  refresh: () => void
}

/** The steps of a replicated server when it becomes active, and warm again (contract C18). */
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
    folder.letGo()
  },
})

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/** @throws ProgramError as {@link open} */
export const openData = async (config: Config, log: Log): Promise<Opened> => {
  try {
    return open(config, systemClock, log, await playBeginning(config, systemClock, log))
  } catch (error) {
    if (error instanceof ProgramError && !(error instanceof DataFault)) throw error
    throw dataError(error as Error, config.dataDir ?? 'the sandbox')
  }
}

/** The response to an error that escapes the HTTP layer. It does not reveal the cause (contract C4). */
const unexpectedError = (error: Error, requestId: string, log: Log): Response => {
  log.error('request failed', { requestId, cause: error.stack ?? String(error) })
  const { status, body } = renderFailure(INTERNAL, STRUCTURED)
  return responseBeside(status, body, { 'X-Request-Id': requestId })
}

const recordFailedLogins = async (failedLogins: FailedLogins, deps: Deps): Promise<void> => {
  if (failedLogins.isEmpty) return
  const { worlds, ciphers, log } = deps
  try {
    await failedLogins.record(worlds.default, ciphers)
  } catch (error) {
    log.error('failed logins are not in the audit', { cause: String(error) })
  }
}

/** Does due work when no request does, and suspends idle worlds. A failure is logged, and the work is tried again. */
const timekeeperOf = (due: DueWork, worlds: Worlds, log: Log, onDamage: (damage: Error) => void, tick: () => void) => {
  const outage = new Outage(log, { on: 'writes are refused', over: 'writes work again' })
  let reported: Error | undefined
  const look = (): void => {
    worlds.rest()
    const world = worlds.default
    const { damage } = world.db
    if (damage && damage !== reported) onDamage(damage)
    reported = damage
    if (damage) return
    try {
      lookAt(world)
    } catch (error) {
      world.db.noteDamage(error)
      if (!world.db.damage) throw error
    }
  }
  const lookAt = (world: World): void => {
    world.db.lookAfter()
    if (world.db.trouble) outage.seen(world.db.trouble.message)
    else outage.over()
    tick()
    if (!due.isDue(world)) return
    due.catchUp(world).catch((error: unknown) => {
      world.db.noteDamage(error)
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
