import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { CLIENT } from '../../acts/clients.ts'
import { get } from '../../acts/kind.ts'
import { refuseRuntimeVariables } from '../../config/environment.ts'
import { DATA_OPTIONS } from '../../config/option-table.ts'
import { withOptions } from '../../config/options.ts'
import { parseMonth } from '../../config/values.ts'
import { DAY_MS, toTimestamp } from '../../kernel/clock.ts'
import { visible } from '../../kernel/visible.ts'
import { accountBalances, type BookEntry, bookEntries } from '../../wallets/books-queries.ts'
import { findAnyWallet } from '../../wallets/queries.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { choiceOption } from '../arguments.ts'
import { note } from '../terminal/output.ts'
import { administer, type Reading } from './administration.ts'

/** `scrip ledger`: the ledger as a journal for accountants (contract C17). */

const FORMATS = ['hledger', 'beancount'] as const
type FormatName = (typeof FORMATS)[number]

interface BooksOptions {
  format: FormatName
  client?: string
  month?: Period
}

export const booksCommand = (ledger: Command): void => {
  withOptions(ledger, { dataDir: DATA_OPTIONS.dataDir })
    .hook('preAction', refuseRuntimeVariables)
    .description('write the ledger as a journal for hledger, ledger or beancount')
    .argument('[file]', 'the file; - is standard output', '-')
    .addOption(choiceOption('--format <format>', 'the program that reads it', FORMATS).makeOptionMandatory())
    .option('--client <name>', "only the entries of this client's wallets")
    .option('--month <month>', 'only a month, for example 2026-11, in UTC', parseMonth)
    .action(administer(writeBooks))
}

const writeBooks = async (data: Reading, file: string, options: BooksOptions) => {
  // Entries and balances come from one state while a server writes.
  data.database.sqlite.run('BEGIN')
  const pieces = journal(data, options)
  if (file === '-') return { pieces }
  writeFileSync(file, '', { mode: 0o600 })
  for (const piece of pieces) writeFileSync(file, piece, { flag: 'a' })
  note(`${file} is written.`, 'text')
  return { pieces: [] }
}

interface Account {
  name: string
  currency: string
  /** The name of its client, of a wallet. */
  client: string | null
}

/** The account of lines. From the side of the clients: their money is an asset. */
const accountsIn = (data: Reading) => {
  const accounts = new Map<string, Account>()
  return (account: Line['account'], walletId: number | null, currencyId: number) =>
    accounts.getOrInsertComputed(`${account} ${walletId} ${currencyId}`, (): Account => {
      const { currency } = data.currency(currencyId)
      const wallet = walletId === null ? undefined : findAnyWallet(data.query, walletId)
      if (!wallet) return { name: PROGRAM_ACCOUNTS[account as keyof typeof PROGRAM_ACCOUNTS], currency, client: null }
      const client = data.clientName(wallet.clientId)
      const part = account === 'wallet' ? 'Wallet' : 'Reserved'
      return { name: `Assets:${partOf(client ?? '')}-${wallet.clientId}:${part}-${wallet.id}`, currency, client }
    })
}

const PROGRAM_ACCOUNTS = {
  supplier: 'Expenses:Supplier',
  payouts: 'Expenses:Payouts',
  tax: 'Expenses:Tax',
  fees: 'Expenses:Fees',
  conversion: 'Expenses:Conversion',
  exchange: 'Equity:Exchange',
  funding: 'Equity:Funding',
  adjustments: 'Equity:Adjustments',
} as const

/** A name as a part of an account: beancount takes letters, digits and dashes, and an upper-case letter first. */
const partOf = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .replace(/^[a-z]/, (letter) => letter.toUpperCase()) || 'Client'

interface Posting {
  account: Account
  amount: string
}

/** The differences between the programs. Dates are days in UTC. */
interface Format {
  open: (accounts: readonly Account[], day: string, decimals: ReadonlyMap<string, number>) => string
  entry: (day: string, code: string, text: string, postings: readonly Posting[]) => string
  /** The balances of accounts at the end of a day. */
  assert: (day: string, text: string, balances: readonly Posting[]) => string
}

const lineOf = ({ account: { name, currency }, amount }: Posting): string =>
  `    ${name.padEnd(44)}  ${amount.padStart(18)} ${currency}`

const dayOf = (ms: number): string => toTimestamp(ms).slice(0, 10)
const dayAfter = (day: string): string => dayOf(Date.parse(day) + DAY_MS)

const hledger: Format = {
  open: (accounts, _, decimals) =>
    [
      // hledger wants a point in a format, and ledger refuses one without decimals behind it.
      ...[...decimals].map(([currency, count]) =>
        count === 0
          ? `commodity ${currency}\n`
          : `commodity ${currency}\n    format 1000.${'0'.repeat(count)} ${currency}\n`,
      ),
      '\n',
      ...new Set(accounts.map(({ name, client }) => `account ${name}${client === null ? '' : `  ; ${client}`}\n`)),
    ].join(''),
  // A semicolon would begin a comment.
  entry: (day, code, text, postings) =>
    `\n${day} (${code}) ${text.replaceAll(';', ',')}\n${postings.map(lineOf).join('\n')}\n`,
  assert: (day, text, balances) =>
    `\n${day} ${text}\n${balances.map((posting) => `${lineOf({ ...posting, amount: '0' })} = ${posting.amount} ${posting.account.currency}`).join('\n')}\n`,
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`

const beancount: Format = {
  open: (accounts, day) => {
    const byName = Map.groupBy(accounts, ({ name }) => name)
    return [...byName]
      .map(([name, same]) => {
        const client = same[0]?.client ?? null
        const line = `${day} open ${name} ${same.map(({ currency }) => currency).join(',')}\n`
        return client === null ? line : `${line}  client: ${quoted(client)}\n`
      })
      .join('')
  },
  entry: (day, code, text, postings) =>
    `\n${day} * ${quoted(text)}\n  entry: ${quoted(code)}\n${postings.map(lineOf).join('\n')}\n`,
  // A balance is that of the beginning of its day.
  assert: (day, _, balances) =>
    `\n${balances.map(({ account, amount }) => `${dayAfter(day)} balance ${account.name}  ${amount} ~ 0 ${account.currency}\n`).join('')}`,
}

const FORMAT_OF: Readonly<Record<FormatName, Format>> = { hledger, beancount }

/** All time: the days of the first and the last entry are the ends of the journal. */
const ALWAYS: Period = { sinceMs: 0, untilMs: Date.UTC(9999, 0) }

/** The journal piece by piece: a ledger of any length takes little memory. */
function* journal(data: Reading, { format, client: name, month }: BooksOptions): Generator<string> {
  const clientId = name === undefined ? undefined : get(CLIENT, data.query, name).id
  const { sinceMs, untilMs } = month ?? ALWAYS
  const [opening, closing] = [sinceMs, untilMs].map((ms) => accountBalances(data.query, clientId, ms))
  const accountOf = accountsIn(data)
  const postingOf = ({ account, walletId, currencyId, amountMinor }: Line): Posting => ({
    account: accountOf(account, walletId, currencyId),
    amount: String(data.amount(amountMinor, currencyId)),
  })
  const { open, entry, assert } = FORMAT_OF[format]
  const postings = (closing ?? []).map(postingOf)
  const decimals = new Map(
    (closing ?? []).map(({ currencyId }) => {
      const { currency, precision } = data.currency(currencyId)
      return [currency, precision] as const
    }),
  )
  const entries = bookEntries(data.query, clientId, { sinceMs, untilMs })
  const first = entries.next()
  const firstMs = month || first.done ? sinceMs : first.value.createdAtMs
  const dayBefore = dayOf(firstMs - DAY_MS)
  yield `; The ledger of Scrip${name === undefined ? '' : ` for ${visible(name)}`}: the money of clients is an asset.\n\n`
  yield open(
    postings.map(({ account }) => account),
    dayBefore,
    decimals,
  )
  const atOpening = (opening ?? []).map(postingOf)
  if (atOpening.length > 0) {
    yield entry(dayBefore, 'opening', 'Opening balances', atOpening)
    yield assert(dayBefore, 'Opening balances', atOpening)
  }
  let lastDay = month ? dayOf(untilMs - DAY_MS) : dayBefore
  for (let next = first; !next.done; next = entries.next()) {
    const day = dayOf(next.value.createdAtMs)
    if (day > lastDay) lastDay = day
    yield entry(day, String(next.value.id), textOf(next.value), next.value.lines.map(postingOf))
  }
  if (postings.length > 0) yield assert(lastDay, 'Closing balances', postings)
}

type Line = BookEntry['lines'][number]

/** `order 5: Tea` */
const textOf = ({ sourceType, sourceId, remarks }: BookEntry): string => {
  const source = [sourceType, sourceId].filter((part) => part !== null).join(' ')
  return visible(remarks === null ? source : `${source}: ${remarks}`)
}
