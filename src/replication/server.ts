import { hostname } from 'node:os'
import type { PostgresTarget } from '../config/postgres-url.ts'
import type { Database } from '../db/database.ts'
import { isDamage } from '../db/storage.ts'
import { databasePath, makeDataFolder, removeDatabase } from '../folder/files.ts'
import { lockForServing } from '../folder/lock.ts'
import { MINUTE_MS, SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { freshInstallationId, freshSecret } from '../kernel/ids.ts'
import { Outage } from '../kernel/outage.ts'
import { commitOpening, installEmpty, upgrade } from './activate.ts'
import { Connection, PostgresAway } from './connection.ts'
import { CopyUnfit, checkAtStart, preparationOf, quarantine, requireSameTimeline } from './copy-check.ts'
import { FollowingCopy } from './follower.ts'
import { gateTotals, PostgresGate } from './gate.ts'
import { findInstallation, fitting, type Installation, installationOf, NotActive, ServerUnfit } from './installation.ts'
import { Lag } from './lag.ts'
import { Lease, type LeaseGrant, leaseTotals } from './lease.ts'
import { prune } from './prune.ts'
import { pullCopy } from './pull.ts'
import { tablesOf } from './tables.ts'

/** The interval at which a warm server asks for commits, and checks the lease. */
const FOLLOW_MS = 40
/** A pause after a failure. */
const PAUSE_MS = 250
/** The time that a stopping server waits for its last commit. */
const SETTLE_MS_MAX = 2 * SECOND_MS

type ServerState = 'active' | 'warm' | 'pulling' | 'waiting'

type Write = (message: string, fields?: Record<string, string | number>) => void

interface ReplicationOptions {
  target: PostgresTarget
  dataDir: string
  signingKey: Uint8Array
  release: string
  log: Readonly<Record<'info' | 'warn' | 'error', Write>>
}

/** The reactions of the program to gaining and losing the lease. */
export interface Roles {
  url: string
  /** Makes a new database in the folder. */
  create: () => void
  /** Checks that the keys of this server are those of the copy. Throws if they are not. */
  requireKeys: () => void
  /** Does the writes of opening the database, in an open transaction. */
  bringUpToDate: (database: Database) => void
  serve: () => void
  /** Stops serving the copy, once no database commits. */
  letGo: (settle: (database: Database) => Promise<void>) => Promise<void>
}

/** A server of an installation: warm until it has the lease, then active (contract C18). */
export class ReplicatedServer {
  /** The connection for commits, and for following while there are none. */
  readonly #commits: Connection
  readonly #beats: Connection
  readonly #upkeep: Connection
  readonly #holder = `${hostname()}-${Buffer.from(freshSecret(6)).toString('hex')}`
  #lock: Disposable | undefined
  #lease: Lease | undefined
  #gate: PostgresGate | undefined
  #state: ServerState = 'waiting'
  #isStopping = false
  /** Resolves when the server can no longer be active. */
  #over = Promise.withResolvers<void>()
  #loop: Promise<void> | undefined
  readonly #began = Promise.withResolvers<void>()
  readonly #outage: Outage
  readonly #lag: Lag
  readonly #failed = Promise.withResolvers<never>()

  private constructor(private readonly options: ReplicationOptions) {
    this.#commits = new Connection(options.target, 'commits')
    this.#beats = new Connection(options.target, 'beats')
    this.#upkeep = new Connection(options.target, 'upkeep')
    this.#outage = new Outage(options.log, {
      on: 'the record cannot be used',
      over: 'the record can be used again',
    })
    this.#lag = new Lag(this.#commits, this.#holder)
    this.failure.catch(() => undefined) // callers that wait for it get the error
  }

  /** Checks PostgreSQL, keys and folder before anything is opened. @throws DataFault; PostgresAway after 30 s; PostgresRefusal */
  static async open(options: ReplicationOptions): Promise<ReplicatedServer> {
    makeDataFolder(options.dataDir)
    const server = new ReplicatedServer(options)
    server.#lock = lockForServing(options.dataDir)
    try {
      await checkAtStart(server.#commits.ask, options)
      return server
    } catch (error) {
      server.#release()
      throw error
    }
  }

  get state(): ServerState {
    return this.#state === 'active' && !this.isServing ? 'waiting' : this.#state
  }

  /** True if the copy may be read. Checked before a request, and again right before its response leaves. */
  get isServing(): boolean {
    return this.#state === 'active' && this.#lease?.isGood === true && this.#gate?.isCertain === true
  }

  /** An error that names the server that is active instead of this one. @throws PostgresAway, PostgresRefusal */
  async notActive(): Promise<NotActive> {
    return new NotActive(await findInstallation(this.#upkeep.ask))
  }

  /** For metrics. */
  get position() {
    const { seq, epoch } = this.#lag.current
    return { ...this.#lag.current, seq: this.#gate?.seq ?? seq, epoch: this.#lease?.epoch ?? epoch }
  }

  get totals() {
    return { ...gateTotals, ...leaseTotals }
  }

  /** The gate for the writes of a database that is opened now. */
  readonly gateOf = ({ sqlite }: Database): PostgresGate => {
    if (!this.#lease) throw new Error('the server has not started')
    this.#gate?.close()
    this.#gate = new PostgresGate({
      sqlite,
      tables: tablesOf(sqlite),
      connection: this.#commits,
      lease: this.#lease,
      onBehind: (error) => {
        this.options.log.error('the copy is behind the record', { cause: String(error) })
        this.#over.resolve()
      },
    })
    return this.#gate
  }

  /** Called when damage was found in the copy: the server frees the lease, and pulls the copy again. */
  damaged(error: Error): void {
    this.#over.reject(error)
  }

  /** Rejects with a {@link ServerUnfit} when the server has ended because of it. */
  get failure(): Promise<never> {
    return this.#failed.promise
  }

  /** Resolves when the server is active, or follows. @throws ServerUnfit */
  start(roles: Roles): Promise<void> {
    const lease = new Lease({
      connection: this.#beats,
      holder: this.#holder,
      url: roles.url,
      onLost: () => {
        this.options.log.warn('another server has taken the lease')
        this.#over.resolve()
      },
    })
    this.#lease = lease
    this.#loop = this.#run(roles, lease)
    return Promise.race([this.#began.promise, this.failure])
  }

  /** Called after the last response: lets another server take the lease. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#over.resolve()
    await this.#loop
    this.#release()
  }

  #release(): void {
    this.#commits.close()
    this.#beats.close()
    this.#upkeep.close()
    this.#lock?.[Symbol.dispose]()
  }

  async #run(roles: Roles, lease: Lease): Promise<void> {
    while (!this.#isStopping) {
      try {
        const taken = await this.#follow(roles, lease)
        if (taken) await this.#serve(roles, lease, taken)
      } catch (error) {
        if (error instanceof ServerUnfit) return this.#failed.reject(error)
        await this.#recover(error)
      } finally {
        await lease.free()
      }
    }
    this.#began.resolve()
  }

  /** Follows until the lease is taken; undefined when the server stops. */
  async #follow(roles: Roles, lease: Lease): Promise<LeaseGrant | undefined> {
    const { dataDir, release, signingKey } = this.options
    const { ask } = this.#commits
    let installation = await installationOf(ask)
    if (preparationOf(dataDir, installation) === 'create') {
      const id = freshInstallationId()
      await installEmpty({ connection: this.#commits, dataDir, id, release, signingKey }, roles.create)
      installation = await installationOf(ask)
    }
    if (installation && preparationOf(dataDir, installation) === 'pull') await this.#pull(installation)
    using copy = new FollowingCopy(databasePath(dataDir))
    for (let isFirst = true; !this.#isStopping; await Bun.sleep(FOLLOW_MS)) {
      while (await copy.follow(ask));
      const now = await findInstallation(ask)
      if (isFirst || now?.isFree) fitting(roles.requireKeys)
      isFirst = false
      this.#lag.compare(copy.position, now)
      this.#state = 'warm'
      if (now && !now.isFree) {
        this.#outage.over()
        this.#began.resolve()
      }
      if (now?.isFree) {
        const taken = await lease.take() // a server that can be read cannot always be written
        this.#outage.over()
        if (taken) {
          while (copy.position.seq < taken.seq) await copy.follow(ask)
          await requireSameTimeline(ask, copy.position)
          return taken
        }
      }
      await this.#lag.report(roles.url)
    }
    return undefined
  }

  async #pull({ schemaVersion, seq }: Installation): Promise<void> {
    this.#state = 'pulling'
    this.options.log.info('pulling a copy of the record', { seq })
    const beganMs = sinceStartMs()
    await pullCopy(this.#commits, this.options.dataDir, { schemaVersion, isStopped: () => this.#isStopping })
    this.options.log.info('pulled', { seconds: Math.round((sinceStartMs() - beganMs) / SECOND_MS) })
  }

  /** Serves until the lease is lost, the copy cannot go on, or the server stops. */
  async #serve(roles: Roles, lease: Lease, taken: LeaseGrant): Promise<void> {
    const { dataDir, release, log } = this.options
    this.#over = Promise.withResolvers()
    await upgrade({ connection: this.#commits, dataDir, release }, taken)
    const bringUpToDate = (database: Database): void => fitting(() => roles.bringUpToDate(database))
    await commitOpening({ dataDir, gateOf: this.gateOf, bringUpToDate })
    if (this.#isStopping || lease.epoch === undefined) return
    await this.#beats.ask('DELETE FROM scrip.followers WHERE holder = $1', [this.#holder])
    roles.serve()
    this.#state = 'active'
    this.#began.resolve()
    log.info('active', { epoch: taken.epoch, seq: taken.seq })
    const looking = setInterval(() => {
      if (lease.isGood) this.#outage.over()
      else this.#outage.seen(lease.trouble)
    }, SECOND_MS)
    const pruning = setInterval(() => void prune(this.#upkeep.ask).catch(() => undefined), MINUTE_MS)
    try {
      await this.#over.promise
    } finally {
      clearInterval(looking)
      clearInterval(pruning)
      this.#state = 'waiting'
      this.#lag.current = { ...this.position, lagCommits: 0, lagSeconds: 0 }
      await roles.letGo((database) => this.#settle(database))
    }
  }

  /** Waits for commits, so that all requests in flight have their responses when a server stops, unless PostgreSQL is away. */
  async #settle(database: Database): Promise<void> {
    if (this.#isStopping) await Promise.race([database.settled(), Bun.sleep(SETTLE_MS_MAX)])
    this.#gate?.close()
    await database.settled()
    this.#gate = undefined
  }

  async #recover(error: unknown): Promise<void> {
    this.#state = 'waiting'
    const { dataDir, log } = this.options
    if (error instanceof PostgresAway) this.#outage.seen(error.reason)
    else if (error instanceof CopyUnfit || isDamage(error)) {
      const cause = error instanceof Error ? error.message : String(error)
      if (error instanceof CopyUnfit && !error.isAhead) {
        log.warn('the copy is pulled again', { cause })
        removeDatabase(databasePath(dataDir))
      } else log.error('the copy is set aside, and pulled again', { cause, file: quarantine(dataDir) })
      return
    } else if (!this.#isStopping)
      this.#outage.seen(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (!this.#isStopping) await Bun.sleep(PAUSE_MS)
  }
}
