import type { LedgerEntry, RequestDetail, RowChange, ScripEvent } from '../types.ts'
import { amount } from '../ui.tsx'

/** What a request changed, as people say it: what was bought, what each wallet pays, and what else was written. */

interface Words {
  text: string
  /** Where the record is shown. */
  record?: { page: string; id: string }
}

/** Tables as people know them. Undefined: the table follows from another one that is named. */
const NOUNS: Record<string, string | undefined> = {
  beneficiaries: 'Beneficiary',
  clients: 'Client',
  idempotency_keys: 'Idempotency key',
  journal_entries: 'Ledger entry',
  journal_lines: 'Ledger line',
  logins: 'Session',
  orders: 'Order',
  payouts: 'Payout',
  payout_events: 'Payout event',
  transactions: 'Transaction',
  vouchers: 'Voucher',
  voucher_stock: 'Voucher in stock',
  wallets: 'Wallet',
  webhooks: 'Webhook',
  webhook_queue: 'Delivery that waits',
  webhook_deliveries: 'Delivery attempt',
}

/** `Order 12`; a table that has no name for people is named as it is. */
export const nounOf = ({ table, key }: Pick<RowChange, 'table' | 'key'>): string =>
  `${NOUNS[table] ?? table.replaceAll('_', ' ')} ${key}`

/** What is said besides money and purchases. */
const SAID_ALONE = new Set(['beneficiaries', 'clients', 'idempotency_keys', 'logins', 'webhooks'])
const VERBS = { insert: 'created', update: 'changed', delete: 'deleted' } as const

export const inWords = ({ caused, ledger, changes }: RequestDetail): Words[] => {
  const words = [...purchases(caused), ...money(ledger), ...others(changes)]
  return words.length > 0 || changes.length === 0 ? words : [{ text: rowsWritten(changes.length) }]
}

const rowsWritten = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'} written`

/** The last event of each order and payout says what became of it. */
const purchases = (events: readonly ScripEvent[]): Words[] => {
  const last = new Map<string, ScripEvent>()
  for (const event of events) if (/^(?:order|payout)\./.test(event.type)) last.set(String(event.data.id), event)
  return [...last.values()].map(({ type, data }) => {
    const id = String(data.id)
    if (type.startsWith('payout.')) {
      const { amount: paid, currency, status } = data as { amount: number; currency: string; status: string }
      return { text: `Payout of ${amount(paid, currency)}: ${status}`, record: { page: 'money', id: `payout-${id}` } }
    }
    const { quantity, product_name, status } = data as { quantity: number; product_name: string; status: string }
    const vouchers = `${quantity} ${quantity === 1 ? 'voucher' : 'vouchers'} of ${product_name}`
    return { text: `Order ${id}: ${vouchers}, ${status.toLowerCase()}`, record: { page: 'money', id: `order-${id}` } }
  })
}

const UNITS = 10_000

/** What each wallet can spend less or more than before, and what is reserved of it. */
const money = (entries: readonly LedgerEntry[]): Words[] => {
  const sums = new Map<string, { walletId: number; account: string; currency: string; units: number }>()
  for (const { account, wallet_id: walletId, currency, amount: value } of entries.flatMap(({ lines }) => lines)) {
    if (walletId === null) continue
    const key = `${walletId} ${account}`
    const sum = sums.get(key) ?? { walletId, account, currency, units: 0 }
    sum.units += Math.round(value * UNITS)
    sums.set(key, sum)
  }
  return [...sums.values()]
    .filter(({ units }) => units !== 0)
    .map(({ walletId, account, currency, units }) => {
      const sum = amount(Math.abs(units) / UNITS, currency)
      const record = { page: 'money', id: `wallet-${walletId}` }
      if (account === 'wallet') return { text: `Wallet ${walletId} ${units < 0 ? 'pays' : 'receives'} ${sum}`, record }
      return { text: `${sum} of wallet ${walletId} ${units > 0 ? 'reserved' : 'no longer reserved'}`, record }
    })
}

const others = (changes: readonly RowChange[]): Words[] =>
  changes
    .filter(({ table }) => SAID_ALONE.has(table))
    .map((change) => ({ text: `${nounOf(change)} ${VERBS[change.operation]}` }))
