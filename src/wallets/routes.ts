import { Elysia } from 'elysia'
import { invalidId } from '../http/failures.ts'
import { operationsOf, pageOf } from '../http/operation.ts'
import { LONG_PAGE_HEADERS, longPaged } from '../http/pagination.ts'
import { violation } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import {
  TRANSACTION_NOT_FOUND,
  TransactionListQuery,
  TransactionPath,
  TransactionSchema,
  WALLET_NOT_FOUND,
  WalletListQuery,
  WalletPath,
  WalletSchema,
  walletWire,
} from './contract.ts'
import { getTransaction, getWallet, listTransactions, listWallets } from './wallets.ts'

const operation = operationsOf({
  tag: 'Wallets',
  tagDescription: 'The wallets of a client, and their transactions.',
})

const operations = {
  listWallets: operation({
    id: 'listWallets',
    summary: 'List wallets',
    description: 'All wallets of the client, with their balances.',
    query: WalletListQuery,
    success: pageOf('A page of wallets', WalletSchema, LONG_PAGE_HEADERS),
    errors: { 'wallets.list_validation': violation('type', 'enum', 'must be one of PREPAID, POSTPAID') },
  }),
  getWallet: operation({
    id: 'getWallet',
    summary: 'Get a wallet',
    description: 'Includes its balance and the reserved amount.',
    params: WalletPath,
    success: { status: 200, description: 'The wallet', schema: WalletSchema },
    errors: { 'wallets.invalid_id': invalidId('wallet'), 'wallets.not_found': WALLET_NOT_FOUND },
  }),
  listTransactions: operation({
    id: 'listTransactions',
    summary: 'List transactions',
    description: 'Every movement of the wallets of the client, the newest first.',
    query: TransactionListQuery,
    success: pageOf('A page of transactions', TransactionSchema, LONG_PAGE_HEADERS),
    errors: { 'transactions.list_validation': violation('created_from', 'format', 'must be an RFC 3339 time') },
  }),
  getTransaction: operation({
    id: 'getTransaction',
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
      ({ query, session, set }) => longPaged(set, query, listWallets(reference, session, query)),
      operations.listWallets,
    )
    .get(
      '/wallets/:id',
      ({ params, session }) => walletWire(getWallet(session, params.id), reference),
      operations.getWallet,
    )
    .get(
      '/transactions',
      ({ query, session, set }) => longPaged(set, query, listTransactions(reference, session, query)),
      operations.listTransactions,
    )
    .get(
      '/transactions/:id',
      ({ params, session }) => getTransaction(reference, session, params.id),
      operations.getTransaction,
    )
