import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { longPageHeaders, sliceOf } from '../http/pagination.ts'
import { sortOf } from '../http/parameters.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor, toRate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { TRANSACTION_NOT_FOUND, WALLET_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { NEWEST_FIRST, type TransactionListQuery, type TransactionSchema } from './operations.ts'
import { findTransaction, findWallet, listTransactions, listWallets, type WalletTransaction } from './queries.ts'
import { walletWire } from './wire.ts'

/** Wallets and their transactions (spec 4.6, contract C11). Errors leave in the structured shape. */

export const walletRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  new Elysia({ name: 'wallets', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/wallets',
      async ({ query, session, set }) => {
        const { currency, type, currency_id: currencyId, is_active: isActive } = query
        const wanted = { page: query, currencyId, currency, type, isActive, sort: sortOf(query, NEWEST_FIRST) }
        const { rows, totalCount } = listWallets(session.world.db.query, session.client.id, wanted)
        Object.assign(set.headers, longPageHeaders(query, totalCount, rows.length))
        return rows.map((wallet) => walletWire(wallet, reference))
      },
      operations.listWallets,
    )
    .get(
      '/wallets/:id',
      ({ params, session: { world, client } }) =>
        walletWire(found(findWallet(world.db.query, client.id, params.id), WALLET_NOT_FOUND), reference),
      operations.getWallet,
    )
    .get(
      '/transactions',
      async ({ query, session, set }) => {
        const { entries, totalCount } = await listTransactions(session, sliceWanted(query), (row) =>
          transactionWire(row, reference),
        )
        Object.assign(set.headers, longPageHeaders(query, totalCount, entries.length))
        return entries
      },
      operations.listTransactions,
    )
    .get(
      '/transactions/:id',
      ({ params, session: { world, client } }) =>
        transactionWire(found(findTransaction(world.db.query, client.id, params.id), TRANSACTION_NOT_FOUND), reference),
      operations.getTransaction,
    )

const sliceWanted = (query: Static<typeof TransactionListQuery>) => {
  const { currency, search, status } = query
  const { field: sort, direction } = sortOf(query, NEWEST_FIRST)
  const filters = {
    walletId: query.wallet_id,
    currency,
    search,
    transactionType: query.transaction_type,
    status,
    sourceType: query.source_type,
    createdFromMs: query.created_from,
    createdToMs: query.created_to,
  }
  return { filters, sort, direction, ...sliceOf(query) }
}

const transactionWire = (
  { transaction, currencyId }: { transaction: WalletTransaction; currencyId: number },
  reference: Reference,
): Static<typeof TransactionSchema> => {
  const { precision } = reference.getCurrency(currencyId)
  return {
    id: transaction.id,
    wallet_id: transaction.walletId,
    currency_id: currencyId,
    amount: toMajor(transaction.amountMinor, precision),
    transaction_type: transaction.transactionType,
    status: transaction.status,
    source_currency: transaction.sourceCurrency,
    destination_currency: transaction.destinationCurrency,
    forex_rate: transaction.rateE8 === null ? null : toRate(transaction.rateE8),
    conversion_charges: transaction.conversionMinor === null ? null : toMajor(transaction.conversionMinor, precision),
    balance_after: toMajor(transaction.balanceAfterMinor, precision),
    source_type: transaction.sourceType,
    source_id: transaction.sourceId,
    remarks: transaction.remarks,
    created_at: toTimestamp(transaction.createdAtMs),
  }
}
