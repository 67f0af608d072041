import { type AnyElysia, Elysia } from 'elysia'
import { beneficiaryRoutes } from '../beneficiaries/routes.ts'
import { cardRoutes, categoryRoutes, productRoutes } from '../catalog/routes.ts'
import { chargeRoutes } from '../charges/routes.ts'
import { asFailure, isDamage, tryLater } from '../db/storage.ts'
import { docsRoutes } from '../docs/routes.ts'
import { eventRoutes } from '../events/routes.ts'
import { addressBehind } from '../http/client-address.ts'
import { type HttpLayer, httpLayer } from '../http/http-layer.ts'
import { combineObservers } from '../http/observer.ts'
import { RequestTimer } from '../http/request-timer.ts'
import { serviceRoutes } from '../http/service-routes.ts'
import { basePathOf } from '../http/target.ts'
import { orderRoutes } from '../orders/routes.ts'
import { payoutRoutes } from '../payouts/routes.ts'
import { referenceRoutes } from '../reference/routes.ts'
import { limitsOf } from '../sessions/clients.ts'
import type { Credentials } from '../sessions/credentials.ts'
import { Guard } from '../sessions/guard.ts'
import { type SessionRoutesOptions, sessionRoutes } from '../sessions/routes.ts'
import { walletRoutes } from '../wallets/routes.ts'
import { rulesFor } from '../webhooks/addresses.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import { DELIVERED_EVENTS } from './event-examples.ts'
import type { Extension } from './extension.ts'
import { PICTURES } from './pictures.ts'
import { createServices, type Deps, type Services } from './services.ts'

/**
 * The program: the HTTP layer, the extension around the routes, the modules, and the documentation of them all. With the
 * app come its due work, for a timer, and a login for the command that starts the program.
 */
export const createApp = (deps: Deps) => {
  const { version, publicUrl, config, extension, log, precompile = false } = deps
  const services = createServices(deps)
  const { sessions, failedLogins, ordering, paying, due, deliveries, secrets } = services
  const sentFrom = addressBehind(config.trustedProxies, deps.addressOf)
  const addressOf = (request: Request): string => sentFrom(extension?.causeOf(request) ?? request)
  const timer = timerOf(deps, addressOf)
  const usernameOf = extension?.usernameOf ?? (({ client }) => client.username)
  const guard = new Guard({
    sessions,
    limitsOf: (client) => (deps.isUnlimited ? undefined : limitsOf(client, config.limits)),
    due,
    isDueBeforeReads: extension !== undefined,
    keepsRequestIds: extension === undefined,
    watchDeliveries: (world) => deliveries.watch(world),
    usernameOf,
    watcher: extension?.observer,
  })
  const layer = httpLayer({
    admit: guard.admit,
    nextRequestId: deps.nextRequestId,
    basePath: basePathOf(publicUrl),
    isClosing: deps.isClosing,
    observer: combineObservers([timer, extension?.observer]),
    requireHost: extension?.requireHost,
    entered: extension?.observer.entered,
    asFailure: (error, incoming) => extension?.failureOf(error, incoming) ?? failureIn(deps, error, incoming.request),
    onUnexpectedError: ({ error, ...request }) =>
      log.error('request failed', { ...request, cause: error instanceof Error ? error.stack : String(error) }),
  })
  const app: AnyElysia = new Elysia({ normalize: false, precompile, handler: { standardHostname: false } }).use(
    layer.hooks,
  )
  addModules(app, layer, deps, services, { guard, addressOf, usernameOf })
  app.use(
    docsRoutes(
      { app, version, publicUrl, additions: extension?.documentation, events: DELIVERED_EVENTS },
      PICTURES,
      layer,
    ),
  )
  extension?.addRoutes({ app, layer, sessions, ordering, paying, due, deliveries, secrets })
  const logIn = (login: Credentials) => accessTokenOf(services, login)
  /** Called every second, so that deliveries continue after a start and after an act. */
  const tick = (): void => deliveries.watch(deps.worlds.default)
  const refresh = () => services.refresh(deps.worlds.default)
  const handle = extension ? extension.serving(replacing(app, extension)) : app.fetch
  return { app, handle, due, deliveries, delivering: ordering, failedLogins, logIn, tick, refresh }
}

/** A read that meets damage is an unexpected error. A write that meets it has done nothing (contract C4). */
const failureIn = ({ worlds }: Deps, error: unknown, { method }: Request): unknown => {
  if (!isDamage(error)) return asFailure(error)
  worlds.default.openDatabase?.noteDamage(error)
  return method === 'GET' || method === 'HEAD' ? error : tryLater(error)
}

/** Logs in without a request that the request log or the coverage would show. */
const accessTokenOf = async ({ credentials, sessions }: Services, login: Credentials): Promise<string> => {
  const identified = await credentials.identify(login, { incoming: undefined, address: '' }, () => undefined)
  return (await sessions.begin(identified)).access.token
}

/** Undefined if nobody is notified of requests. */
const timerOf = ({ listeners = [], extension }: Deps, addressOf: Deps['addressOf']): RequestTimer | undefined =>
  listeners.length === 0 ? undefined : new RequestTimer(listeners, { addressOf, faultOf: extension?.observer.faultOf })

/** Lets an extension have the last word on each response. */
const replacing =
  ({ fetch }: AnyElysia, { observer: { replace } }: Extension) =>
  (request: Request): Response | Promise<Response> => {
    const response = fetch(request)
    return response instanceof Promise
      ? response.then((settled) => replace(request, settled))
      : replace(request, response)
  }

/** Adds the routes of all modules, in the order of the specification. */
const addModules = (
  app: AnyElysia,
  layer: HttpLayer,
  deps: Deps,
  services: Services,
  { guard, ...login }: Pick<SessionRoutesOptions, 'guard' | 'addressOf' | 'usernameOf'>,
) => {
  const { sessions, credentials, pricing, ordering, paying } = services
  const { config, version, worlds, reference, catalog, publicUrl, extension } = deps
  const { accessTtlMs, chargeTtlMs, mode } = config
  const accountErrors = extension?.accountErrors ?? {}
  const isReady = () => !deps.isClosing() && worlds.default.db.isWritable
  const webhookRules = (request: Request) => rulesFor(services.rules, login.addressOf(request))
  const modules = [
    ...sessionRoutes({ credentials, sessions, guard, accessTtlMs, accountErrors, ...login }),
    beneficiaryRoutes({ reference, guard }),
    productRoutes({ catalog, guard, publicUrl, stockCovers: ordering.supply.covers }),
    cardRoutes({ catalog }),
    chargeRoutes({ ...pricing, chargeTtlMs, guard }),
    categoryRoutes({ catalog, guard }),
    ...referenceRoutes({ reference, guard }),
    walletRoutes({ reference, guard }),
    orderRoutes({ ...ordering, guard }),
    payoutRoutes({ ...paying, guard }),
    eventRoutes({ guard }),
    webhookRoutes({ ...services, guard, rulesFor: webhookRules }),
    serviceRoutes({ version, mode, clock: () => worlds.default.clock, isReady }),
  ]
  for (const routes of modules) routes.addTo(app, layer)
}
