import { Amount } from '../../acts/cells.ts'
import type { Deps } from '../../app/services.ts'
import { lastDoneMs, refusedSinceDone } from '../../audit/queries.ts'
import { findProduct } from '../../catalog/queries.ts'
import { type Config, urlOf } from '../../config/config.ts'
import type { Query } from '../../db/database.ts'
import { UNCACHED } from '../../http/json.ts'
import type { Listening } from '../../http/listen.ts'
import { pathOf } from '../../http/target.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../kernel/clock.ts'
import { isUnavailable } from '../../kernel/failure.ts'
import type { Log } from '../../observability/log.ts'
import type { Labelled, Metrics } from '../../observability/metrics.ts'
import { stockReport } from '../../orders/stock-report.ts'
import type { Reference } from '../../reference/reference.ts'
import type { ReplicatedServer } from '../../replication/server.ts'
import { countLow } from '../../wallets/queries.ts'
import { attemptTotals } from '../../webhooks/deliveries.ts'
import { failingSinceMs } from '../../webhooks/queries.ts'
import type { DueWork } from '../../work/due.ts'
import type { World } from '../../work/world.ts'
import { bind } from './bind.ts'

const METRICS_PATH = '/metrics'

/** `GET /metrics` has its own address: it is for operators, not for clients. */
export const serveMetrics = (address: { host: string; port: number }, metrics: Metrics, log: Log): Listening => {
  const respond = async ({ method, url }: Request): Promise<Response> => {
    if (pathOf(url) !== METRICS_PATH) return new Response(`See ${METRICS_PATH}\n`, { status: 404 })
    if (method !== 'GET') return new Response(null, { status: 405, headers: { Allow: 'GET' } })
    return new Response(await metrics.page(), { headers: { 'content-type': metrics.contentType, ...UNCACHED } })
  }
  const onEscape = (error: Error): Response => {
    if (isUnavailable(error)) return new Response('The data cannot be read at the moment.\n', { status: 503 })
    log.error('no metrics', { cause: error.stack ?? String(error) })
    return new Response('The metrics cannot be read.\n', { status: 500 })
  }
  const server = bind({ ...address, onEscape })
  server.serve(respond)
  log.info('metrics', { url: urlOf(address.host, server.port) + METRICS_PATH })
  return server
}

/** Metrics that need the app of the server. */
export const watchWork = (metrics: Metrics, due: DueWork, { mode }: Config, { worlds, reference }: Deps): void => {
  watchDue(metrics, due, worlds.default)
  metrics.counter(
    'scrip_webhook_attempts_total',
    'Attempts to deliver an event: retrying is a failure that is tried again, failed the last one.',
    () => Object.entries(attemptTotals).map(([status, count]): Labelled => [{ status }, count]),
    ['status'],
  )
  metrics.gauge('scrip_database_damaged', '1 once damage was found in the database, until a restart.', () =>
    worlds.default.openDatabase?.damage ? 1 : 0,
  )
  if (mode === 'live') watchOperations(metrics, worlds.default, reference)
}

const watchDue = ({ gauge }: Metrics, due: DueWork, world: World): void => {
  gauge('scrip_due_work', 'Orders and payouts of the default world that wait for a time; at most 1,000 of each.', () =>
    due.waiting(world),
  )
  gauge('scrip_due_work_set_aside', 'Steps of orders and payouts that failed and are set aside.', () =>
    due.quarantinedCount(world),
  )
  gauge('scrip_due_work_late_seconds', 'Time for which the first of them has been overdue.', () => {
    const lateMs = world.clock.nowMs() - due.nextMs(world)
    return Math.max(0, lateMs) / SECOND_MS
  })
}

/** Gauges of live mode that warn before something runs out (contract C17). Sales are read once a minute. */
const watchOperations = ({ gauge }: Metrics, world: World, reference: Reference): void => {
  let read: { atMs: number; stock: Stock[] } | undefined
  const stock = (): Stock[] => {
    const nowMs = world.clock.steadyMs()
    if (!read || nowMs - read.atMs >= MINUTE_MS) read = { atMs: nowMs, stock: stockOf(world, reference) }
    return read.stock
  }
  const labels = ['product_id', 'denomination', 'currency']
  const left = () => stock().map(({ labels, available }): Labelled => [labels, available])
  gauge('scrip_stock_available', 'Codes left for sale.', left, labels)
  const seconds = () =>
    stock().flatMap(({ labels, daysLeft }): Labelled[] =>
      daysLeft === null ? [] : [[labels, (daysLeft * DAY_MS) / SECOND_MS]],
    )
  gauge('scrip_stock_seconds', 'Time that the codes last at the sales of the last 30 days.', seconds, labels)
  gauge('scrip_wallets_low', 'Wallets below their threshold; at most 1,000.', () => countLow(world.db.query))
  gauge('scrip_webhook_failing_seconds', 'Time since the webhook that fails the longest began to fail.', () => {
    const nowMs = world.clock.nowMs()
    return (nowMs - (failingSinceMs(world.db.query) ?? nowMs)) / SECOND_MS
  })
  gauge('scrip_backup_age_seconds', 'Time since the last backup; infinite without one.', () => {
    const backupMs = lastDoneMs(world.db.query, 'backup')
    return backupMs === null ? Number.POSITIVE_INFINITY : (world.clock.nowMs() - backupMs) / SECOND_MS
  })
  gauge('scrip_backups_failed', 'Backups that failed since the last one that succeeded.', () =>
    refusedSinceDone(world.db.query, 'backup'),
  )
}

interface Stock {
  labels: Record<string, string>
  available: number
  daysLeft: number | null
}

const stockOf = ({ db: { query }, clock }: World, reference: Reference): Stock[] =>
  stockReport(query, clock.nowMs()).flatMap(({ productId, denominationMinor, available, daysLeft }) => {
    const labels = labelsOf(query, reference, productId, denominationMinor)
    return labels ? [{ labels, available, daysLeft }] : []
  })

/** Undefined for a product that is no longer in the catalog. */
const labelsOf = (query: Query, reference: Reference, productId: number, denominationMinor: number) => {
  const product = findProduct(query, productId)
  if (!product) return undefined
  const currency = reference.shownCurrency(product.currencyId)
  const denomination = String(new Amount(denominationMinor, currency))
  return { product_id: String(productId), denomination, currency: currency.currency }
}

const STATES = ['active', 'warm', 'pulling', 'waiting'] as const

/** The metrics of a replicated server (contract C18). */
export const watchReplication = ({ gauge }: Metrics, replica: ReplicatedServer): void => {
  const roles = () => STATES.map((role): Labelled => [{ role }, replica.state === role ? 1 : 0])
  gauge('scrip_record_role', '1 for the role of the server.', roles, ['role'])
  gauge('scrip_record_epoch', 'Epoch of the lease.', () => replica.position.epoch)
  gauge('scrip_record_seq', 'Last commit of the copy.', () => replica.position.seq)
  gauge('scrip_record_lag_commits', 'Commits that the copy is behind.', () => replica.position.lagCommits)
  gauge('scrip_record_lag_seconds', 'Time for which the copy has been behind.', () => replica.position.lagSeconds)
  gauge('scrip_record_commits', 'Commits to the record since the start.', () => replica.totals.commits)
  gauge('scrip_record_commit_seconds', 'Time of these commits.', () => replica.totals.seconds)
  gauge('scrip_record_commits_refused', 'Units of work that PostgreSQL refused.', () => replica.totals.refused)
  gauge('scrip_record_renewals_failed', 'Renewals of the lease that failed.', () => replica.totals.failedRenewals)
  gauge('scrip_record_takeovers', 'Leases that this server took.', () => replica.totals.takeovers)
}
