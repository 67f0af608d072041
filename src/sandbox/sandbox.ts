import type { Extension, Program } from '../app/extension.ts'
import { isDamage } from '../db/storage.ts'
import type { Incoming } from '../http/incoming.ts'
import { servedBy } from '../http/operation.ts'
import { urlBehind } from '../http/target.ts'
import { DomainError } from '../kernel/failure.ts'
import type { Log } from '../observability/log.ts'
import type { World } from '../work/world.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'
import { hostAccess, sandboxAccess, worldAccess } from './control/access.ts'
import { withCors } from './control/cors.ts'
import { addSandboxRoutes } from './control/routes.ts'
import { DOCUMENTATION } from './documentation.ts'
import { worldDamaged } from './errors.ts'
import { Exploration } from './explore/exploration.ts'
import type { Loss } from './explore/writes.ts'
import { Injection } from './faults/injection.ts'
import { Feed } from './feed/feed.ts'
import type { Parts, Sent } from './parts.ts'
import { noteEventTimes } from './records/written-at.ts'
import type { CoverageReport } from './requests/contract.ts'
import { RequestObserver, SentRequest } from './requests/observer.ts'
import { OutcomeRegistry } from './requests/outcomes.ts'
import type { RecordingListener } from './requests/request-log.ts'
import { applySettings, type Settings } from './scenario/make.ts'
import { generatedSupply } from './seed/vouchers.ts'
import { sandboxStep } from './test-values/payouts.ts'
import { Waiting } from './waiting.ts'
import { faulty } from './webhooks/faults.ts'
import { resumeDeliveries } from './webhooks/worlds.ts'
import { findClientIn, usernameIn, WORLD_ERRORS, worldAccounts } from './worlds/accounts.ts'
import { pace } from './worlds/movable-clock.ts'
import { DamagedFile } from './worlds/world-folder.ts'

interface SandboxOptions
  extends Pick<Parts, 'worlds' | 'catalog' | 'reference' | 'initialRates' | 'stage' | 'version' | 'publicUrl'> {
  log: Log
  host: string
  token: string | undefined
  strict: boolean
  /** The origins whose pages may call the API from a browser. */
  corsOrigins: ReadonlySet<string>
  /** The settings of a new world besides its data. */
  settings: Settings | undefined
}

/** The sandbox around the live program (contract C15, decision 0047). Live mode has none. */
export class Sandbox implements Extension {
  readonly supply: Extension['supply']
  readonly accountErrors = WORLD_ERRORS
  readonly documentation = DOCUMENTATION
  readonly observer: RequestObserver
  readonly resolveAccount: Extension['resolveAccount']
  readonly requireHost: Extension['requireHost']
  readonly #outcomes: OutcomeRegistry
  readonly #listeners = new Set<RecordingListener>()
  readonly #feed: Feed
  #waiting: Waiting | undefined
  /** While `scrip run --explore` runs. */
  #exploration: Exploration | undefined
  #program: Program | undefined

  constructor(private readonly options: SandboxOptions) {
    const { worlds, catalog, log, corsOrigins, host, publicUrl } = options
    this.requireHost = hostAccess({ boundHost: host, publicUrl })
    worlds.onDamaged = ({ message }) => log.error('damaged file', { file: message })
    const resolve = worldAccounts(worlds, worldAccess(corsOrigins))
    this.#outcomes = new OutcomeRegistry(worlds)
    this.supply = generatedSupply(
      (world, productId) => (catalog.shared.find(productId) ?? catalog.findAny(world, productId))?.validity,
    )
    this.observer = new RequestObserver({
      ...options,
      outcomes: this.#outcomes,
      injection: new Injection(options),
      listeners: this.#listeners,
      explored: () => this.#exploration,
    })
    worlds.onPresent(noteEventTimes)
    this.#feed = new Feed({ worlds, onRecorded: (listener) => this.onRecorded(listener) })
    this.resolveAccount = async (credentials, incoming) => {
      const account = await resolve(credentials, incoming)
      if (incoming) this.observer.belongs(incoming, account.world)
      return account
    }
  }

  readonly serving: Extension['serving'] = (handle) => withCors(handle, this.options.corsOrigins)

  readonly delivering: Extension['delivering'] = faulty

  readonly stepByClock = sandboxStep

  /** The error for damage in the pages of a file that was too large to check, or that was damaged later. */
  readonly failureOf = (error: unknown, incoming: Incoming): DomainError | undefined => {
    const name = isDamage(error) || error instanceof DamagedFile ? this.observer.worldNameOf(incoming) : DEFAULT_WORLD
    return name === DEFAULT_WORLD ? undefined : new DomainError(worldDamaged(name), { cause: error })
  }

  readonly causeOf: Extension['causeOf'] = (request) => (request instanceof SentRequest ? request.cause : undefined)

  readonly usernameOf: Extension['usernameOf'] = ({ world, client }) => usernameIn(world, client.username)

  readonly movesByClock = (world: World, records: 'payouts' | 'orders'): boolean => world.of(pace)[records] === 'auto'

  addRoutes(program: Program): void {
    this.#program = program
    const { worlds, host, token } = this.options
    this.#waiting = new Waiting({ worlds, ...program })
    addSandboxRoutes({
      ...this.options,
      ...program,
      requireAccess: sandboxAccess({ boundHost: host, token }),
      feed: this.#feed,
      waiting: this.#waiting,
      onRecorded: (listener) => this.onRecorded(listener),
      outcomes: this.#outcomes,
      refuseUnknown: this.observer.refuseUnknown,
      send: (world, sent, cause) => this.send(world, sent, cause),
    })
    this.#outcomes.add(servedBy(program.app))
    void resumeDeliveries(worlds, program.deliveries, this.options.log)
    const { settings } = this.options
    if (settings) worlds.onSeeded((world) => applySettings(world, settings))
  }

  onRecorded(listener: RecordingListener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Ends the feeds and those who wait, which would keep a stopping server open. */
  stop(): void {
    this.#waiting?.close()
    this.#feed.close()
  }

  coverage(): CoverageReport {
    return this.#outcomes.report()
  }

  /** Watches all writes from now on, and loses the response to one of them (decision 49). */
  explore(loss: Loss | undefined): Exploration {
    this.#exploration = new Exploration(this.options.worlds, this.options.reference, loss)
    return this.#exploration
  }

  /**
   * Sends a request in a world, possibly because of another one. Its client logs in again: the token in a log is redacted, and
   * nobody knows the passwords of all worlds.
   */
  async send(world: World, sent: Sent, cause?: Request): Promise<Response> {
    if (!this.#program) throw new Error('a request before there are routes')
    const { app, sessions } = this.#program
    const headers = new Headers(sent.headers)
    if (sent.fault !== undefined) headers.set('x-sandbox-fault', sent.fault)
    const client = sent.client === undefined ? undefined : findClientIn(world, sent.client)
    if (client) {
      const { access } = await sessions.begin({ world, client, passwordSha256: undefined })
      headers.set('authorization', `Bearer ${access.token}`)
    }
    const { publicUrl } = this.options
    const body = sent.method === 'GET' ? null : (sent.body ?? null)
    const url = urlBehind(publicUrl, sent.path)
    const request = new SentRequest(url, { method: sent.method, headers, body }, world, cause)
    return this.observer.replace(request, await app.handle(request))
  }
}
