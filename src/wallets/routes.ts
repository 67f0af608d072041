import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invalidId } from '../http/failures.ts'
import { LONG_PAGE_HEADERS, operationsOf, pageOf } from '../http/operation.ts'
import { longPaged, sliceOf } from '../http/pagination.ts'
import { sortOf } from '../http/parameters.ts'
import { found, violation } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import {
  TRANSACTION_NOT_FOUND,
  TransactionListQuery,
  TransactionPath,
  TransactionSchema,
  transactionWire,
  WALLET_NOT_FOUND,
  WalletListQuery,
  WalletPath,
  WalletSchema,
  walletWire,
} from './contract.ts'
import { findTransaction, findWallet, listTransactions, listWallets } from './queries.ts'

const operation = operationsOf({
  tag: 'Wallets',
  tagDescription: 'The wallets of a client, and their transactions.',
  errorShape: 'structured',
})

const operations = {
  listWallets: operation({
    id: 'listWallets',
    unexpectedError: 'Failed to retrieve wallets',
    summary: 'List wallets',
    description: 'All wallets of the client, with their balances.',
    query: WalletListQuery,
    success: pageOf('A page of wallets', WalletSchema, LONG_PAGE_HEADERS),
    errors: { 'wallets.list_validation': violation('type', 'enum', 'must be one of PREPAID, POSTPAID') },
  }),
  getWallet: operation({
    id: 'getWallet',
    unexpectedError: 'Failed to retrieve wallet',
    summary: 'Get a wallet',
    description: 'Includes its balance and the reserved amount.',
    params: WalletPath,
    success: { status: 200, description: 'The wallet', schema: WalletSchema },
    errors: { 'wallets.invalid_id': invalidId('wallet'), 'wallets.not_found': WALLET_NOT_FOUND },
  }),
  listTransactions: operation({
    id: 'listTransactions',
    unexpectedError: 'Failed to retrieve transactions',
    summary: 'List transactions',
    description: 'Every movement of the wallets of the client, the newest first.',
    query: TransactionListQuery,
    success: pageOf('A page of transactions', TransactionSchema, LONG_PAGE_HEADERS),
    errors: { 'transactions.list_validation': violation('created_from', 'format', 'must be an RFC 3339 time') },
  }),
  getTransaction: operation({
    id: 'getTransaction',
    unexpectedError: 'Failed to retrieve transaction',
    summary: 'Get a transaction',
    description: 'One movement of a wallet, with the balance after it.',
    params: TransactionPath,
    success: { status: 200, description: 'The transaction', schema: TransactionSchema },
    errors: {
      'transactions.invalid_id': invalidId('transaction'),
      'transactions.not_found': TRANSACTION_NOT_FOUND,
    },
  }),
}

/** Wallets and their transactions (spec 4.6, contract C11). */
export const walletRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  new Elysia({ name: 'wallets', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/wallets',
      async ({ query, session: { world, client }, set }) => {
        const { entries, totalCount } = listWallets(world.db.query, client.id, wanted(query))
        return longPaged(set, query, { entries: entries.map((wallet) => walletWire(wallet, reference)), totalCount })
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
      async ({ query, session, set }) =>
        longPaged(
          set,
          query,
          await listTransactions(session, sliceWanted(query), (row) => transactionWire(row, reference)),
        ),
      operations.listTransactions,
    )
    .get(
      '/transactions/:id',
      ({ params, session: { world, client } }) =>
        transactionWire(found(findTransaction(world.db.query, client.id, params.id), TRANSACTION_NOT_FOUND), reference),
      operations.getTransaction,
    )

const NEWEST_FIRST = { field: 'id', direction: 'DESC' } as const

const wanted = (query: Static<typeof WalletListQuery>) => {
  const { currency, type, currency_id: currencyId, is_active: isActive } = query
  return { page: query, currencyId, currency, type, isActive, sort: sortOf(query, NEWEST_FIRST) }
}

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
