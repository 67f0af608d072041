import { type AnyElysia, Elysia } from 'elysia'
import { operationsOf } from '../http/operations.ts'
import type { Ordering } from '../orders/orders.ts'
import type { Paying } from '../payouts/payouts.ts'
import type { Reference } from '../reference/reference.ts'
import { findClient } from '../sessions/clients.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { DueWork } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import type { Worlds } from '../worlds/worlds.ts'
import { sandboxRoutes } from './control/routes.ts'
import { currenciesOf } from './faults/currencies.ts'
import { Coverage, type CoverageReport } from './requests/coverage.ts'
import { Recorder } from './requests/observer.ts'
import { Catalogue } from './requests/outcomes.ts'
import type { JournalEntry } from './requests/request-log.ts'
import { SANDBOX_CLIENT_IDS } from './seed/accounts.ts'
import { Snapshots } from './worlds/snapshots.ts'
import { worldMeant, worldOfBearer } from './worlds/world-meant.ts'

export interface SandboxOptions {
  worlds: Worlds
  sessions: Sessions
  reference: Reference
  ordering: Ordering
  paying: Paying
  due: DueWork
  version: string
  publicUrl: string
  /** Whether what the API would ignore is refused. */
  strict: boolean
  gate: (request: Request) => void
  /** The app that the sandbox is around, once it is whole. */
  app: () => AnyElysia
}

/** The sandbox around an app (contract C15). In live mode none of it is made. */
export class Sandbox {
  readonly recorder: Recorder
  readonly #coverage: Coverage
  readonly #snapshots: Snapshots
  /** Requests that are sent again, each with the world that it is of, whatever was redacted from it. */
  readonly #replayed = new WeakMap<Request, World>()
  #catalogue: Catalogue | undefined

  constructor(private readonly options: SandboxOptions) {
    this.#snapshots = new Snapshots(options.worlds.images)
    const catalogue = () => this.#known()
    this.#coverage = new Coverage(catalogue)
    this.recorder = new Recorder({
      catalogue,
      coverage: this.#coverage,
      defaultWorld: () => options.worlds.default,
      worldMeant: async ({ request, route }) =>
        this.#replayed.get(request) ?? worldMeant(options.worlds, request, route),
      worldMissed: (request) => this.#replayed.get(request) ?? worldOfBearer(options.worlds, request),
      currenciesOf: (faulted, session) => currenciesOf(options.ordering.pricing, faulted, session),
      strict: options.strict,
    })
  }

  /** Lets faults strike public routes too; protected ones have been struck when they were let in. */
  get publicRoutes() {
    return new Elysia({ name: 'sandbox-public' }).onBeforeHandle({ as: 'global' }, this.recorder.entered)
  }

  /** Which documented outcomes the requests of all worlds have exercised. */
  coverage(): CoverageReport {
    return this.#coverage.report(undefined)
  }

  get routes() {
    return sandboxRoutes({
      ...this.options,
      catalog: this.options.ordering.pricing.catalog,
      snapshots: this.#snapshots,
      coverage: this.#coverage,
      catalogue: () => this.#known(),
      refuseUnknown: this.recorder.refuseUnknown,
      replay: (world, entry) => this.#replay(world, entry),
    })
  }

  #known(): Catalogue {
    this.#catalogue ??= new Catalogue(operationsOf(this.options.app()))
    return this.#catalogue
  }

  async #replay(world: World, { method, path, client, request }: JournalEntry): Promise<Response> {
    const { sessions, publicUrl, app } = this.options
    const headers = new Headers(request.headers)
    const id = client === null ? undefined : SANDBOX_CLIENT_IDS[client as keyof typeof SANDBOX_CLIENT_IDS]
    const found = id === undefined ? undefined : findClient(world, id)
    if (found)
      headers.set(
        'authorization',
        `Bearer ${(await sessions.begin({ world, client: found, passwordSha256: undefined })).accessToken}`,
      )
    const again = new Request(publicUrl + path, { method, headers, body: request.body })
    this.#replayed.set(again, world)
    return app().handle(again)
  }
}
