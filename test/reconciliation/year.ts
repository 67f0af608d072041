import { Database } from '../../src/db/database.ts'
import { compare } from '../../src/reconciliation/comparison.ts'
import { ALWAYS, readList } from '../../src/reconciliation/partner-list.ts'
import { reportOf } from '../../src/reconciliation/report.ts'
import { readReference } from '../../src/start/seed.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import { openLive } from '../orders/live.ts'

/** The records of a year, and the list that its client has of them. */

export interface Entry {
  type: 'order' | 'payout'
  reference: string
  minor: number
  currency: 'USD' | 'EUR' | 'JPY'
  status: string
  atMs: number
}

export const reference = readReference()
const CURRENCIES = { USD: 1, EUR: 2, JPY: 3 } as const
const PRECISION = { USD: 2, EUR: 2, JPY: 0 } as const
const codeOf = (code: string) => reference.findCurrencyByCode(code)?.id ?? 0

/** A database with a client and a wallet in each currency, as it is copied for each world. */
export const emptyYear = async (): Promise<Uint8Array> => {
  await using live = await openLive()
  await live.database.write((tx) => {
    for (const code of ['EUR', 'JPY']) {
      openWallet(tx, { clientId: 1, currencyId: codeOf(code), type: 'PREPAID', creditLimitMinor: 0 }, 0)
    }
  })
  return live.database.image()
}

/** The books of a year, without tables that the tests do not read. */
export const booksOf = (image: Uint8Array, entries: readonly Entry[]): Database => {
  const database = Database.inMemory(image)
  const { sqlite } = database
  sqlite.run('PRAGMA ignore_check_constraints = ON')
  sqlite.run('PRAGMA foreign_keys = OFF')
  for (const { name } of sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all()) {
    sqlite.run(`DROP TRIGGER "${name}"`)
  }
  const order =
    sqlite.query(`INSERT INTO orders (client_id, reference, product_id, product_name, currency_id, denomination_minor, quantity,
    wallet_id, transaction_id, total_minor, discount_minor, net_minor, gst_minor, fee_minor, payable_minor, charges, search_folded, status, placed_at_ms)
    VALUES (1, ?, 1, 'Tea', 139, 1, 1, ?, 1, 1, 0, 1, 0, 0, ?, '{}', '', ?, ?)`)
  const payout =
    sqlite.query(`INSERT INTO payouts (id, client_id, reference_id, status, wallet_id, currency_id, amount_minor, amount_rank, fees_minor,
    paid_minor, paid_amount_minor, beneficiary_total_minor, beneficiary_email, beneficiary_first_name, beneficiary_last_name, search_folded, metadata,
    returned, created_at_ms) VALUES (?, 1, ?, ?, 1, ?, ?, 1, 1, 1, 1, 1, 'e', 'f', 'l', '', '{}', ?, ?)`)
  entries.forEach(({ type, reference: name, minor, currency, status, atMs }, index) => {
    if (type === 'order') order.run(name, CURRENCIES[currency], minor, status, atMs)
    else
      payout.run(
        `pyt_${String(index).padStart(8, '0')}`,
        name,
        status === 'returned' ? 'completed' : status,
        codeOf(currency),
        minor,
        status === 'returned' ? 1 : 0,
        atMs,
      )
  })
  return database
}

export const amountOf = ({ minor, currency }: Pick<Entry, 'minor' | 'currency'>): string =>
  (minor / 10 ** PRECISION[currency]).toFixed(PRECISION[currency])

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

export const csvOf = (entries: readonly Entry[]): string =>
  [
    'reference,type,amount,currency,status,at',
    ...entries.map((one) =>
      [quoted(one.reference), one.type, amountOf(one), one.currency, one.status, new Date(one.atMs).toISOString()].join(
        ',',
      ),
    ),
  ].join('\r\n')

export const jsonLinesOf = (entries: readonly Entry[]): string =>
  entries
    .map((one) =>
      JSON.stringify({
        reference: one.reference,
        type: one.type,
        amount: Number(amountOf(one)),
        currency: one.currency,
        status: one.status,
        at: new Date(one.atMs).toISOString(),
      }),
    )
    .join('\n')

export const reconcile = (database: Database, text: string, period = ALWAYS) => {
  const { rows, problems } = readList(text, reference)
  if (problems.length > 0) return { problems }
  return reportOf(compare(database.query, 1, period, rows), reference)
}
