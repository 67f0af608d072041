import { and, asc, eq, or, sql } from 'drizzle-orm'
import { type World, worldPart } from '../worlds/world.ts'
import { type Wallet, wallets } from './tables.ts'

export type { Wallet }

const statements = worldPart(({ db: { query } }) => ({
  byId: query
    .select()
    .from(wallets)
    .where(and(eq(wallets.clientId, sql.placeholder('clientId')), eq(wallets.id, sql.placeholder('id'))))
    .limit(1)
    .prepare(),
  // The wallet in the currency comes before the default one; among several the oldest.
  paying: query
    .select()
    .from(wallets)
    .where(
      and(
        eq(wallets.clientId, sql.placeholder('clientId')),
        or(eq(wallets.currencyId, sql.placeholder('currencyId')), eq(wallets.isDefault, true)),
      ),
    )
    .orderBy(sql`${wallets.currencyId} = ${sql.placeholder('currencyId')} DESC`, asc(wallets.id))
    .limit(1)
    .prepare(),
  default: query
    .select()
    .from(wallets)
    .where(and(eq(wallets.clientId, sql.placeholder('clientId')), eq(wallets.isDefault, true)))
    .limit(1)
    .prepare(),
}))

/** The client's own wallet, or undefined: another client's is as good as none. */
export const findWallet = (world: World, clientId: number, id: number): Wallet | undefined =>
  world.of(statements).byId.get({ clientId, id })

/** The wallet that pays when none is named: the one in the product's currency, else the default (contract C9). */
export const findPayingWallet = (world: World, clientId: number, currencyId: number): Wallet | undefined =>
  world.of(statements).paying.get({ clientId, currencyId })

/** The client's default wallet, or undefined while it has none. */
export const findDefaultWallet = (world: World, clientId: number): Wallet | undefined =>
  world.of(statements).default.get({ clientId })
