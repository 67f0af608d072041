import { lastDoneMs, refusedSinceDone } from '../../audit/queries.ts'
import { findProduct } from '../../catalog/queries.ts'
import type { Query } from '../../db/database.ts'
import { MINUTE_MS, SECOND_MS } from '../../kernel/clock.ts'
import type { Labelled, Metrics } from '../../observability/metrics.ts'
import { stockOutlook } from '../../orders/stock-report.ts'
import type { Reference } from '../../reference/reference.ts'
import { countLow } from '../../wallets/queries.ts'
import { failingSinceMs } from '../../webhooks/queries.ts'
import type { World } from '../../worlds/world.ts'
import { Amount } from '../terminal/cells.ts'

/** Gauges of live mode that warn before something runs out (contract C17). Sales are read once a minute. */
export const watchOperations = (metrics: Metrics, world: World, reference: Reference): void => {
  let read: { atMs: number; stock: Promise<Stock[]> } | undefined
  const stock = (): Promise<Stock[]> => {
    const nowMs = world.clock.steadyMs()
    if (!read || nowMs - read.atMs >= MINUTE_MS) read = { atMs: nowMs, stock: stockOf(world, reference) }
    return read.stock
  }
  const labels = ['product_id', 'denomination', 'currency']
  metrics.watch('scrip_stock_available', 'Codes left for sale.', labels, async () =>
    (await stock()).map(({ labels, available }) => [labels, available]),
  )
  metrics.watch('scrip_stock_days', 'Days that the codes last at the sales of the last 30 days.', labels, async () =>
    (await stock()).flatMap(({ labels, daysLeft }): Labelled[] => (daysLeft === null ? [] : [[labels, daysLeft]])),
  )
  metrics.watch('scrip_wallets_low', 'Wallets below their threshold.', [], () => [[{}, countLow(world.db.query)]])
  metrics.watch('scrip_webhook_failing_seconds', 'How long the webhook that fails the longest has failed.', [], () => {
    const { db, clock } = world
    const nowMs = clock.nowMs()
    return [[{}, (nowMs - (failingSinceMs(db.query) ?? nowMs)) / SECOND_MS]]
  })
  metrics.watch('scrip_backup_age_seconds', 'Time since the last backup; infinite without one.', [], () => {
    const backupMs = lastDoneMs(world.db.query, 'backup')
    const ageMs = backupMs === null ? Number.POSITIVE_INFINITY : world.clock.nowMs() - backupMs
    return [[{}, ageMs / SECOND_MS]]
  })
  metrics.watch('scrip_backups_failed', 'Backups that failed since the last one that succeeded.', [], () => [
    [{}, refusedSinceDone(world.db.query, 'backup')],
  ])
}

interface Stock {
  labels: Record<string, string>
  available: number
  daysLeft: number | null
}

const stockOf = async ({ db: { query }, clock }: World, reference: Reference): Promise<Stock[]> =>
  (await stockOutlook(query, clock.nowMs())).flatMap(({ productId, denominationMinor, available, daysLeft }) => {
    const labels = labelsOf(query, reference, productId, denominationMinor)
    return labels ? [{ labels, available, daysLeft }] : []
  })

/** Undefined for a product that is not in the catalog any more. */
const labelsOf = (query: Query, reference: Reference, productId: number, denominationMinor: number) => {
  const product = findProduct(query, productId)
  if (!product) return undefined
  const currency = reference.getCurrency(product.currencyId)
  const denomination = String(new Amount(denominationMinor, currency))
  return { product_id: String(productId), denomination, currency: currency.currency }
}
