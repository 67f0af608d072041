import type { Query } from '../../db/database.ts'
import { toTimestampOrNull } from '../../kernel/clock.ts'
import { toMajor } from '../../kernel/money.ts'
import { orderWire } from '../../orders/contract.ts'
import type { Order } from '../../orders/queries.ts'
import { payoutWire } from '../../payouts/contract.ts'
import { eventsOf, type Payout } from '../../payouts/queries.ts'
import type { Reference } from '../../reference/reference.ts'
import { walletWire } from '../../wallets/contract.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { explainedAttemptWire, webhookWire } from '../../webhooks/contract.ts'
import { latestAttempts, type Webhook } from '../../webhooks/queries.ts'
import { countQueued } from '../../webhooks/queue-queries.ts'

/** Records as the API shows them to their client, and what only the sandbox shows. */

const ATTEMPTS_SHOWN = 20

/** Voucher codes are for the client alone, and the order itself has its charges. */
export const listed = <Order extends { vouchers: unknown; charges: unknown }>({
  vouchers: _,
  charges: __,
  ...rest
}: Order) => rest

export const worldOrderWire = (order: Order, reference: Reference) => ({
  client_id: order.clientId,
  ...listed(orderWire(order, [], reference)),
  delivered_quantity: order.deliveredQuantity,
  due_at: toTimestampOrNull(order.dueAtMs),
})

export const worldPayoutWire = (query: Query, payout: Payout, reference: Reference) => ({
  client_id: payout.clientId,
  ...payoutWire(payout, eventsOf(query, payout.id), reference),
  submitted: payout.submittedAtMs !== null,
  returned: payout.returned,
  due_at: toTimestampOrNull(payout.dueAtMs),
  due_event: payout.dueEvent,
})

export const worldWalletWire = (wallet: Wallet, reference: Reference) => {
  const { precision } = reference.getCurrency(wallet.currencyId)
  const threshold = wallet.thresholdMinor === null ? null : toMajor(wallet.thresholdMinor, precision)
  return { client_id: wallet.clientId, ...walletWire(wallet, reference), threshold }
}

export const worldWebhookWire = (query: Query, webhook: Webhook) => ({
  client_id: webhook.clientId,
  ...webhookWire(webhook),
  waiting: countQueued(query, { webhookId: webhook.id, droppedTo: webhook.droppedTo }),
  deliveries: latestAttempts(query, webhook.id, ATTEMPTS_SHOWN).map(explainedAttemptWire),
})
