import { and, asc, eq } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { type BucketSize, TokenBuckets } from '../http/rate-limit.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { clients, logins } from './tables.ts'

/** A part of the service that an account may or may not have (spec 4.3). */
export type Feature = 'vouchers'

/** A client as a world knows it while the process runs. */
export interface Client {
  readonly id: number
  readonly username: string
  features: ReadonlySet<Feature>
  /** The most that this client may buy at once, or null without a limit of its own. */
  quantityMax: number | null
  /** Counts the revocations of this client's tokens; a session of an earlier epoch is checked anew. */
  tokenEpoch: number
  /** Made at the first request that counts. */
  buckets: TokenBuckets | undefined
}

const clientsById = worldPart(() => new Map<number, Client>())

/** The client, or undefined when there is none or it is disabled. */
export const findClient = (world: World, id: number): Client | undefined => {
  const known = world.of(clientsById).get(id)
  if (known) return known
  const row = findEnabled(world, id)
  if (!row) return undefined
  const client: Client = { id: row.id, username: row.username, ...rightsOf(row), tokenEpoch: 0, buckets: undefined }
  world.of(clientsById).set(id, client)
  return client
}

/** Takes over what another process has changed of the clients, and has every token checked anew. */
export const refreshClients = (world: World): void => {
  const known = world.of(clientsById)
  for (const client of known.values()) {
    client.tokenEpoch += 1
    const row = findEnabled(world, client.id)
    if (row) Object.assign(client, rightsOf(row))
    else known.delete(client.id)
  }
}

const findEnabled = (world: World, id: number) =>
  world.db.query
    .select()
    .from(clients)
    .where(and(eq(clients.id, id), eq(clients.disabled, false)))
    .limit(1)
    .get()

const rightsOf = (row: typeof clients.$inferSelect): Pick<Client, 'features' | 'quantityMax'> => ({
  features: new Set(row.vouchers ? ['vouchers'] : []),
  quantityMax: row.quantityMax,
})

/** The client's buckets, full when it has not been seen before. */
export const bucketsOf = (world: World, client: Client, sizes: readonly BucketSize[]): TokenBuckets => {
  client.buckets ??= new TokenBuckets(sizes, world.clock.steadyMs())
  return client.buckets
}

/** A client as its operator sees it. */
export type ClientRecord = Omit<typeof clients.$inferSelect, 'passwordSha256'>

/** All clients, disabled ones among them, in the order in which they were added. */
export const allClients = (tx: Tx): ClientRecord[] =>
  tx
    .select()
    .from(clients)
    .orderBy(asc(clients.id))
    .all()
    .map(({ passwordSha256: _, ...client }) => client)

/** Adds a client that has every feature and no wallet yet, and answers its id. Its name is free: the caller has looked. */
export const addClient = (tx: Tx, username: string, passwordSha256: string, nowMs: number): number =>
  tx
    .insert(clients)
    .values({ username, passwordSha256, vouchers: true, quantityMax: null, disabled: false, createdAtMs: nowMs })
    .returning({ id: clients.id })
    .get().id

/** Changes what a client may do. What is switched off ends at once: its tokens are dead, for good. */
export const changeClient = (
  tx: Tx,
  id: number,
  change: Partial<Pick<typeof clients.$inferSelect, 'vouchers' | 'quantityMax' | 'disabled' | 'passwordSha256'>>,
): void => {
  tx.update(clients).set(change).where(eq(clients.id, id)).run()
  if (change.disabled || change.passwordSha256 !== undefined) revokeLogins(tx, id)
}

/** Kills every access and refresh token of a client, or of all when none is named. */
export const revokeLogins = (tx: Tx, clientId?: number): void => {
  tx.update(logins)
    .set({ revoked: true })
    .where(clientId === undefined ? undefined : eq(logins.clientId, clientId))
    .run()
}
