import { findProduct } from '../catalog/queries.ts'
import type { Query } from '../db/database.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { findAnyClient } from '../sessions/queries.ts'
import { findAnyWallet } from '../wallets/queries.ts'
import type { World } from '../work/world.ts'
import { Amount } from './cells.ts'

/** The context of acts and lists. */
export interface Administration extends ReturnType<typeof namesIn> {
  world: World
  query: Query
  reference: Reference
  /** Those of a sandbox are not in the database of a world. */
  findProduct: (id: number) => { name: string } | undefined
}

export const administrationOf = (world: World, reference: Reference): Administration => {
  const { query } = world.db
  return { world, query, reference, findProduct: (id) => findProduct(query, id), ...namesIn(query, reference) }
}

/** Values that many rows share are read once. */
const namesIn = (query: Query, reference: Reference) => {
  const usernames = new Map<number, string | null>()
  const walletCurrencies = new Map<number, Currency>()
  const currency = (id: number): Currency => reference.getCurrency(id)
  const shownCurrency = (id: number): Currency => reference.shownCurrency(id)
  const walletCurrency = (walletId: number): Currency => {
    const found = walletCurrencies.get(walletId) ?? shownCurrency(findAnyWallet(query, walletId)?.currencyId ?? 0)
    walletCurrencies.set(walletId, found)
    return found
  }
  return {
    clientName: (clientId: number): string | null =>
      usernames.getOrInsertComputed(clientId, () => findAnyClient(query, clientId)?.username ?? null),
    currency,
    shownCurrency,
    walletCurrency,
    amount: (minor: number | null, currencyId: number): Amount | null =>
      minor === null ? null : new Amount(minor, shownCurrency(currencyId)),
    walletAmount: (minor: number | null, walletId: number): Amount | null =>
      minor === null ? null : new Amount(minor, walletCurrency(walletId)),
  }
}
