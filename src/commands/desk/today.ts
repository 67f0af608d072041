import { Amount, type List, listOf } from '../../acts/cells.ts'
import { actsOn, type Kind, members, type Noun } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import { STOCK_COLUMNS } from '../../acts/vouchers.ts'
import { WALLET } from '../../acts/wallets.ts'
import { ATTEMPT_COLUMNS } from '../../acts/webhooks.ts'
import { findHead, lastDoneMs } from '../../audit/queries.ts'
import type { Sums } from '../../db/narrowing.ts'
import { toTimestampOrNull } from '../../kernel/clock.ts'
import { daysLeft, firstDay } from '../../kernel/lasting.ts'
import { openOrders } from '../../orders/queries.ts'
import { waitingPayouts } from '../../payouts/queries.ts'
import { hasClients } from '../../sessions/queries.ts'
import { countLow, debitedSince, lowWallets, type Wallet } from '../../wallets/queries.ts'
import { attemptsTo, failingWebhooks } from '../../webhooks/queries.ts'
import type { Reading } from '../records/administration.ts'
import { lowStock } from './lists.ts'

/** The records that wait for somebody, and the stocks and wallets that run out. */

/** The oldest are done first. */
const SHOWN_MAX = 100
const ATTEMPTS_MAX = 20

interface Section {
  title: string
  /** The list of all records of this kind, and its part that this section shows. */
  page: string
  part: string
  empty: string
  /** The act that takes several rows at once. */
  many?: string
  /** A section of the page; `acts` of a row are the acts that it allows. */
  shown: string
  list: List
  /** The sum of all in each currency. */
  sums?: Amount[]
}

/** The first records, with the acts that they allow. */
const waiting = <Id, Item>(
  kind: Kind<Id, Item>,
  acts: Noun,
  { rows, sums }: { rows: Iterable<Item>; sums: readonly Sums[] },
  data: Reading,
) => ({
  list: {
    ...listOf({ ...kind.columns, acts: (one) => actsOn(kind, acts, one) }, rows, data),
    total: sums.reduce((total, { n }) => total + n, 0),
  },
  sums: sums.map(({ currencyId, minor }) => new Amount(minor.sum ?? 0, data.shownCurrency(currencyId))),
})

const LASTING = members<Wallet & { daysLeft: number | null }>('daysLeft')

export const todayOf = async (data: Reading) => {
  const { query, clientName } = data
  const payouts = waitingPayouts(query, { limit: SHOWN_MAX })
  const orders = openOrders(query, SHOWN_MAX)
  const day = firstDay(data.world.clock.nowMs())
  const low = Array.from(lowWallets(query, { limit: SHOWN_MAX }), (wallet) => ({
    ...wallet,
    daysLeft: daysLeft(wallet.amountMinor + wallet.creditLimitMinor, debitedSince(query, wallet.id, day)),
  }))
  const failed = failingWebhooks(query, SHOWN_MAX).flatMap(({ id, name, clientId }) =>
    [...attemptsTo(query, id, { newestFirst: true, limit: ATTEMPTS_MAX })]
      .filter(({ status }) => status !== 'delivered')
      .map((attempt) => ({ ...attempt, webhook: `${name} of ${clientName(clientId)}` })),
  )
  const sections: Section[] = [
    {
      title: 'Payouts that wait',
      page: 'payouts',
      part: 'waiting',
      empty:
        'No payout waits. A client makes one with POST /api/v1/payouts, and it waits here until you mark it as paid.',
      many: 'payouts advance',
      shown: 'id client status amount beneficiary reference_id created_at',
      ...waiting(PAYOUT, payoutActs, { rows: payouts, sums: payouts.sums?.() ?? [] }, data),
    },
    {
      title: 'Orders that wait',
      page: 'orders',
      part: 'waiting',
      empty: 'No order waits. Those that are not delivered immediately wait here until you deliver them.',
      many: 'orders deliver',
      shown: 'id client status product quantity delivered paid placed_at',
      ...waiting(ORDER, orderActs, orders, data),
    },
    {
      title: 'Stock that runs low',
      page: 'stock',
      part: 'low',
      empty: 'Nothing sells out in the next two weeks. Stock has a form that imports codes.',
      shown: 'product_id product denomination available days_left',
      list: listOf(STOCK_COLUMNS, lowStock(data), data),
    },
    {
      title: 'Wallets below their threshold',
      page: 'wallets',
      part: 'low',
      empty: 'No wallet is below its threshold. Set one on the page of a wallet.',
      shown: 'id client amount threshold days_left',
      list: {
        ...listOf({ ...WALLET.columns, ...LASTING, acts: () => ['wallet fund'] }, low, data),
        total: countLow(query),
      },
    },
    {
      title: 'Deliveries that fail',
      page: 'webhooks',
      part: 'failing',
      empty: 'No webhook fails.',
      shown: 'webhook event type attempt status response_status error next_attempt_at',
      list: listOf(
        { ...ATTEMPT_COLUMNS, webhook: ({ webhook }) => webhook, acts: () => ['webhooks redeliver'] },
        failed,
        data,
      ),
    },
  ]
  return {
    seen: findHead(query)?.count ?? 0,
    isEmpty: !hasClients(query),
    sections: sections.map(({ shown, list, ...section }) => ({
      ...section,
      list: { ...list, columns: shown.split(' ') },
    })),
    backup: toTimestampOrNull(lastDoneMs(query, 'backup')),
  }
}
