import { type BucketSize, TokenBuckets } from '../http/rate-limit.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { type ClientRow, findEnabledClient } from './queries.ts'

/** A part of the service that not every client may use (spec 4.3). */
export type Feature = 'vouchers'

export interface Client {
  readonly id: number
  readonly username: string
  features: ReadonlySet<Feature>
  /** The most cards in one purchase; null without a limit of its own. */
  quantityMax: number | null
  /** Counts revocations: a session of an earlier epoch is checked again. */
  tokenEpoch: number
  /** Created by the first request that counts. */
  buckets: TokenBuckets | undefined
}

const clientsById = worldPart(() => new Map<number, Client>())

/** Undefined if the client does not exist or is disabled. */
export const findClient = (world: World, id: number): Client | undefined => {
  const known = world.of(clientsById).get(id)
  if (known) return known
  const row = findEnabledClient(world.db.query, id)
  if (!row) return undefined
  const client: Client = { id: row.id, username: row.username, ...rightsOf(row), tokenEpoch: 0, buckets: undefined }
  world.of(clientsById).set(id, client)
  return client
}

/** Reads the clients again after another process has written; every token is checked again. */
export const refreshClients = (world: World): void => {
  const known = world.of(clientsById)
  for (const client of known.values()) {
    client.tokenEpoch += 1
    const row = findEnabledClient(world.db.query, client.id)
    if (row) Object.assign(client, rightsOf(row))
    else known.delete(client.id)
  }
}

const rightsOf = (row: ClientRow): Pick<Client, 'features' | 'quantityMax'> => ({
  features: new Set(row.vouchers ? ['vouchers'] : []),
  quantityMax: row.quantityMax,
})

export const bucketsOf = (world: World, client: Client, sizes: readonly BucketSize[]): TokenBuckets => {
  client.buckets ??= new TokenBuckets(sizes, world.clock.steadyMs())
  return client.buckets
}
