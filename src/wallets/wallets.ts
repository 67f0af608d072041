import type { Static } from '@sinclair/typebox'
import { sliceOf } from '../http/pagination.ts'
import { sortOf } from '../http/parameters.ts'
import { foundOr } from '../kernel/failure.ts'
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
import { findTransaction, findWallet, transactionList, type Wallet, walletList } from './queries.ts'
import type { WalletTransaction } from './tables.ts'

const NEWEST_FIRST = { field: 'id', direction: 'DESC' } as const

export const listWallets = (
  reference: Reference,
  session: Session,
  query: Static<typeof WalletListQuery>,
): { entries: Static<typeof WalletSchema>[]; totalCount: number } => {
  const { currency, type, currency_id: currencyId, is_active: isActive } = query
  const { field: sort, direction } = sortOf(query, NEWEST_FIRST)
  const filters = { currency, type, currencyId, isActive: isActive && Number(isActive === 'true') }
  const slice = { filters, sort, direction, ...sliceOf(query) }
  return walletList.page(session, slice, (wallet) => walletWire(wallet, reference))
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
