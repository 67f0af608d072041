import { listOf } from '../../acts/cells.ts'
import { ORDER } from '../../acts/orders.ts'
import { PAYOUT } from '../../acts/payouts.ts'
import { STOCK_COLUMNS, stockIn } from '../../acts/vouchers.ts'
import { WALLET } from '../../acts/wallets.ts'
import { ATTEMPT_COLUMNS } from '../../acts/webhooks.ts'
import { findHead, lastDoneMs } from '../../audit/queries.ts'
import { toTimestampOrNull } from '../../kernel/clock.ts'
import { allOrders } from '../../orders/queries.ts'
import { movingPayouts } from '../../payouts/queries.ts'
import { allClients } from '../../sessions/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'
import { allWebhooks, attemptsTo } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'
import { actsOnOrder, actsOnPayout, isOpen, OPEN_ORDERS, OPEN_PAYOUTS } from './story.ts'

/** What waits for somebody, and what runs out. */

/** The oldest are done first. */
const SHOWN_MAX = 100
/** Stock that lasts less long is shown: what the alert ScripStockRunsOut waits for, and a week more. */
const STOCK_DAYS = 14
const ATTEMPTS_MAX = 20

export const todayOf = async (data: Reading) => {
  const { query } = data
  const payouts = movingPayouts(query, OPEN_PAYOUTS)
  const orders = allOrders(query, OPEN_ORDERS).filter(isOpen)
  const stock = (await stockIn(data))
    .filter(({ available, daysLeft }) => available === 0 || (daysLeft !== null && daysLeft < STOCK_DAYS))
    .sort((one, other) => (one.daysLeft ?? 0) - (other.daysLeft ?? 0))
  const low = [...walletsOf(query, {})].filter(
    ({ amountMinor, thresholdMinor }) => amountMinor < (thresholdMinor ?? -Infinity),
  )
  const failing = allWebhooks(query).filter(({ failingSinceMs, active }) => failingSinceMs !== null && active)
  return {
    seen: findHead(query)?.count ?? 0,
    isEmpty: allClients(query).length === 0,
    payouts: {
      ...listOf({ ...PAYOUT.columns, acts: actsOnPayout }, payouts.slice(0, SHOWN_MAX), data),
      total: payouts.length,
    },
    orders: {
      ...listOf({ ...ORDER.columns, acts: actsOnOrder }, orders.slice(0, SHOWN_MAX), data),
      total: orders.length,
    },
    stock: listOf(STOCK_COLUMNS, stock, data),
    wallets: listOf(WALLET.columns, low, data),
    failing: failing.map(({ id, name, clientId }) => ({
      id,
      name,
      client: data.clientName(clientId),
      attempts: listOf(
        ATTEMPT_COLUMNS,
        [...attemptsTo(query, id, { newestFirst: true, limit: ATTEMPTS_MAX })].filter(
          ({ status }) => status !== 'delivered',
        ),
        data,
      ),
    })),
    backup: toTimestampOrNull(lastDoneMs(query, 'backup')),
  }
}
