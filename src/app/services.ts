import { FailedLogins } from '../audit/failed-logins.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Pricing } from '../charges/quote.ts'
import type { WorldRates } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import { expiringEvents } from '../events/expiry.ts'
import type { RequestListener } from '../http/request-timer.ts'
import { onUnreadable } from '../kernel/unreadable.ts'
import type { Log } from '../observability/log.ts'
import { dueOrders } from '../orders/delivery.ts'
import type { Ordering } from '../orders/orders.ts'
import { importedSupply } from '../orders/supply.ts'
import type { CipherSource } from '../orders/voucher-key.ts'
import type { Paying } from '../payouts/payouts.ts'
import { duePayouts } from '../payouts/progress.ts'
import type { Reference } from '../reference/reference.ts'
import { refreshClients } from '../sessions/clients.ts'
import { CredentialCheck } from '../sessions/credentials.ts'
import { Sessions } from '../sessions/sessions.ts'
import { TokenSigner } from '../sessions/tokens.ts'
import { type AddressRules, rulesOf } from '../webhooks/addresses.ts'
import { expiringAttempts } from '../webhooks/clearing.ts'
import { Deliveries } from '../webhooks/deliveries.ts'
import { posting } from '../webhooks/outgoing.ts'
import { Secrets } from '../webhooks/secrets.ts'
import { createSender, type Send } from '../webhooks/sender.ts'
import { DueWork } from '../work/due.ts'
import type { World } from '../work/world.ts'
import type { Worlds } from '../work/worlds.ts'
import type { Extension } from './extension.ts'

/** Everything that comes from outside the app. */
export interface Deps {
  config: Config
  version: string
  log: Log
  worlds: Worlds
  reference: Reference
  catalog: Catalog
  rates: WorldRates
  signingKey: Uint8Array
  /** Encrypts voucher codes at rest. */
  ciphers: CipherSource
  publicUrl: string
  addressOf: (request: Request) => string
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  isClosing: () => boolean
  /** True while this server may serve: with PostgreSQL, while it has the lease. */
  isServing?: (() => boolean) | undefined
  /** True if no rate limit applies, because nobody has sent these requests. */
  isUnlimited?: boolean
  /** Delivers to webhooks instead of the network, for tests. */
  send?: Send
  /** Notified of each request: the log, the metrics. */
  listeners?: readonly RequestListener[]
  /** Compiles each route at once instead of at its first request. */
  precompile?: boolean
  /** Undefined in live mode. */
  extension: Extension | undefined
}

const UNREADABLE = 'a stored value cannot be read: run scrip verify'
const DAMAGED = 'a voucher cannot be decrypted and is no longer for sale'

/** The services that modules share: sessions, prices, payments, due work. */
export const createServices = (deps: Deps) => {
  const { config, log, worlds, reference, catalog, rates, ciphers, extension } = deps
  onUnreadable((value) => log.error(UNREADABLE, { value }))
  const { accessTtlMs, refreshTtlMs, conversionBasisPoints, payoutFeeBasisPoints, limits } = config
  /** Reads the data in memory again, after an act of an operator. */
  const refresh = (world: World): void => {
    world.forgetDerived()
    refreshClients(world)
    catalog.refresh()
  }
  const signer = new TokenSigner(deps.signingKey)
  const sessions = new Sessions({ worlds, signer, accessTtlMs, refreshTtlMs })
  /** A sandbox has no audit, because its records do not outlive a test. */
  const failedLogins = extension ? undefined : new FailedLogins()
  const credentials = new CredentialCheck({
    resolveAccount: extension?.resolveAccount ?? (({ username }) => ({ world: worlds.default, username })),
    limitsFailures: limits !== undefined && !deps.isUnlimited,
    onFailed: (username, address) => failedLogins?.add(username, address),
  })
  const supply = extension?.supply ?? importedSupply({ ciphers, onDamaged: (code) => log.error(DAMAGED, { ...code }) })
  const byClock = (records: 'payouts' | 'orders') => (world: World) => extension?.movesByClock(world, records) ?? false
  const pricing: Pricing = { catalog, reference, rates, conversionBasisPoints }
  const ordering: Ordering = { reference, pricing, supply, ciphers, byClock: byClock('orders') }
  const paying: Paying = {
    reference,
    rates,
    feeBasisPoints: payoutFeeBasisPoints,
    conversionBasisPoints,
    byClock: byClock('payouts'),
    stepByClock: extension?.stepByClock,
  }
  const due = new DueWork([dueOrders(ordering), duePayouts(paying), expiringEvents, expiringAttempts], (step, cause) =>
    log.error('a due step failed and is set aside', { ...step, cause: String(cause) }),
  )
  const rules = rulesOf(config, extension !== undefined)
  const secrets = new Secrets(ciphers)
  const deliveries = deliveriesOf(deps, rules, secrets)
  return {
    rules,
    secrets,
    deliveries,
    sessions,
    credentials,
    failedLogins,
    refresh,
    pricing,
    ordering,
    paying,
    due,
  }
}

const deliveriesOf = (
  { version, send, log, extension, isServing, worlds }: Deps,
  rules: AddressRules,
  secrets: Secrets,
): Deliveries => {
  const deliver = posting(send ?? createSender({ rules, userAgent: `Scrip/${version}` }))
  return new Deliveries({
    deliver: extension?.delivering(deliver) ?? deliver,
    secrets,
    isHeld: () => isServing?.() === false || worlds.default.openDatabase?.damage !== undefined,
    onDisabled: ({ id, clientId }, reason) => log.warn('a webhook was switched off', { webhook: id, clientId, reason }),
    onError: (error) => {
      if (!extension) worlds.default.openDatabase?.noteDamage(error)
      log.error('a delivery failed', { cause: String(error) })
    },
  })
}

export type Services = ReturnType<typeof createServices>
