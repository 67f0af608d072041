import { pageOf } from '../http/operation.ts'
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

/** Wallets and their transactions (spec 4.6, contract C11). */
export const walletRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  guard
    .routes({
      prefix: '/api/v1',
      tag: 'Wallets',
      tagDescription: 'The wallets of a client, and their transactions.',
      names: 'wallets.',
    })
    .get('/wallets', ({ query, session, set }) => longPaged(set, query, listWallets(reference, session, query)), {
      id: 'listWallets',
      summary: 'List wallets',
      description: 'All wallets of the client, with their balances.',
      query: WalletListQuery,
      response: pageOf('A page of wallets', WalletSchema, LONG_PAGE_HEADERS),
      refuses: { list_validation: violation('type', 'enum', 'must be one of PREPAID, POSTPAID') },
    })
    .get('/wallets/:id', ({ params, session }) => walletWire(getWallet(session, params.id), reference), {
      id: 'getWallet',
      summary: 'Get a wallet',
      description: 'Includes its balance and the reserved amount.',
      params: WalletPath,
      response: { description: 'The wallet', schema: WalletSchema },
      refuses: { not_found: WALLET_NOT_FOUND },
    })
    .get(
      '/transactions',
      ({ query, session, set }) => longPaged(set, query, listTransactions(reference, session, query)),
      {
        id: 'listTransactions',
        summary: 'List transactions',
        description: 'Every movement of the wallets of the client, the newest first.',
        names: 'transactions.',
        query: TransactionListQuery,
        response: pageOf('A page of transactions', TransactionSchema, LONG_PAGE_HEADERS),
        refuses: { list_validation: violation('created_from', 'format', 'must be an RFC 3339 time') },
      },
    )
    .get('/transactions/:id', ({ params, session }) => getTransaction(reference, session, params.id), {
      id: 'getTransaction',
      summary: 'Get a transaction',
      description: 'One movement of a wallet, with the balance after it.',
      names: 'transactions.',
      params: TransactionPath,
      response: { description: 'The transaction', schema: TransactionSchema },
      refuses: { not_found: TRANSACTION_NOT_FOUND },
    })
