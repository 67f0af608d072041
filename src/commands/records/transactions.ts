import type { Command } from 'commander'
import { toTimestamp } from '../../kernel/clock.ts'
import type { Currency } from '../../reference/reference.ts'
import { findAnyWallet } from '../../wallets/queries.ts'
import { type Movement, TRANSACTION_STATUSES, transactionsOf } from '../../wallets/statement-queries.ts'
import { wholeNumber } from '../arguments.ts'
import { Amount, listOf, mapped } from '../terminal/cells.ts'
import { type Administration, administer } from './administration.ts'
import { clientNamesById } from './client-records.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip transactions`: every movement of the wallets (contract C11). */
export const transactionsCommand = (program: Command): void => {
  const narrowable = { client: true, times: 'made', statuses: TRANSACTION_STATUSES } as const
  listCommand(program, 'transactions', 'list the transactions of all wallets, oldest first', narrowable)
    .option('--wallet <id>', 'only those of this wallet', wholeNumber)
    .action(administer(list))
}

const COLUMNS = [
  'id',
  'client',
  'wallet_id',
  'currency',
  'transaction_type',
  'amount',
  'balance_after',
  'status',
  'source_type',
  'source_id',
  'remarks',
  'created_at',
] as const

const list = (
  { database: { query }, reference }: Administration,
  { wallet, ...options }: ListOptions & { wallet?: number },
) => {
  const names = clientNamesById(query)
  const currencies = new Map<number, Currency>()
  const currencyOf = (walletId: number): Currency => {
    const known = currencies.get(walletId) ?? reference.getCurrency(findAnyWallet(query, walletId)?.currencyId ?? 0)
    currencies.set(walletId, known)
    return known
  }
  const found = transactionsOf(query, narrowingOf(query, options), wallet)
  return listOf(
    COLUMNS,
    mapped(found, (transaction) => {
      const { id, transaction_type, ...movement } = transactionRow(transaction, currencyOf(transaction.walletId))
      const { walletId: wallet_id, clientId, status } = transaction
      const { currency } = currencyOf(wallet_id)
      return { id, client: names.get(clientId) ?? null, wallet_id, currency, transaction_type, status, ...movement }
    }),
  )
}

/** A movement, as lists and statements show it. */
export const transactionRow = (transaction: Movement, currency: Currency) => ({
  id: transaction.id,
  transaction_type: transaction.transactionType,
  amount: new Amount(transaction.amountMinor, currency),
  balance_after: new Amount(transaction.balanceAfterMinor, currency),
  source_type: transaction.sourceType,
  source_id: transaction.sourceId,
  remarks: transaction.remarks,
  created_at: toTimestamp(transaction.createdAtMs),
})
