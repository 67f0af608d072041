import { type AnyElysia, Elysia } from 'elysia'
import { beneficiaryRoutes } from './beneficiaries/routes.ts'
import type { Catalog } from './catalog/catalog.ts'
import { categoryRoutes } from './catalog/category-routes.ts'
import { cardRoutes, productRoutes } from './catalog/routes.ts'
import type { RateSource } from './charges/rates.ts'
import { chargeRoutes } from './charges/routes.ts'
import type { Config } from './config/config.ts'
import { asFailure } from './db/storage.ts'
import { docsRoutes } from './docs/routes.ts'
import { DEFERRED } from './http/body.ts'
import { addressBehind } from './http/client-address.ts'
import { Edge } from './http/edge.ts'
import { combineObservers } from './http/observer.ts'
import { type Operation, servedBy } from './http/operation.ts'
import { type RequestListener, RequestTimer } from './http/request-timer.ts'
import { serviceRoutes } from './http/service-routes.ts'
import type { Log } from './observability/log.ts'
import { dueOrders } from './orders/delivery.ts'
import { orderRoutes } from './orders/routes.ts'
import { importedSupply } from './orders/supply.ts'
import type { SealSource } from './orders/voucher-key.ts'
import { duePayouts } from './payouts/progress.ts'
import { payoutRoutes } from './payouts/routes.ts'
import type { Reference } from './reference/reference.ts'
import { referenceRoutes } from './reference/routes.ts'
import { sandboxGate, worldGate } from './sandbox/control/gate.ts'
import { Sandbox } from './sandbox/sandbox.ts'
import { generatedSupply } from './sandbox/seed/vouchers.ts'
import { WORLD_ERRORS, worldAccounts } from './sandbox/worlds/accounts.ts'
import { pace } from './sandbox/worlds/pace.ts'
import type { SandboxWorlds } from './sandbox/worlds/worlds.ts'
import { refreshClients } from './sessions/clients.ts'
import { CredentialCheck, type Credentials } from './sessions/credentials.ts'
import { Guard } from './sessions/guard.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { Sessions } from './sessions/sessions.ts'
import { TokenSigner } from './sessions/tokens.ts'
import { walletRoutes } from './wallets/routes.ts'
import { DueWork } from './worlds/due.ts'
import type { World } from './worlds/world.ts'
import type { Worlds } from './worlds/worlds.ts'

/** What the program is made of, and everything that comes from outside. */
export interface Deps {
  config: Config
  version: string
  log: Log
  worlds: Worlds
  /** The same worlds, where there is a sandbox. */
  sandboxWorlds: SandboxWorlds | undefined
  reference: Reference
  catalog: Catalog
  rates: RateSource
  signingKey: Uint8Array
  /** What seals voucher codes at rest. */
  seals: SealSource
  /** The address that clients see: known once the port is bound. */
  publicUrl: string
  /** The peer that a request comes from. */
  addressOf: (request: Request) => string
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  isClosing: () => boolean
  /** Who hears of each request, such as a log; nothing is watched for nobody. */
  listeners?: readonly RequestListener[]
}

/** Operations that look at the catalog. */
const CATALOG_ROUTE = /^\/api\/v1\/(?:products|categories|subcategories|orders)\b/

/**
 * The table of contents: the edge first, then the rooms in the order of the specification. Beside the app stand the
 * work that falls due in it, for whoever keeps time where nobody asks, the sandbox around it, and its login for
 * whoever starts it.
 */
export const createApp = (deps: Deps) => {
  const { config, version, log, worlds, sandboxWorlds, reference, catalog, rates, publicUrl } = deps
  const { accessTtlMs, refreshTtlMs, chargeTtlMs, conversionBasisPoints, payoutFeeBasisPoints, limits, mode } = config
  const refreshIfChanged = (world: World): boolean => {
    if (!world.db.changedElsewhere()) return false
    world.forgetDerived()
    refreshClients(world)
    catalog.refresh()
    return true
  }
  const sessions = new Sessions({
    worlds,
    refreshIfChanged,
    signer: new TokenSigner(deps.signingKey),
    accessTtlMs,
    refreshTtlMs,
  })
  const { seals } = deps
  const onDamaged = (code: { stockId: number; productId: number }) =>
    log.error('a voucher cannot be opened and is not for sale any more', { ...code })
  const validityOf = (productId: number) => catalog.find(productId)?.validity
  const supply = mode === 'sandbox' ? generatedSupply(validityOf) : importedSupply({ seals, onDamaged })
  const paced = (what: 'payouts' | 'orders') => (world: World) => mode === 'sandbox' && world.of(pace)[what] === 'auto'
  const pricing = { catalog, reference, rates, conversionBasisPoints }
  const paying = {
    reference,
    rates,
    feeBasisPoints: payoutFeeBasisPoints,
    conversionBasisPoints,
    byClock: paced('payouts'),
  }
  const ordering = { pricing, supply, seals, byClock: paced('orders') }
  const due = new DueWork([dueOrders(ordering), duePayouts(paying)])
  const gate = sandboxGate({ boundHost: config.host, token: config.sandboxToken })
  const { strict } = config
  const sandbox = sandboxWorlds
    ? new Sandbox({
        worlds: sandboxWorlds,
        sessions,
        reference,
        ordering,
        paying,
        due,
        version,
        publicUrl,
        strict,
        gate,
        app: () => app,
      })
    : undefined
  const timer = deps.listeners?.length ? new RequestTimer(deps.listeners) : undefined
  const guard = new Guard({
    sessions,
    limits,
    due,
    refreshIfChanged,
    beforeRoute: (route) => (CATALOG_ROUTE.test(route) ? catalog.before() : undefined),
    onIdentified: (request, session) => {
      timer?.identified(request, session.client.username)
      sandbox?.observer.identified(request, session)
    },
    onAdmitted: sandbox?.observer.admitted,
  })
  const credentials = new CredentialCheck({
    resolveAccount: sandboxWorlds
      ? worldAccounts(sandboxWorlds, worldGate({ boundHost: config.host, publicUrl }))
      : ({ username }) => ({ world: worlds.default, username }),
    limitsFailures: limits !== undefined,
    refreshIfChanged,
  })
  const onBreakdown = ({ error, ...request }: { error: unknown; requestId: string; method: string; path: string }) =>
    log.error('request failed', { ...request, cause: error instanceof Error ? error.stack : String(error) })

  const isReady = () => !deps.isClosing() && worlds.default.db.trouble === undefined
  const rooms = new Elysia({ name: 'api' })
    .use(
      sessionRoutes({
        credentials,
        sessions,
        guard,
        accessTtlMs,
        accountErrors: sandboxWorlds ? WORLD_ERRORS : {},
        addressOf: addressBehind(config.trustedProxies, deps.addressOf),
        onPlaced: sandbox?.observer.belongs,
      }),
    )
    .use(beneficiaryRoutes({ reference, guard }))
    .use(productRoutes({ catalog, guard, publicUrl, stockLeft: supply.left }))
    .use(cardRoutes({ catalog }))
    .use(chargeRoutes({ ...pricing, chargeTtlMs, guard }))
    .use(categoryRoutes({ catalog, guard }))
    .use(referenceRoutes({ reference, guard }))
    .use(walletRoutes({ reference, guard }))
    .use(orderRoutes({ ...ordering, guard }))
    .use(payoutRoutes({ ...paying, guard }))
    .use(serviceRoutes({ version, mode, clock: () => worlds.default.clock, isReady }))
  const operations = new Map<string, Operation>()
  const edge = new Edge({
    operations,
    admit: guard.admit,
    nextRequestId: deps.nextRequestId,
    isClosing: deps.isClosing,
    observer: combineObservers([timer, sandbox?.observer]),
    asFailure,
    onBreakdown,
  })
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .parser(DEFERRED, () => null)
    .use(edge.plugin)
    .use(sandbox?.publicRoutes ?? new Elysia())
    .use(rooms)
    .use(docsRoutes({ app: () => app, version, publicUrl }))
  if (sandbox) app.use(sandbox.routes)
  for (const { method, path, operation } of servedBy(app)) operations.set(`${method} ${path}`, operation)
  /** Logs in without a request that the request log or the coverage would show. */
  const logIn = async (login: Credentials): Promise<string> => {
    const identified = await credentials.identify(login, { request: undefined, address: '' }, () => undefined)
    return (await sessions.begin(identified)).accessToken
  }
  return { app, handle: app.fetch, due, sandbox, logIn }
}
