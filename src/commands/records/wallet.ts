import type { Command } from 'commander'
import type { Query, Tx } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { adjust, fund } from '../../wallets/ledger.ts'
import { setThreshold } from '../../wallets/publish.ts'
import { findAnyWallet, makeDefault, openWallet, updateWallet, type Wallet, walletsOf } from '../../wallets/queries.ts'
import type { EventContext } from '../../webhooks/publish.ts'
import { amountIn, wholeNumber } from '../arguments.ts'
import { EXIT, ProgramError } from '../exit.ts'
import { Amount, listOf, mapped, type Row } from '../terminal/cells.ts'
import { note } from '../terminal/output.ts'
import { type Acting, act, moneyCommand } from './acts.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { clientNamesById, getClient } from './client-records.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip wallet`: what clients pay from; every movement goes through the ledger (contract C11). */

const AMOUNT = 'in major units, for example 1000.50'

export const walletCommands = (wallet: Command): void => {
  dataCommand(wallet, 'add', 'open a wallet; the first wallet of a client is its default')
    .argument('<client>', 'username of the client')
    .argument('<currency>', 'ISO 4217, for example USD')
    .option('--postpaid <limit>', `credit limit: how far below zero it may go, ${AMOUNT}`)
    .action(act(add))
  listCommand(wallet, 'list', 'list the wallets of all clients, or of one', { client: true, times: 'opened' })
    .argument('[client]', 'a username, as with --client')
    .action(
      administer(({ database: { query }, reference }, name: string | undefined, options: ListOptions) => {
        const names = clientNamesById(query)
        const wallets = walletsOf(
          query,
          narrowingOf(query, name === undefined ? options : { ...options, client: name }),
        )
        return listOf(
          WALLET_COLUMNS,
          mapped(wallets, (row) => walletRow(reference, names.get(row.clientId), row)),
        )
      }),
    )
  movementCommands(wallet)
  dataCommand(wallet, 'limit', 'set the credit limit of a POSTPAID wallet')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<limit>', `how far below zero it may go, ${AMOUNT}`)
    .action(update(setLimit))
  dataCommand(wallet, 'default', 'make a wallet the default one of its client')
    .argument('<id>', 'the wallet', wholeNumber)
    .action(update(setDefault))
  dataCommand(wallet, 'close', 'close a wallet that is empty and not the default one')
    .argument('<id>', 'the wallet', wholeNumber)
    .action(update(close))
}

const movementCommands = (wallet: Command): void => {
  moneyCommand(wallet, 'fund', 'put money into a wallet')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<amount>', AMOUNT)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(
      move((tx, context, wallet, currency, amount, cause) => {
        refuseClosed(wallet)
        fund(tx, context, wallet, positive(amount, currency), cause)
      }),
    )
  moneyCommand(wallet, 'adjust', 'correct a wallet, up or down')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<amount>', `${AMOUNT}; negative to deduct`)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(
      move((tx, context, wallet, currency, amount, cause) => {
        const amountMinor = amountIn(amount, currency)
        if (amountMinor === 0)
          throw new ProgramError(
            EXIT.usage,
            'an adjustment of 0 changes nothing\nWrite an amount such as 12.50 or -12.50.',
          )
        refuseClosed(wallet)
        adjust(tx, context, wallet, amountMinor, cause)
      }),
    )
  dataCommand(wallet, 'threshold', 'set the amount below which a wallet is low, which is an event')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<amount>', `${AMOUNT}; off for none`)
    .action(
      move((tx, context, wallet, currency, amount) => {
        setThreshold(tx, context, wallet, amount === 'off' ? null : amountIn(amount, currency))
      }),
    )
}

type Update = (tx: Tx, wallet: Wallet, currency: Currency, nowMs: number, ...args: string[]) => void

const update = (by: Update) =>
  act(({ world, reference, write, record }, id: number, ...args: string[]) =>
    write((tx) => {
      const wallet = getWallet(tx, id)
      const rowOf = (one: Wallet) => walletRow(reference, clientNamesById(tx).get(one.clientId), one)
      by(tx, wallet, reference.getCurrency(wallet.currencyId), world.clock.nowMs(), ...args)
      const after = rowOf(getWallet(tx, id))
      record(tx, { before: rowOf(wallet), after })
      return after
    }),
  )

const setLimit: Update = (tx, wallet, currency, nowMs, limit = '') => {
  const creditLimitMinor = amountIn(limit, currency)
  if (creditLimitMinor < 0)
    throw new ProgramError(EXIT.usage, `${limit} is below zero\nA limit of 1000 allows a balance of -1000.`)
  if (wallet.type === 'PREPAID')
    throw refused(
      `wallet ${wallet.id} is PREPAID, and has no credit limit\nscrip wallet add --postpaid opens one that has.`,
    )
  refuseClosed(wallet)
  if (wallet.amountMinor < -creditLimitMinor) {
    const owed = new Amount(-wallet.amountMinor, currency)
    throw refused(`wallet ${wallet.id} owes ${owed} ${currency.currency}, which is more\nFund it first.`)
  }
  updateWallet(tx, wallet, { creditLimitMinor }, nowMs)
}

const setDefault: Update = (tx, wallet, _, nowMs) => {
  refuseClosed(wallet)
  makeDefault(tx, wallet, nowMs)
}

const close: Update = (tx, wallet, currency, nowMs) => {
  refuseClosed(wallet)
  if (wallet.isDefault)
    throw refused(
      `wallet ${wallet.id} is the default one of its client\nMake another one the default: scrip wallet default ID.`,
    )
  if (wallet.amountMinor !== 0 || wallet.reservedMinor !== 0) {
    const held = new Amount(wallet.amountMinor, currency)
    const reserved = new Amount(wallet.reservedMinor, currency)
    throw refused(
      `wallet ${wallet.id} holds ${held} and reserves ${reserved} ${currency.currency}\nBoth must be 0: see scrip wallet adjust.`,
    )
  }
  updateWallet(tx, wallet, { closedAtMs: nowMs }, nowMs)
}

const refuseClosed = ({ id, closedAtMs }: Wallet): void => {
  if (closedAtMs !== null) throw refused(`wallet ${id} is closed\nscrip wallet add opens another one.`)
}

const add = async (
  { config, world, reference, write, record }: Acting,
  name: string,
  code: string,
  { postpaid }: { postpaid?: string },
): Promise<Row> => {
  const added = await write((tx) => {
    const { id: clientId } = getClient(tx, name)
    const currency = getCurrency(reference, code)
    const creditLimitMinor = postpaid === undefined ? 0 : positive(postpaid, currency)
    const type = postpaid === undefined ? 'PREPAID' : 'POSTPAID'
    const wallet = openWallet(tx, { clientId, currencyId: currency.id, type, creditLimitMinor }, world.clock.nowMs())
    const row = walletRow(reference, name, wallet)
    record(tx, { after: row })
    return row
  })
  if (postpaid === undefined) note(`Next: scrip wallet fund ${added.id} AMOUNT.`, config.format)
  return added
}

type Move = (
  tx: Tx,
  context: EventContext,
  wallet: Wallet,
  currency: Currency,
  amount: string,
  cause: { remarks: string | null; nowMs: number },
) => void

const move = (by: Move) =>
  act(({ world, reference, write, record }, id: number, amount: string, { remarks }: { remarks?: string }) =>
    write((tx) => {
      const wallet = getWallet(tx, id)
      const currency = reference.getCurrency(wallet.currencyId)
      const cause = { remarks: remarks ?? null, nowMs: world.clock.nowMs() }
      by(tx, { world, reference }, wallet, currency, amount, cause)
      const moved = getWallet(tx, id)
      record(tx, { before: stateOf(wallet, currency), after: stateOf(moved, currency) })
      return walletRow(reference, clientNamesById(tx).get(wallet.clientId), moved)
    }),
  )

/** For the audit. */
const stateOf = ({ amountMinor, thresholdMinor }: Wallet, currency: Currency) => ({
  amount: new Amount(amountMinor, currency),
  threshold: thresholdMinor === null ? null : new Amount(thresholdMinor, currency),
})

const getWallet = (query: Query, id: number): Wallet => {
  const wallet = findAnyWallet(query, id)
  if (!wallet) throw refused(`there is no wallet ${id}\nSee scrip wallet list.`)
  return wallet
}

const getCurrency = (reference: Reference, code: string): Currency => {
  const currency = reference.findCurrencyByCode(code.toUpperCase())
  if (!currency)
    throw new ProgramError(
      EXIT.usage,
      `no circulating currency has the code ${code}\nWrite the three letters of ISO 4217, such as EUR.`,
    )
  return currency
}

const positive = (text: string, currency: Currency): number => {
  const amountMinor = amountIn(text, currency)
  if (amountMinor <= 0) throw new ProgramError(EXIT.usage, `${text} is not above zero\nscrip wallet adjust deducts.`)
  return amountMinor
}

const WALLET_COLUMNS = [
  'id',
  'client',
  'currency',
  'amount',
  'reserved_amount',
  'type',
  'credit_limit',
  'threshold',
  'is_default',
  'is_active',
  'created_at',
] as const

const walletRow = (reference: Reference, client: string | undefined, wallet: Wallet) => {
  const currency = reference.getCurrency(wallet.currencyId)
  return {
    id: wallet.id,
    client: client ?? null,
    currency: currency.currency,
    amount: new Amount(wallet.amountMinor, currency),
    reserved_amount: new Amount(wallet.reservedMinor, currency),
    type: wallet.type,
    credit_limit: new Amount(wallet.creditLimitMinor, currency),
    threshold: wallet.thresholdMinor === null ? null : new Amount(wallet.thresholdMinor, currency),
    is_default: wallet.isDefault,
    is_active: wallet.closedAtMs === null,
    created_at: toTimestamp(wallet.createdAtMs),
  }
}
