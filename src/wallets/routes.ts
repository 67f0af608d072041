import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../http/legacy-operation.ts'
import { LONG_PAGE_HEADERS } from '../http/operation.ts'
import { longPageHeaders } from '../http/pagination.ts'
import { idFilter, idPath, idTextFilter, pageQuery, sortQuery } from '../http/parameters.ts'
import { pathId, QueryReader, readSort } from '../http/query.ts'
import { nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor, toRate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
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

const CurrencyCode = Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, in upper case' }))
const WalletListQuery = Type.Object({
  ...pageQuery(PAGE),
  currency_id: idTextFilter('currency'),
  currency: CurrencyCode,
  type: Type.Optional(oneOf(WALLET_TYPES, { description: 'Only of this type' })),
  is_active: Type.Optional(oneOf(YES_NO, { description: 'Only those that can pay, or cannot' })),
  ...sortQuery(WALLET_SORTS),
})
const TransactionListQuery = Type.Object({
  ...pageQuery(PAGE),
  wallet_id: idFilter('wallet'),
  currency: CurrencyCode,
  search: Type.Optional(Type.String({ description: 'A part of source_id or of remarks, in either case' })),
  transaction_type: Type.Optional(oneOf(TRANSACTION_TYPES, { description: 'Only credits, or only debits' })),
  status: Type.Optional(oneOf(TRANSACTION_STATUSES, { description: 'Only with this status' })),
  source_type: Type.Optional(oneOf(SOURCE_TYPES, { description: 'Only from this kind of source' })),
  created_from: Type.Optional(Type.String({ format: 'date-time', description: 'Not before' })),
  created_to: Type.Optional(Type.String({ format: 'date-time', description: 'Not after' })),
  ...sortQuery(TRANSACTION_SORTS),
})

const WALLET_EXAMPLE = {
  id: 1,
  currency_id: 139,
  currency_code: 'USD',
  amount: 100_000,
  reserved_amount: 0,
  type: 'PREPAID',
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
  transaction_type: 'CREDIT',
  status: 'COMPLETED',
  source_currency: null,
  destination_currency: null,
  forex_rate: null,
  conversion_charges: null,
  balance_after: 100_000,
  source_type: 'funding',
  source_id: null,
  remarks: 'Opening balance',
  created_at: '2026-01-01T00:00:00.000Z',
}

export const walletRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  new Elysia({ name: 'wallets', prefix: '/api/v1' })
    .use(guard.plugin())
    .get(
      '/wallets',
      async ({ request, session, set }) => {
        const query = new QueryReader(request.url)
        const page = query.page(PAGE)
        const filter = {
          currencyId: query.id('currency_id'),
          currency: query.currencyCode('currency'),
          type: query.choice('type', WALLET_TYPES),
          isActive: query.choice('is_active', YES_NO),
        }
        const sort = readSort(query, WALLET_SORTS, { field: 'id', direction: 'DESC' })
        query.finish()
        const { rows, totalCount } = listWallets(session.world.db.query, session.client.id, { page, ...filter, sort })
        Object.assign(set.headers, longPageHeaders(page, totalCount, rows.length))
        return rows.map((wallet) => walletWire(wallet, reference))
      },
      documented({
        id: 'listWallets',
        tag: 'Wallets',
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
        refusals: {
          'wallets.list_validation': {
            code: 'validation',
            violations: [{ field: 'type', rule: 'enum', problem: 'must be one of PREPAID, POSTPAID' }],
          },
        },
      }),
    )
    .get(
      '/wallets/:id',
      ({ params, session }) => {
        const id = pathId(params.id, 'wallet')
        return walletWire(found(findWallet(session.world.db.query, session.client.id, id), 'wallet'), reference)
      },
      documented({
        id: 'getWallet',
        tag: 'Wallets',
        summary: 'Get a wallet',
        description: 'Its balance, and what of it is reserved.',
        path: WalletPath,
        success: { status: 200, description: 'The wallet', schema: WalletSchema, example: WALLET_EXAMPLE },
        refusals: {
          'wallets.invalid_id': { code: 'invalid_id', resource: 'wallet' },
          'wallets.not_found': { code: 'not_found', resource: 'wallet' },
        },
      }),
    )
    .get(
      '/transactions',
      async ({ request, session, set }) => {
        const query = new QueryReader(request.url)
        const page = query.page(PAGE)
        const filter = {
          walletId: query.id('wallet_id'),
          currency: query.currencyCode('currency'),
          search: query.text('search'),
          transactionType: query.choice('transaction_type', TRANSACTION_TYPES),
          status: query.choice('status', TRANSACTION_STATUSES),
          sourceType: query.choice('source_type', SOURCE_TYPES),
          createdFromMs: query.timestamp('created_from'),
          createdToMs: query.timestamp('created_to'),
        }
        const sort = readSort(query, TRANSACTION_SORTS, { field: 'id', direction: 'DESC' })
        query.finish()
        const { rows, totalCount } = await listTransactions(session.world, session.client.id, { page, ...filter, sort })
        Object.assign(set.headers, longPageHeaders(page, totalCount, rows.length))
        return rows.map((row) => transactionWire(row, reference))
      },
      documented({
        id: 'listTransactions',
        tag: 'Wallets',
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
        refusals: {
          'transactions.list_validation': {
            code: 'validation',
            violations: [{ field: 'created_from', rule: 'format', problem: 'must be an RFC 3339 time' }],
          },
        },
      }),
    )
    .get(
      '/transactions/:id',
      ({ params, session }) => {
        const id = pathId(params.id, 'transaction')
        return transactionWire(
          found(findTransaction(session.world.db.query, session.client.id, id), 'transaction'),
          reference,
        )
      },
      documented({
        id: 'getTransaction',
        tag: 'Wallets',
        summary: 'Get a transaction',
        description: 'One movement of a wallet, with the balance after it.',
        path: TransactionPath,
        success: {
          status: 200,
          description: 'The transaction',
          schema: TransactionSchema,
          example: TRANSACTION_EXAMPLE,
        },
        refusals: {
          'transactions.invalid_id': { code: 'invalid_id', resource: 'transaction' },
          'transactions.not_found': { code: 'not_found', resource: 'transaction' },
        },
      }),
    )

/** A wallet as it is on the wire (contract C11). */
const walletWire = (wallet: Wallet, reference: Reference) => {
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
) => {
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
