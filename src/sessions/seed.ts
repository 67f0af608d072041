import { eq } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { passwordDigest } from './credentials.ts'
import { clients } from './tables.ts'

/** A client to be made, with the password that it will log in with. */
export interface NewClient {
  id: number
  username: string
  password: string
  vouchers: boolean
  quantityMax: number | null
}

export const addClients = (tx: Tx, added: readonly NewClient[], nowMs: number): void => {
  const rows = added.map(({ password, ...client }) => ({
    ...client,
    passwordSha256: passwordDigest(password),
    disabled: false,
    createdAtMs: nowMs,
  }))
  tx.insert(clients).values(rows).run()
}

/** The usernames of all clients, disabled ones among them. */
export const clientNames = (tx: Tx): string[] =>
  tx
    .select({ username: clients.username })
    .from(clients)
    .all()
    .map(({ username }) => username)

export const setPassword = (tx: Tx, clientId: number, password: string): void => {
  tx.update(clients)
    .set({ passwordSha256: passwordDigest(password) })
    .where(eq(clients.id, clientId))
    .run()
}

/** Gives every client of a database the same password. */
export const setPasswordDigests = (tx: Tx, passwordSha256: string): void => {
  tx.update(clients).set({ passwordSha256 }).run()
}

/** The password digest of the first client. */
export const findPasswordDigest = (query: Query): string | undefined =>
  query.select({ digest: clients.passwordSha256 }).from(clients).limit(1).get()?.digest
