import { Type } from '@sinclair/typebox'
import { LONG_PAGE_HEADERS, operationsOf, pageOf } from '../http/operation.ts'
import {
  choiceFilter,
  currencyCodeFilter,
  idFilter,
  idPath,
  idTextFilter,
  pageQuery,
  searchFilter,
  sortQuery,
  timeFilter,
} from '../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { GET_TRANSACTION_ERRORS, GET_WALLET_ERRORS, LIST_TRANSACTIONS_ERRORS, LIST_WALLETS_ERRORS } from './errors.ts'
import { TRANSACTION_SORTS, WALLET_SORTS } from './queries.ts'
import { SOURCE_TYPES, TRANSACTION_STATUSES } from './tables.ts'

const operation = operationsOf({
  tag: 'Wallets',
  tagDescription: 'The wallets of a client, and their transactions.',
  errorShape: 'structured',
})

export const NEWEST_FIRST = { field: 'id', direction: 'DESC' } as const
const PAGE = { limitDefault: 50, limitMax: 10_000 }
const WALLET_TYPES = ['PREPAID', 'POSTPAID'] as const
const TRANSACTION_TYPES = ['CREDIT', 'DEBIT'] as const
const YES_NO = ['true', 'false'] as const

export const WalletSchema = Type.Object(
  {
    id: Type.Integer(),
    currency_id: Type.Integer(),
    currency_code: Type.String({ description: 'ISO 4217' }),
    amount: Type.Number({ description: 'Amount that can be spent now' }),
    reserved_amount: Type.Number({ description: 'Paid for orders and payouts that are still under way' }),
    type: oneOf(WALLET_TYPES),
    credit_limit: Type.Number({ description: 'How far below zero a POSTPAID wallet may go' }),
    is_default: Type.Boolean(),
    is_active: Type.Boolean({ description: 'Whether it can pay' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Wallet' },
)
export const TransactionSchema = Type.Object(
  {
    id: Type.Integer(),
    wallet_id: Type.Integer(),
    currency_id: Type.Integer(),
    amount: Type.Number({ description: 'Positive; transaction_type gives the sign' }),
    transaction_type: oneOf(TRANSACTION_TYPES),
    status: oneOf(TRANSACTION_STATUSES),
    source_currency: nullable(Type.String()),
    destination_currency: nullable(Type.String()),
    forex_rate: nullable(Type.Number()),
    conversion_charges: nullable(Type.Number()),
    balance_after: Type.Number(),
    source_type: oneOf(SOURCE_TYPES),
    source_id: nullable(Type.String()),
    remarks: nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'Transaction' },
)
const WalletPath = idPath('wallet')
const TransactionPath = idPath('transaction')

const WalletListQuery = Type.Object({
  ...pageQuery(PAGE),
  currency_id: idTextFilter('currency'),
  currency: currencyCodeFilter,
  type: choiceFilter(WALLET_TYPES, 'Only of this type'),
  is_active: choiceFilter(YES_NO, 'Only those that can pay, or cannot'),
  ...sortQuery(WALLET_SORTS),
})
export const TransactionListQuery = Type.Object({
  ...pageQuery(PAGE),
  wallet_id: idFilter('wallet'),
  currency: currencyCodeFilter,
  search: searchFilter('A part of source_id or of remarks, in either case', 'opening'),
  transaction_type: choiceFilter(TRANSACTION_TYPES, 'Only credits, or only debits'),
  status: choiceFilter(TRANSACTION_STATUSES, 'Only with this status'),
  source_type: choiceFilter(SOURCE_TYPES, 'Only from this kind of source'),
  created_from: timeFilter('Not before'),
  created_to: timeFilter('Not after'),
  ...sortQuery(TRANSACTION_SORTS),
})

export const WALLET_EXAMPLE = {
  id: 1,
  currency_id: 139,
  currency_code: 'USD',
  amount: 100_000,
  reserved_amount: 0,
  type: 'PREPAID' as const,
  credit_limit: 0,
  is_default: true,
  is_active: true,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
const TRANSACTION_EXAMPLE = {
  id: 1,
  wallet_id: 1,
  currency_id: 139,
  amount: 100_000,
  transaction_type: 'CREDIT' as const,
  status: 'COMPLETED' as const,
  source_currency: null,
  destination_currency: null,
  forex_rate: null,
  conversion_charges: null,
  balance_after: 100_000,
  source_type: 'funding' as const,
  source_id: null,
  remarks: 'Opening balance',
  created_at: '2026-01-01T00:00:00.000Z',
}

export const listWallets = operation({
  id: 'listWallets',
  unexpectedError: 'Failed to retrieve wallets',
  summary: 'List wallets',
  description: 'All wallets of the client, with their balances.',
  query: WalletListQuery,
  success: pageOf('A page of wallets', WalletSchema, WALLET_EXAMPLE, LONG_PAGE_HEADERS),
  errors: LIST_WALLETS_ERRORS,
})

export const getWallet = operation({
  id: 'getWallet',
  unexpectedError: 'Failed to retrieve wallet',
  summary: 'Get a wallet',
  description: 'Includes its balance and the reserved amount.',
  params: WalletPath,
  success: { status: 200, description: 'The wallet', schema: WalletSchema, example: WALLET_EXAMPLE },
  errors: GET_WALLET_ERRORS,
})

export const listTransactions = operation({
  id: 'listTransactions',
  unexpectedError: 'Failed to retrieve transactions',
  summary: 'List transactions',
  description: 'Every movement of the wallets of the client, the newest first.',
  query: TransactionListQuery,
  success: pageOf('A page of transactions', TransactionSchema, TRANSACTION_EXAMPLE, LONG_PAGE_HEADERS),
  errors: LIST_TRANSACTIONS_ERRORS,
})

export const getTransaction = operation({
  id: 'getTransaction',
  unexpectedError: 'Failed to retrieve transaction',
  summary: 'Get a transaction',
  description: 'One movement of a wallet, with the balance after it.',
  params: TransactionPath,
  success: { status: 200, description: 'The transaction', schema: TransactionSchema, example: TRANSACTION_EXAMPLE },
  errors: GET_TRANSACTION_ERRORS,
})
