import type { Static } from '@sinclair/typebox'
import { offsetOf, sliceOf } from '../http/pagination.ts'
import { sortOf } from '../http/parameters.ts'
import { foundOr } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Session } from '../sessions/sessions.ts'
import {
  TRANSACTION_NOT_FOUND,
  type TransactionListQuery,
  type TransactionSchema,
  transactionWire,
  WALLET_NOT_FOUND,
  type WalletListQuery,
  type WalletSchema,
  walletWire,
} from './contract.ts'
import { findTransaction, findWallet, transactionList, type Wallet, walletsOfClient } from './queries.ts'
import type { WalletTransaction } from './tables.ts'

const NEWEST_FIRST = { field: 'id', direction: 'DESC' } as const

export const listWallets = (
  reference: Reference,
  { world, client }: Session,
  query: Static<typeof WalletListQuery>,
): { entries: Static<typeof WalletSchema>[]; totalCount: number } => {
  const { currency, type, currency_id: currencyId, is_active: isActive } = query
  const { field, direction } = sortOf(query, NEWEST_FIRST)
  const currencyOf = (wallet: Wallet) => reference.shownCurrency(wallet.currencyId)
  const matching = walletsOfClient(world.db.query, { clientId: client.id })
    .filter((wallet) => currencyId === undefined || wallet.currencyId === currencyId)
    .filter((wallet) => currency === undefined || currencyOf(wallet).currency === currency)
    .filter((wallet) => type === undefined || wallet.type === type)
    .filter(({ closedAtMs }) => isActive === undefined || isActive === String(closedAtMs === null))
  if (field === 'amount') {
    const amountOf = (wallet: Wallet) => toMajor(wallet.amountMinor, currencyOf(wallet).precision)
    matching.sort((one, other) => amountOf(one) - amountOf(other))
  }
  if (direction === 'DESC') matching.reverse()
  const offset = offsetOf(query)
  const page = matching.slice(offset, offset + query.limit)
  return { entries: page.map((wallet) => walletWire(wallet, reference)), totalCount: matching.length }
}

/** @throws DomainError not_found */
export const getWallet = ({ world, client }: Session, id: number): Wallet =>
  foundOr(findWallet(world.db.query, client.id, id), WALLET_NOT_FOUND)

export const listTransactions = (
  reference: Reference,
  session: Session,
  query: Static<typeof TransactionListQuery>,
) => {
  const { field: sort, direction } = sortOf(query, NEWEST_FIRST)
  const filters = {
    walletId: query.wallet_id,
    currency: query.currency,
    search: query.search,
    transactionType: query.transaction_type,
    status: query.status,
    sourceType: query.source_type,
    createdFromMs: query.created_from,
    createdToMs: query.created_to,
  }
  const slice = { filters, sort, direction, ...sliceOf(query) }
  return transactionList.page(session, slice, transactionWires(reference, session))
}

/** @throws DomainError not_found */
export const getTransaction = (
  reference: Reference,
  session: Session,
  id: number,
): Static<typeof TransactionSchema> => {
  const { world, client } = session
  const transaction = foundOr(findTransaction(world.db.query, client.id, id), TRANSACTION_NOT_FOUND)
  return transactionWires(reference, session)(transaction)
}

/** A transaction is in the currency of its wallet, which is read once. */
const transactionWires = (reference: Reference, { world, client }: Session) => {
  const currencyIds = new Map<number, number>()
  return (transaction: WalletTransaction) => {
    const { walletId } = transaction
    const currencyId = currencyIds.get(walletId) ?? findWallet(world.db.query, client.id, walletId)?.currencyId ?? 0
    currencyIds.set(walletId, currencyId)
    return transactionWire(transaction, currencyId, reference)
  }
}
