import type { Static } from '@sinclair/typebox'
import { adviceAbout } from '../../docs/advice.ts'
import { counted } from '../../kernel/counted.ts'
import { amount, sumOf } from '../../pages/amounts.ts'
import type { RequestDetail } from './contract.ts'

/** Describes the changes of a request in words: purchases, the payments of each wallet, and other rows. */

type Detail = Static<typeof RequestDetail>
type LedgerEntry = Detail['ledger'][number]
type RowChange = Detail['changes'][number]
type ScripEvent = Detail['caused'][number]

interface Words {
  text: string
  /** The page that shows the record. */
  record?: { page: string; id: string }
}

/** Names of tables for people. Undefined: the change follows from another one that is named. */
const NOUNS: Record<string, string | undefined> = {
  beneficiaries: 'Beneficiary',
  journal_entries: 'Ledger entry',
  journal_lines: 'Ledger line',
  orders: 'Order',
  payouts: 'Payout',
  payout_events: 'Payout event',
  transactions: 'Transaction',
  vouchers: 'Voucher',
  voucher_stock: 'Voucher in stock',
  wallets: 'Wallet',
  webhooks: 'Webhook',
}

/** `Order 12`; a table without such a name keeps its own. */
export const nounOf = ({ table, key }: Pick<RowChange, 'table' | 'key'>): string =>
  `${NOUNS[table] ?? table.replaceAll('_', ' ')} ${key}`

/** Tables that are named in addition to money and purchases. */
const SAID_ALONE = new Set(['beneficiaries', 'webhooks'])
const VERBS = { insert: 'created', update: 'changed', delete: 'deleted' } as const

export const inWords = ({ caused, ledger, changes }: Detail): Words[] => {
  const words = [...purchases(caused), ...money(ledger), ...others(changes)]
  if (words.length > 0) return words
  return [
    {
      text:
        changes.length > 0
          ? `${counted(changes.length, 'row')} written`
          : 'It changed nothing: no row, no money, no event',
    },
  ]
}

/** The part of the guides about clients that repeat a request by themselves. */
export const RESENDING_CLIENTS = '/docs/guides/clients#what-your-client-does-on-its-own'

/** Whoever repeats a request, as far as a server can tell. */
export const REPEATED_BY = 'by your code or by its HTTP client (curl and Java’s HttpURLConnection do so by themselves)'

/** Says of a repeated write that it is one. `earlier` is the request that it repeats, if the log still has it. */
export const resentInWords = (
  { resent_after_ms: afterMs, changes }: Pick<Detail, 'resent_after_ms' | 'changes'>,
  earlier: { changes: readonly unknown[] } | undefined,
): string | undefined => {
  if (afterMs === null) return undefined
  const again = `The same request again ${Math.round(afterMs)} ms later, without an Idempotency-Key: ${REPEATED_BY}.`
  if (!earlier) return again
  if (earlier.changes.length === 0) return `${again} The first one did nothing.`
  return changes.length > 0 ? `${again} It was done twice.` : again
}

/** A request, the reason of its response, what to do, and its changes. */
export const explanationOf = (detail: Detail, earlier?: Detail): string => {
  const { id, method, path, client, response, outcome, message, fault, dry_run } = detail
  const ending =
    response.status === 0 ? 'The client got no response' : `The response was ${response.status} ${outcome ?? ''}`.trim()
  const advice = message === null ? undefined : adviceAbout(outcome ?? '')
  return [
    `Request ${id}: ${method} ${path}${client === null ? ' without a valid token' : ` by ${client}`}.`,
    `${ending}${message === null ? '' : `: ${message}`}.`,
    ...(advice === undefined ? [] : [`What to do: ${advice}.`]),
    ...(dry_run ? ['It was a dry run: nothing of it stays.'] : []),
    ...(fault === null ? [] : [`The fault "${fault}" was injected.`]),
    resentInWords(detail, earlier) ?? [],
    ...inWords(detail).map(({ text }) => `${text}.`),
  ]
    .flat()
    .join('\n')
}

/** The last event of each order and payout has its result. */
const purchases = (events: readonly ScripEvent[]): Words[] => {
  const last = new Map<string, ScripEvent>()
  for (const event of events) if (/^(?:order|payout)\./.test(event.type)) last.set(recordIdOf(event), event)
  return [...last].map(([id, { type, data }]) => {
    if (type.startsWith('payout.')) {
      const { amount: paid, currency, status } = data as { amount: number; currency: string; status: string }
      return { text: `Payout of ${amount(paid, currency)}: ${status}`, record: { page: 'money', id: `payout-${id}` } }
    }
    const { quantity, product_name, status } = data as { quantity: number; product_name: string; status: string }
    const vouchers = `${counted(quantity, 'voucher')} of ${product_name}`
    return { text: `Order ${id}: ${vouchers}, ${status.toLowerCase()}`, record: { page: 'money', id: `order-${id}` } }
  })
}

/** The change of the amount and the reserved amount of each wallet. */
const money = (entries: readonly LedgerEntry[]): Words[] => {
  const lines = entries.flatMap((entry) => entry.lines).filter(({ wallet_id }) => wallet_id !== null)
  const moved = Map.groupBy(lines, ({ account, wallet_id }) => `${wallet_id} ${account}`)
  return [...moved.values()].flatMap((accountLines): Words[] => {
    const [line] = accountLines
    if (!line) return []
    const { account, wallet_id: id, currency } = line
    const sum = sumOf(accountLines, currency)
    if (sum === 0) return []
    const text = amount(Math.abs(sum), currency)
    const record = { page: 'money', id: `wallet-${id}` }
    if (account === 'wallet') return [{ text: `Wallet ${id} ${sum < 0 ? 'pays' : 'receives'} ${text}`, record }]
    return [{ text: `${text} of wallet ${id} ${sum > 0 ? 'reserved' : 'no longer reserved'}`, record }]
  })
}

const others = (changes: readonly RowChange[]): Words[] =>
  changes
    .filter(({ table }) => SAID_ALONE.has(table))
    .map((change) => ({ text: `${nounOf(change)} ${VERBS[change.operation]}` }))

export const recordIdOf = ({ data }: ScripEvent): string => ('id' in data ? String(data.id) : '')
