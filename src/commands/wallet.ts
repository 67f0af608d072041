import type { Command } from 'commander'
import type { Query, Tx } from '../db/database.ts'
import { toTimestamp } from '../kernel/clock.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { adjust, fund } from '../wallets/ledger.ts'
import { allWallets, findAnyWallet, openWallet, type Wallet } from '../wallets/queries.ts'
import { setThreshold } from '../wallets/threshold.ts'
import type { EventContext } from '../webhooks/publish.ts'
import { type Administration, administer, dataCommand, refused } from './administration.ts'
import { amountIn, wholeNumber } from './arguments.ts'
import { clientNamesById, getClient } from './client.ts'
import { EXIT, ProgramError } from './exit.ts'
import { Amount, type Row } from './output.ts'

/** `scrip wallet`: what clients pay from; every movement goes through the ledger (contract C11). */

const AMOUNT = 'in major units, for example 1000.50'

export const walletCommands = (wallet: Command): void => {
  dataCommand(wallet, 'add', 'open a wallet; the first wallet of a client is its default')
    .argument('<client>', 'username of the client')
    .argument('<currency>', 'ISO 4217, for example USD')
    .option('--postpaid <limit>', `credit limit: how far below zero it may go, ${AMOUNT}`)
    .action(administer(add))
  dataCommand(wallet, 'list', 'list the wallets of all clients, or of one')
    .argument('[client]', 'a username')
    .action(
      administer(({ database: { query }, reference }, name: string | undefined) => {
        const clientId = name === undefined ? undefined : getClient(query, name).id
        const names = clientNamesById(query)
        return allWallets(query, clientId).map((row) => walletRow(reference, names.get(row.clientId), row))
      }),
    )
  dataCommand(wallet, 'fund', 'put money into a wallet')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<amount>', AMOUNT)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(
      move((tx, context, wallet, currency, amount, cause) => {
        fund(tx, context, wallet, positive(amount, currency), cause)
      }),
    )
  dataCommand(wallet, 'adjust', 'correct a wallet, up or down')
    .argument('<id>', 'the wallet', wholeNumber)
    .argument('<amount>', `${AMOUNT}; negative to deduct`)
    .option('--remarks <text>', 'remarks shown to the client')
    .action(
      move((tx, context, wallet, currency, amount, cause) => {
        const amountMinor = amountIn(amount, currency)
        if (amountMinor === 0) throw new ProgramError(EXIT.usage, 'An adjustment of 0 changes nothing.')
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

const add = (
  { world, reference, write }: Administration,
  name: string,
  code: string,
  { postpaid }: { postpaid?: string },
): Promise<Row> =>
  write((tx) => {
    const { id: clientId } = getClient(tx, name)
    const currency = getCurrency(reference, code)
    const creditLimitMinor = postpaid === undefined ? 0 : positive(postpaid, currency)
    const type = postpaid === undefined ? 'PREPAID' : 'POSTPAID'
    const wallet = openWallet(tx, { clientId, currencyId: currency.id, type, creditLimitMinor }, world.clock.nowMs())
    return walletRow(reference, name, wallet)
  })

type Move = (
  tx: Tx,
  context: EventContext,
  wallet: Wallet,
  currency: Currency,
  amount: string,
  cause: { remarks: string | null; nowMs: number },
) => void

const move = (by: Move) =>
  administer(({ world, reference, write }, id: number, amount: string, { remarks }: { remarks?: string }) =>
    write((tx) => {
      const wallet = getWallet(tx, id)
      const cause = { remarks: remarks ?? null, nowMs: world.clock.nowMs() }
      by(tx, { world, reference }, wallet, reference.getCurrency(wallet.currencyId), amount, cause)
      return walletRow(reference, clientNamesById(tx).get(wallet.clientId), getWallet(tx, id))
    }),
  )

const getWallet = (query: Query, id: number): Wallet => {
  const wallet = findAnyWallet(query, id)
  if (!wallet) throw refused(`There is no wallet ${id}: see scrip wallet list.`)
  return wallet
}

const getCurrency = (reference: Reference, code: string): Currency => {
  const currency = reference.findCurrencyByCode(code.toUpperCase())
  if (!currency) throw new ProgramError(EXIT.usage, `No circulating currency has the code ${code}.`)
  return currency
}

const positive = (text: string, currency: Currency): number => {
  const amountMinor = amountIn(text, currency)
  if (amountMinor <= 0) throw new ProgramError(EXIT.usage, `${text} is not above zero.`)
  return amountMinor
}

const walletRow = (reference: Reference, client: string | undefined, wallet: Wallet): Row => {
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
    created_at: toTimestamp(wallet.createdAtMs),
  }
}
