import { beneficiariesOf } from '../../beneficiaries/queries.ts'
import { toMajor } from '../../kernel/money.ts'
import { ordersOf } from '../../orders/queries.ts'
import { payoutsOf } from '../../payouts/queries.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { allClients } from '../../sessions/queries.ts'
import { paymentsBySource } from '../../wallets/ledger-queries.ts'
import type { World } from '../../work/world.ts'

/**
 * The purchases and payouts of the clients of a world, the amounts that their wallets paid according to the ledger, and their saved
 * beneficiaries (decision 49).
 */

/** An order or a payout, described without its id, its reference and its times. */
export interface Purchase {
  /** A beneficiary counts as a purchase, too. It costs nothing, and so it has no wallet and no currency. */
  source: string
  client: string
  /** `2 × Gift Card of 100.00 USD`, `payout of 50.00 USD` */
  what: string
  /** The e-mail of the person it is for. */
  payee: string | null
  walletId: number | null
  /** The payment of the wallet less its refunds: 0 for a purchase that was cancelled or failed. */
  paidMinor: number
  currency: Currency | null
  /** The ledger entries that prove it. */
  entryIds: string
}

export const amountText = (minor: number, { currency, precision }: Currency): string =>
  `${toMajor(minor, precision).toFixed(precision)} ${currency}`

export const purchasesOf = ({ db: { query } }: World, reference: Reference): Purchase[] => {
  const names = new Map(allClients(query).map(({ id, username }) => [id, username]))
  const orders = new Map([...ordersOf(query, {})].map((order) => [String(order.id), order]))
  const payouts = new Map([...payoutsOf(query, {})].map((payout) => [payout.id, payout]))
  const beneficiaries = Array.from(beneficiariesOf(query, {}), ({ id, clientId }) => ({
    source: `beneficiary ${id}`,
    client: names.get(clientId) ?? '',
    what: 'beneficiary',
    payee: null,
    walletId: null,
    paidMinor: 0,
    currency: null,
    entryIds: '',
  }))
  const purchases = paymentsBySource(query).flatMap(({ sourceId, walletId, currencyId, paidMinor, entryIds }) => {
    const order = orders.get(sourceId)
    const payout = payouts.get(sourceId)
    const bought = order ?? payout
    if (!bought) return []
    const goods = reference.getCurrency(bought.currencyId)
    return {
      source: order ? `order ${sourceId}` : `payout ${sourceId}`,
      client: names.get(bought.clientId) ?? '',
      what: order
        ? `${order.quantity} × ${order.productName} of ${amountText(order.denominationMinor, goods)}`
        : `payout of ${amountText(payout?.amountMinor ?? 0, goods)}`,
      payee: order ? order.email : (payout?.beneficiaryEmail ?? null),
      walletId,
      paidMinor,
      currency: reference.getCurrency(currencyId),
      entryIds,
    }
  })
  return [...purchases, ...beneficiaries]
}
