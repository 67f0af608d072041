import { type Static, Type } from '@sinclair/typebox'
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
import { getExample, nullable, oneOf, Timestamp } from '../http/schemas.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { badRequest, notFound } from '../kernel/failure.ts'
import { keptRate, toMajor, toRate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { SOURCE_TYPES, TRANSACTION_STATUSES, type Wallet, type WalletTransaction } from './tables.ts'

/** Wallets and their transactions in the API (spec 4.6, contract C11). */

export const WALLET_NOT_FOUND = notFound('Wallet')
export const TRANSACTION_NOT_FOUND = notFound('Transaction')
export const INSUFFICIENT_BALANCE = badRequest('insufficient_balance', 'Insufficient wallet balance')

const PAGE = { limitDefault: 50, limitMax: 10_000 }
const WALLET_TYPES = ['PREPAID', 'POSTPAID'] as const
const TRANSACTION_TYPES = ['CREDIT', 'DEBIT'] as const
const YES_NO = ['true', 'false'] as const
const WALLET_SORTS = ['id', 'amount'] as const
const TRANSACTION_SORTS = ['id', 'amount', 'created_at'] as const

export const WalletPath = idPath('wallet')
export const TransactionPath = idPath('transaction')

export const WalletListQuery = Type.Object({
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
  search: searchFilter('Part of source_id or remarks; case does not matter', 'opening'),
  transaction_type: choiceFilter(TRANSACTION_TYPES, 'Only credits, or only debits'),
  status: choiceFilter(TRANSACTION_STATUSES, 'Only with this status'),
  source_type: choiceFilter(SOURCE_TYPES, 'Only from this kind of source'),
  created_from: timeFilter('Not before'),
  created_to: timeFilter('Not after'),
  ...sortQuery(TRANSACTION_SORTS),
})

export const WalletSchema = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    currency_id: Type.Integer({ example: 139 }),
    currency_code: Type.String({ description: 'ISO 4217', example: 'USD' }),
    amount: Type.Number({ description: 'Amount that can be spent now', example: 100_000 }),
    reserved_amount: Type.Number({ description: 'Paid for orders and payouts that are still under way', example: 0 }),
    type: oneOf(WALLET_TYPES),
    credit_limit: Type.Number({ description: 'The amount by which a POSTPAID wallet may go below zero', example: 0 }),
    is_default: Type.Boolean({ example: true }),
    is_active: Type.Boolean({ description: 'True if it can pay', example: true }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Wallet' },
)
export const WALLET_EXAMPLE = getExample(WalletSchema)

export const walletWire = (wallet: Wallet, reference: Reference): Static<typeof WalletSchema> => {
  const { currency, precision } = reference.shownCurrency(wallet.currencyId)
  return {
    id: wallet.id,
    currency_id: wallet.currencyId,
    currency_code: currency,
    amount: toMajor(wallet.amountMinor, precision),
    reserved_amount: toMajor(wallet.reservedMinor, precision),
    type: wallet.type,
    credit_limit: toMajor(wallet.creditLimitMinor, precision),
    is_default: wallet.isDefault,
    is_active: wallet.closedAtMs === null,
    created_at: toTimestamp(wallet.createdAtMs),
    updated_at: toTimestamp(wallet.updatedAtMs),
  }
}

export const TransactionSchema = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    wallet_id: Type.Integer({ example: 1 }),
    currency_id: Type.Integer({ example: 139 }),
    amount: Type.Number({ description: 'Positive; transaction_type gives the sign', example: 100_000 }),
    transaction_type: oneOf(TRANSACTION_TYPES),
    status: oneOf(TRANSACTION_STATUSES, { example: 'COMPLETED' }),
    source_currency: nullable(Type.String()),
    destination_currency: nullable(Type.String()),
    forex_rate: nullable(Type.Number()),
    conversion_charges: nullable(Type.Number()),
    balance_after: Type.Number({ example: 100_000 }),
    source_type: oneOf(SOURCE_TYPES, { example: 'funding' }),
    source_id: nullable(Type.String()),
    remarks: nullable(Type.String({ example: 'Opening balance' })),
    created_at: Timestamp,
  },
  { title: 'Transaction' },
)

export const transactionWire = (
  transaction: WalletTransaction,
  currencyId: number,
  reference: Reference,
): Static<typeof TransactionSchema> => {
  const { precision } = reference.shownCurrency(currencyId)
  const rate = keptRate(transaction)
  return {
    id: transaction.id,
    wallet_id: transaction.walletId,
    currency_id: currencyId,
    amount: toMajor(transaction.amountMinor, precision),
    transaction_type: transaction.transactionType,
    status: transaction.status,
    source_currency: transaction.sourceCurrency,
    destination_currency: transaction.destinationCurrency,
    forex_rate: rate ? toRate(rate) : null,
    conversion_charges: transaction.conversionMinor === null ? null : toMajor(transaction.conversionMinor, precision),
    balance_after: toMajor(transaction.balanceAfterMinor, precision),
    source_type: transaction.sourceType,
    source_id: transaction.sourceId,
    remarks: transaction.remarks,
    created_at: toTimestamp(transaction.createdAtMs),
  }
}
