import { eq } from 'drizzle-orm'
import { type BucketSize, TokenBuckets } from '../http/rate-limit.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { clients } from './tables.ts'

/** A part of the service that an account may or may not have (spec 4.3). */
export type Feature = 'vouchers'

/** A client as a world knows it while the process runs. */
export interface Client {
  readonly id: number
  readonly username: string
  readonly features: ReadonlySet<Feature>
  /** The most that this client may buy at once, or null without a limit of its own. */
  readonly quantityMax: number | null
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
  const row = world.db.query.select().from(clients).where(eq(clients.id, id)).limit(1).get()
  if (!row || row.disabled) return undefined
  const client: Client = {
    id: row.id,
    username: row.username,
    features: new Set(row.vouchers ? ['vouchers'] : []),
    quantityMax: row.quantityMax,
    tokenEpoch: 0,
    buckets: undefined,
  }
  world.of(clientsById).set(id, client)
  return client
}

/** The client's buckets, full when it has not been seen before. */
export const bucketsOf = (world: World, client: Client, sizes: readonly BucketSize[]): TokenBuckets => {
  client.buckets ??= new TokenBuckets(sizes, world.clock.nowMs())
  return client.buckets
}
