import { type AnyElysia, Elysia } from 'elysia'
import { servedBy } from '../http/operation.ts'
import type { Ordering } from '../orders/orders.ts'
import type { Paying } from '../payouts/payouts.ts'
import type { Reference } from '../reference/reference.ts'
import { findClient } from '../sessions/clients.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { DueWork } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { sandboxRoutes } from './control/routes.ts'
import { currenciesOf } from './faults/currencies.ts'
import { Coverage } from './requests/coverage.ts'
import type { CoverageReport, LoggedRequest } from './requests/model.ts'
import { RequestObserver } from './requests/observer.ts'
import { Outcomes } from './requests/outcomes.ts'
import { SANDBOX_CLIENT_IDS } from './seed/accounts.ts'
import { Snapshots } from './worlds/snapshots.ts'
import { worldMeant, worldOfBearer } from './worlds/world-meant.ts'
import type { SandboxWorlds } from './worlds/worlds.ts'

export interface SandboxOptions {
  worlds: SandboxWorlds
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
  readonly observer: RequestObserver
  readonly #coverage: Coverage
  readonly #snapshots: Snapshots
  /** Requests that are sent again, each with the world that it is of, whatever was redacted from it. */
  readonly #replayed = new WeakMap<Request, World>()
  #outcomes: Outcomes | undefined

  constructor(private readonly options: SandboxOptions) {
    this.#snapshots = new Snapshots(options.worlds.images)
    const outcomes = () => this.#known()
    this.#coverage = new Coverage(outcomes)
    this.observer = new RequestObserver({
      outcomes,
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
    return new Elysia({ name: 'sandbox-public' }).onTransform({ as: 'global' }, async ({ request, path, route }) =>
      this.observer.entered({ request, path, route }),
    )
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
      outcomes: () => this.#known(),
      refuseUnknown: this.observer.refuseUnknown,
      replay: (world, logged) => this.#replay(world, logged),
    })
  }

  #known(): Outcomes {
    this.#outcomes ??= new Outcomes(servedBy(this.options.app()))
    return this.#outcomes
  }

  async #replay(world: World, { method, path, client, request }: LoggedRequest): Promise<Response> {
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
