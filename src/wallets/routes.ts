import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invalidId } from '../http/failures.ts'
import { LONG_PAGE_HEADERS, operationsOf } from '../http/operation.ts'
import { longPageHeaders } from '../http/pagination.ts'
import {
  choiceFilter,
  currencyCodeFilter,
  idFilter,
  idPath,
  idTextFilter,
  pageQuery,
  sortOf,
  sortQuery,
  textFilter,
  timeFilter,
} from '../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { found, violation } from '../kernel/failure.ts'
import { toMajor, toRate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { TRANSACTION_NOT_FOUND, WALLET_NOT_FOUND } from './errors.ts'
import {
  findTransaction,
  findWallet,
  listTransactions,
  listWallets,
  TRANSACTION_SORTS,
  WALLET_SORTS,
  type Wallet,
  type WalletTransaction,
} from './queries.ts'
import { SOURCE_TYPES } from './tables.ts'

/** Wallets and their transactions (spec 4.6, contract C11). Errors leave in the structured shape. */

const operation = operationsOf({ tag: 'Wallets', errorShape: 'structured' })

const NEWEST_FIRST = { field: 'id', direction: 'DESC' } as const
const PAGE = { limitDefault: 50, limitMax: 10_000 }
const WALLET_TYPES = ['PREPAID', 'POSTPAID'] as const
const TRANSACTION_TYPES = ['CREDIT', 'DEBIT'] as const
const YES_NO = ['true', 'false'] as const
const TRANSACTION_STATUSES = ['PENDING', 'COMPLETED', 'FAILED'] as const

const WalletSchema = Type.Object(
  {
    id: Type.Integer(),
    currency_id: Type.Integer(),
    currency_code: Type.String({ description: 'ISO 4217' }),
    amount: Type.Number({ description: 'What can be spent now' }),
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
const TransactionSchema = Type.Object(
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
const TransactionListQuery = Type.Object({
  ...pageQuery(PAGE),
  wallet_id: idFilter('wallet'),
  currency: currencyCodeFilter,
  search: textFilter('A part of source_id or of remarks, in either case'),
  transaction_type: choiceFilter(TRANSACTION_TYPES, 'Only credits, or only debits'),
  status: choiceFilter(TRANSACTION_STATUSES, 'Only with this status'),
  source_type: choiceFilter(SOURCE_TYPES, 'Only from this kind of source'),
  created_from: timeFilter('Not before'),
  created_to: timeFilter('Not after'),
  ...sortQuery(TRANSACTION_SORTS),
})

const WALLET_EXAMPLE = {
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

export const walletRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  new Elysia({ name: 'wallets', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/wallets',
      async ({ query, session, set }) => {
        const { currency, type } = query
        const filter = { currencyId: query.currency_id, currency, type, isActive: query.is_active }
        const sort = sortOf(query, NEWEST_FIRST)
        const { rows, totalCount } = listWallets(session.world.db.query, session.client.id, {
          page: query,
          ...filter,
          sort,
        })
        Object.assign(set.headers, longPageHeaders(query, totalCount, rows.length))
        return rows.map((wallet) => walletWire(wallet, reference))
      },
      operation({
        id: 'listWallets',
        breakdown: 'Failed to retrieve wallets',
        summary: 'List wallets',
        description: 'What the client can pay from, with the balance of each.',
        query: WalletListQuery,
        success: {
          status: 200,
          description: 'A page of wallets',
          schema: Type.Array(WalletSchema),
          example: [WALLET_EXAMPLE],
          headers: LONG_PAGE_HEADERS,
        },
        errors: {
          'wallets.list_validation': violation('type', 'enum', 'must be one of PREPAID, POSTPAID'),
        },
      }),
    )
    .get(
      '/wallets/:id',
      ({ params, session }) => {
        return walletWire(
          found(findWallet(session.world.db.query, session.client.id, params.id), WALLET_NOT_FOUND),
          reference,
        )
      },
      operation({
        id: 'getWallet',
        breakdown: 'Failed to retrieve wallet',
        summary: 'Get a wallet',
        description: 'Its balance, and what of it is reserved.',
        params: WalletPath,
        success: { status: 200, description: 'The wallet', schema: WalletSchema, example: WALLET_EXAMPLE },
        errors: {
          'wallets.invalid_id': invalidId('wallet'),
          'wallets.not_found': WALLET_NOT_FOUND,
        },
      }),
    )
    .get(
      '/transactions',
      async ({ query, session, set }) => {
        const { currency, search, status } = query
        const filter = {
          walletId: query.wallet_id,
          currency,
          search,
          transactionType: query.transaction_type,
          status,
          sourceType: query.source_type,
          createdFromMs: query.created_from,
          createdToMs: query.created_to,
        }
        const sort = sortOf(query, NEWEST_FIRST)
        const { rows, totalCount } = await listTransactions(session.world, session.client.id, {
          page: query,
          ...filter,
          sort,
        })
        Object.assign(set.headers, longPageHeaders(query, totalCount, rows.length))
        return rows.map((row) => transactionWire(row, reference))
      },
      operation({
        id: 'listTransactions',
        breakdown: 'Failed to retrieve transactions',
        summary: 'List transactions',
        description: 'Every movement of the wallets of the client, the newest first.',
        query: TransactionListQuery,
        success: {
          status: 200,
          description: 'A page of transactions',
          schema: Type.Array(TransactionSchema),
          example: [TRANSACTION_EXAMPLE],
          headers: LONG_PAGE_HEADERS,
        },
        errors: {
          'transactions.list_validation': violation('created_from', 'format', 'must be an RFC 3339 time'),
        },
      }),
    )
    .get(
      '/transactions/:id',
      ({ params, session }) => {
        return transactionWire(
          found(findTransaction(session.world.db.query, session.client.id, params.id), TRANSACTION_NOT_FOUND),
          reference,
        )
      },
      operation({
        id: 'getTransaction',
        breakdown: 'Failed to retrieve transaction',
        summary: 'Get a transaction',
        description: 'One movement of a wallet, with the balance after it.',
        params: TransactionPath,
        success: {
          status: 200,
          description: 'The transaction',
          schema: TransactionSchema,
          example: TRANSACTION_EXAMPLE,
        },
        errors: {
          'transactions.invalid_id': invalidId('transaction'),
          'transactions.not_found': TRANSACTION_NOT_FOUND,
        },
      }),
    )

/** A wallet as it is on the wire (contract C11). */
const walletWire = (wallet: Wallet, reference: Reference): Static<typeof WalletSchema> => {
  const { currency, precision } = reference.getCurrency(wallet.currencyId)
  return {
    id: wallet.id,
    currency_id: wallet.currencyId,
    currency_code: currency,
    amount: toMajor(wallet.amountMinor, precision),
    reserved_amount: toMajor(wallet.reservedMinor, precision),
    type: wallet.type,
    credit_limit: toMajor(wallet.creditLimitMinor, precision),
    is_default: wallet.isDefault,
    is_active: true,
    created_at: toTimestamp(wallet.createdAtMs),
    updated_at: toTimestamp(wallet.updatedAtMs),
  }
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
