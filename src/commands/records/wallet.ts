import type { Command } from 'commander'
import type { Acting, Acts } from '../../acts/act.ts'
import { type Row, rowOf } from '../../acts/cells.ts'
import { get, type Kind, type Shown } from '../../acts/kind.ts'
import type { Tx } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { misused, refused } from '../../kernel/exit.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { adjust, fund } from '../../wallets/ledger.ts'
import { setThreshold } from '../../wallets/publish.ts'
import { findAnyWallet, makeDefault, openWallet, updateWallet, type Wallet, walletsOf } from '../../wallets/queries.ts'
import { acting } from '../acts/ask.ts'
import { amountIn, wholeNumber } from '../arguments.ts'
import { dataCommand } from './administration.ts'
import { CLIENT } from './client-kinds.ts'
import { change, list, listCommand, moneyCommand, recordCommand } from './records.ts'

/** `scrip wallet`: the wallets that clients pay from. Every movement goes through the ledger (contract C11). */

const AMOUNT = 'in major units, for example 1000.50'
const HOW_FAR = `how far below zero it may go, ${AMOUNT}`

export const walletCommands = (wallet: Command): void => {
  const act = acting(walletActs)
  dataCommand(wallet, 'add', 'open a wallet; the first wallet of a client is its default')
    .argument('<client>', 'username of the client')
    .argument('<currency>', 'ISO 4217, for example USD')
    .option('--postpaid <limit>', `credit limit: ${HOW_FAR}`)
    .action(act)
  const narrowable = { client: true, times: 'opened' } as const
  listCommand(wallet.command('list'), 'list the wallets of all clients, newest first', narrowable).action(
    list(WALLET.columns, walletsOf),
  )
  moneyCommand(wallet, WALLET, 'fund', 'put money into a wallet')
    .argument('<amount>', AMOUNT)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(act)
  moneyCommand(wallet, WALLET, 'adjust', 'correct a wallet, up or down')
    .argument('<amount>', `${AMOUNT}; negative to deduct`)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(act)
  recordCommand(wallet, WALLET, 'threshold', 'set the amount below which a wallet is low, which is an event')
    .argument('<amount>', `${AMOUNT}; off for none`)
    .action(act)
  recordCommand(wallet, WALLET, 'limit', 'set the credit limit of a POSTPAID wallet')
    .argument('<limit>', HOW_FAR)
    .action(act)
  recordCommand(wallet, WALLET, 'default', 'make a wallet the default one of its client').action(act)
  recordCommand(wallet, WALLET, 'close', 'close a wallet that is empty and not the default one').action(act)
}

const add = async (data: Acting, name: string, code: string, { postpaid }: { postpaid?: string }): Promise<Row> => {
  const { world, reference } = data
  const added = await data.write((tx) => {
    const { id: clientId } = get(CLIENT, tx, name)
    const currency = getCurrency(reference, code)
    const creditLimitMinor = postpaid === undefined ? 0 : positive(postpaid, currency)
    const type = postpaid === undefined ? 'PREPAID' : 'POSTPAID'
    const wallet = openWallet(tx, { clientId, currencyId: currency.id, type, creditLimitMinor }, world.clock.nowMs())
    const row = rowOf(WALLET.columns, wallet, data)
    data.record(tx, { after: row })
    return row
  })
  if (postpaid === undefined) data.note(`Next: scrip wallet fund ${added.id} AMOUNT.`)
  return added
}

/** The arguments after the wallet, and the options. */
type Change = (tx: Tx, wallet: Wallet, data: Acting, text: string, options: { remarks?: string }) => void

const causeOf = ({ world }: Acting, { remarks }: { remarks?: string }) => ({
  remarks: remarks ?? null,
  nowMs: world.clock.nowMs(),
})

const fundBy: Change = (tx, wallet, data, amount, options) => {
  refuseClosed(wallet)
  fund(tx, data, wallet, positive(amount, data.currency(wallet.currencyId)), causeOf(data, options))
}

const adjustBy: Change = (tx, wallet, data, amount, options) => {
  const amountMinor = amountIn(amount, data.currency(wallet.currencyId))
  if (amountMinor === 0) throw misused('an adjustment of 0 changes nothing\nWrite an amount such as 12.50 or -12.50.')
  refuseClosed(wallet)
  adjust(tx, data, wallet, amountMinor, causeOf(data, options))
}

const setLimit: Change = (tx, wallet, { world, amount, currency }, limit) => {
  const { id, type, amountMinor, currencyId } = wallet
  const creditLimitMinor = amountIn(limit, currency(currencyId))
  if (creditLimitMinor < 0) throw misused(`${limit} is below zero\nA limit of 1000 allows a balance of -1000.`)
  if (type === 'PREPAID')
    throw refused(
      `wallet ${id} is PREPAID, and has no credit limit\nscrip wallet add --postpaid opens one with a credit limit.`,
    )
  refuseClosed(wallet)
  if (amountMinor < -creditLimitMinor) {
    const owed = `${amount(-amountMinor, currencyId)} ${currency(currencyId).currency}`
    throw refused(`wallet ${id} owes ${owed}, which is more\nFund it first.`)
  }
  updateWallet(tx, wallet, { creditLimitMinor }, world.clock.nowMs())
}

const setDefault = (tx: Tx, wallet: Wallet, { world }: Acting): void => {
  refuseClosed(wallet)
  makeDefault(tx, wallet, world.clock.nowMs())
}

const close = (tx: Tx, wallet: Wallet, { world, amount, currency }: Acting): void => {
  const { id, isDefault, amountMinor, reservedMinor, currencyId } = wallet
  refuseClosed(wallet)
  if (isDefault)
    throw refused(
      `wallet ${id} is the default one of its client\nMake another one the default: scrip wallet default ID.`,
    )
  if (amountMinor !== 0 || reservedMinor !== 0) {
    const [held, reserved] = [amount(amountMinor, currencyId), amount(reservedMinor, currencyId)]
    throw refused(
      `wallet ${id} holds ${held} and reserves ${reserved} ${currency(currencyId).currency}\nBoth must be 0: see scrip wallet adjust.`,
    )
  }
  const nowMs = world.clock.nowMs()
  updateWallet(tx, wallet, { closedAtMs: nowMs }, nowMs)
}

const refuseClosed = ({ id, closedAtMs }: Wallet): void => {
  if (closedAtMs !== null) throw refused(`wallet ${id} is closed\nscrip wallet add opens another one.`)
}

const getCurrency = (reference: Reference, code: string): Currency => {
  const currency = reference.findCurrencyByCode(code.toUpperCase())
  if (!currency) throw misused(`unknown currency ${code}\nWrite the three letters of ISO 4217, such as EUR.`)
  return currency
}

const thresholdIn = (text: string, currency: Currency): number => {
  const thresholdMinor = amountIn(text, currency)
  if (thresholdMinor < 0) throw misused(`${text} is below zero\nA threshold is 0 or more, or off.`)
  return thresholdMinor
}

const positive = (text: string, currency: Currency): number => {
  const amountMinor = amountIn(text, currency)
  if (amountMinor <= 0) throw misused(`${text} is not above zero\nscrip wallet adjust deducts.`)
  return amountMinor
}

const amountOf: Shown<Wallet>[string] = ({ amountMinor, currencyId }, { amount }) => amount(amountMinor, currencyId)
const thresholdOf: Shown<Wallet>[string] = ({ thresholdMinor, currencyId }, { amount }) =>
  amount(thresholdMinor, currencyId)

export const WALLET: Kind<number, Wallet> = {
  name: 'wallet',
  group: 'wallet',
  argument: ['<id>', 'the wallet', wholeNumber],
  find: findAnyWallet,
  columns: {
    id: ({ id }) => id,
    client: ({ clientId }, { clientName }) => clientName(clientId),
    currency: ({ currencyId }, { currency }) => currency(currencyId).currency,
    amount: amountOf,
    reserved_amount: ({ reservedMinor, currencyId }, { amount }) => amount(reservedMinor, currencyId),
    type: ({ type }) => type,
    credit_limit: ({ creditLimitMinor, currencyId }, { amount }) => amount(creditLimitMinor, currencyId),
    threshold: thresholdOf,
    is_default: ({ isDefault }) => isDefault,
    is_active: ({ closedAtMs }) => closedAtMs === null,
    created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
  },
}

/** A command changes only these two, so the audit shows only them. */
const BALANCE: Kind<number, Wallet> = { ...WALLET, audited: { amount: amountOf, threshold: thresholdOf } }

export const walletActs: Acts = {
  'wallet add': add,
  'wallet fund': change(BALANCE, fundBy),
  'wallet adjust': change(BALANCE, adjustBy),
  'wallet threshold': change(BALANCE, (tx, wallet, data, amount: string) =>
    setThreshold(tx, data, wallet, amount === 'off' ? null : thresholdIn(amount, data.currency(wallet.currencyId))),
  ),
  'wallet limit': change(WALLET, setLimit),
  'wallet default': change(WALLET, setDefault),
  'wallet close': change(WALLET, close),
}
