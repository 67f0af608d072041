import type { TObject } from '@sinclair/typebox'
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
import { HttpLayer } from './http/http-layer.ts'
import { combineObservers, type HttpObserver } from './http/observer.ts'
import { type Operation, servedBy } from './http/operation.ts'
import { type RequestListener, RequestTimer } from './http/request-timer.ts'
import { serviceRoutes } from './http/service-routes.ts'
import type { Failure } from './kernel/failure.ts'
import type { Log } from './observability/log.ts'
import { dueOrders } from './orders/delivery.ts'
import type { Ordering } from './orders/orders.ts'
import { orderRoutes } from './orders/routes.ts'
import { importedSupply, type VoucherSupply } from './orders/supply.ts'
import type { SealSource } from './orders/voucher-key.ts'
import type { Paying } from './payouts/payouts.ts'
import { duePayouts } from './payouts/progress.ts'
import { payoutRoutes } from './payouts/routes.ts'
import type { Reference } from './reference/reference.ts'
import { referenceRoutes } from './reference/routes.ts'
import { refreshClients } from './sessions/clients.ts'
import { CredentialCheck, type Credentials, type ResolveAccount } from './sessions/credentials.ts'
import { type Asked, Guard } from './sessions/guard.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { type Session, Sessions } from './sessions/sessions.ts'
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
  /** What stands around the program; live mode has nothing. */
  extension: Extension | undefined
}

/** Replaces some of what the program gets from outside, and takes part before and after each request (decision 0047). */
export interface Extension {
  supply: VoucherSupply
  /** Whether the clock of a world moves its payouts or its orders. */
  movesByClock: (world: World, records: 'payouts' | 'orders') => boolean
  resolveAccount: ResolveAccount
  /** The errors of a login that `resolveAccount` throws. */
  accountErrors: Record<string, Failure>
  observer: HttpObserver & {
    identified: (request: Request, session: Session) => void
    admitted: (asked: Asked, session: Session) => Session | Promise<Session>
  }
  /** Comes before the routes of the program. */
  hooks: AnyElysia
  routes: (program: Program) => AnyElysia
  /** Request headers that an operation takes besides its own. */
  headersOf: (operation: Operation) => TObject | undefined
}

/** The parts of the program that an extension works on. */
export interface Program {
  app: AnyElysia
  sessions: Sessions
  ordering: Ordering
  paying: Paying
  due: DueWork
}

/** Operations that look at the catalog. */
const CATALOG_ROUTE = /^\/api\/v1\/(?:products|categories|subcategories|orders)\b/

/**
 * The table of contents: the edge first, then the rooms in the order of the specification. Beside the app stand the
 * work that falls due in it, for whoever keeps time where nobody asks, the sandbox around it, and its login for
 * whoever starts it.
 */
export const createApp = (deps: Deps) => {
  const { config, version, log, worlds, reference, catalog, rates, publicUrl, extension } = deps
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
  const supply = extension?.supply ?? importedSupply({ seals, onDamaged })
  const byClock = (records: 'payouts' | 'orders') => (world: World) => extension?.movesByClock(world, records) ?? false
  const pricing = { catalog, reference, rates, conversionBasisPoints }
  const paying = {
    reference,
    rates,
    feeBasisPoints: payoutFeeBasisPoints,
    conversionBasisPoints,
    byClock: byClock('payouts'),
  }
  const ordering = { pricing, supply, seals, byClock: byClock('orders') }
  const due = new DueWork([dueOrders(ordering), duePayouts(paying)])
  const timer = deps.listeners?.length ? new RequestTimer(deps.listeners) : undefined
  const guard = new Guard({
    sessions,
    limits,
    due,
    refreshIfChanged,
    beforeRoute: (route) => (CATALOG_ROUTE.test(route) ? catalog.before() : undefined),
    onIdentified: (request, session) => {
      timer?.identified(request, session.client.username)
      extension?.observer.identified(request, session)
    },
    onAdmitted: extension?.observer.admitted,
  })
  const credentials = new CredentialCheck({
    resolveAccount: extension?.resolveAccount ?? (({ username }) => ({ world: worlds.default, username })),
    limitsFailures: limits !== undefined,
    refreshIfChanged,
  })
  const onUnexpectedError = ({
    error,
    ...request
  }: {
    error: unknown
    requestId: string
    method: string
    path: string
  }) => log.error('request failed', { ...request, cause: error instanceof Error ? error.stack : String(error) })

  const isReady = () => !deps.isClosing() && worlds.default.db.trouble === undefined
  const rooms = new Elysia({ name: 'api' })
    .use(
      sessionRoutes({
        credentials,
        sessions,
        guard,
        accessTtlMs,
        accountErrors: extension?.accountErrors ?? {},
        addressOf: addressBehind(config.trustedProxies, deps.addressOf),
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
  const edge = new HttpLayer({
    operations,
    admit: guard.admit,
    nextRequestId: deps.nextRequestId,
    isClosing: deps.isClosing,
    observer: combineObservers([timer, extension?.observer]),
    asFailure,
    onUnexpectedError,
  })
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .parser(DEFERRED, () => null)
    .use(edge.plugin)
    .use(extension?.hooks ?? new Elysia())
    .use(rooms)
  app.use(docsRoutes({ app, version, publicUrl, headersOf: extension?.headersOf ?? (() => undefined) }))
  if (extension) app.use(extension.routes({ app, sessions, ordering, paying, due }))
  for (const { method, path, operation } of servedBy(app)) operations.set(`${method} ${path}`, operation)
  /** Logs in without a request that the request log or the coverage would show. */
  const logIn = async (login: Credentials): Promise<string> => {
    const identified = await credentials.identify(login, { request: undefined, address: '' }, () => undefined)
    return (await sessions.begin(identified)).accessToken
  }
  return { app, handle: app.fetch, due, logIn }
}
