import { agreeDiscounts } from '../../catalog/queries.ts'
import type { Database } from '../../db/database.ts'
import type { Reference } from '../../reference/reference.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import {
  allClients,
  findCredentials,
  findPasswordDigest,
  hasClients,
  insertClients,
  setPasswordDigest,
  setPasswordDigests,
} from '../../sessions/queries.ts'
import { seedWallets } from '../../wallets/seed.ts'

export const SANDBOX_USERNAME = 'sandbox'
const LIMITED_USERNAME = 'limited'

/** The digest of a client that nobody has logged in as: no password has it. */
export const UNCLAIMED = ''

export const SANDBOX_CLIENT_IDS = { sandbox: 1, limited: 2 } as const

/** The clients of every sandbox world and their prepaid wallets (contract C2). */
export const ACCOUNTS = [
  { id: SANDBOX_CLIENT_IDS.sandbox, username: SANDBOX_USERNAME, vouchers: true, quantityMax: null },
  { id: SANDBOX_CLIENT_IDS.limited, username: LIMITED_USERNAME, vouchers: false, quantityMax: 10 },
] as const

/** True if every world has a client of this name. */
export const isAccount = (username: string): boolean => ACCOUNTS.some((account) => account.username === username)

/** Amounts in major units; their ids count from 1, and the first of a client is its default one. */
export const WALLETS = [
  { clientId: 1, currency: 'USD', amount: 100_000 },
  { clientId: 1, currency: 'EUR', amount: 100_000 },
  { clientId: 1, currency: 'INR', amount: 5_000_000 },
  { clientId: 1, currency: 'JPY', amount: 10_000_000 },
  { clientId: 2, currency: 'USD', amount: 5 },
] as const

/** The numbers of records in a new world: a ledger entry for each wallet, which is funded. */
export const SEEDED = { clients: ACCOUNTS.length, wallets: WALLETS.length, entries: WALLETS.length } as const

/** One agreed discount, so that the difference shows: product 2 at 6 % for `limited` instead of 4 %. */
const AGREED_DISCOUNTS = [{ clientId: 2, productId: 2, discountBasisPoints: 600 }] as const

/** 2026-01-01T00:00:00Z: seed data is the same in every world and every run, including its times. */
export const SEEDED_AT_MS = 1_767_225_600_000

/** Makes the accounts if there is no client yet: all of them in a new database, none in an existing one. */
export const seedSandboxAccounts = (database: Database, reference: Reference): void =>
  database.fill((tx) => {
    if (hasClients(tx)) return
    insertClients(
      tx,
      ACCOUNTS.map((account) => ({
        ...account,
        passwordSha256: passwordDigest(account.username),
        createdAtMs: SEEDED_AT_MS,
        disabled: false,
        revokedThrough: 0,
      })),
    )
    seedWallets(tx, reference, WALLETS, SEEDED_AT_MS)
    agreeDiscounts(tx, AGREED_DISCOUNTS)
  })

/** True if the clients of a database belong to the other mode: sandbox accounts in live mode, others in the sandbox. */
export const holdsForeignClients = ({ query }: Database, mode: 'sandbox' | 'live'): boolean => {
  const isSandbox = ACCOUNTS.some(({ username }) => findCredentials(query, username) !== undefined)
  return hasClients(query) && isSandbox !== (mode === 'sandbox')
}

/** The accounts, and each client without its own password, share one password: the next login chooses it. */
export const forgetPasswords = (database: Database): void => setAccountDigests(database, UNCLAIMED)

export const setAccountDigests = (database: Database, digest: string): void =>
  database.fill((tx) => setPasswordDigests(tx, Object.values(SANDBOX_CLIENT_IDS), digest))

/**
 * Gives clients of the default world their documented passwords, which are their names. Its data may come from another
 * world.
 */
export const setAccountPasswords = (database: Database): void =>
  database.fill((tx) => {
    for (const { id, username } of allClients(tx)) {
      const isUnclaimed = isAccount(username) || findPasswordDigest(tx, id) === UNCLAIMED
      if (isUnclaimed) setPasswordDigest(tx, id, passwordDigest(username))
    }
  })
