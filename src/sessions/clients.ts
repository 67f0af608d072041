import { type BucketSize, readLimits, TokenBuckets } from '../http/rate-limit.ts'
import { type World, worldPart } from '../work/world.ts'
import { type ClientRow, findEnabledClient } from './queries.ts'

/** A part of the service that not every client may use (spec 4.3). */
export type Feature = 'vouchers'

export interface Client {
  readonly id: number
  username: string
  features: ReadonlySet<string>
  /** The client's own limit of cards in one purchase; null without one. */
  quantityMax: number | null
  /** The client's own rate limits; undefined if those of the server apply. */
  limits: readonly BucketSize[] | 'off' | undefined
  /** The client's own fees; null if those of the server apply (contract C9). */
  conversionFeeBasisPoints: number | null
  payoutFeeBasisPoints: number | null
  /** The number of revocations: a session of an earlier epoch is checked again. */
  tokenEpoch: number
  /** Created by the first request to which the limits apply. */
  buckets: TokenBuckets | undefined
}

const clientsById = worldPart(() => new Map<number, Client>())

/** Undefined if the client does not exist or is disabled. */
export const findClient = (world: World, id: number): Client | undefined => {
  const known = world.of(clientsById).get(id)
  if (known) return known
  const row = findEnabledClient(world.db.query, id)
  if (!row) return undefined
  const client: Client = { id: row.id, ...termsOf(row), tokenEpoch: 0, buckets: undefined }
  world.of(clientsById).set(id, client)
  return client
}

/** Reads the clients again after a change, even by another process. Every token is then checked again. */
export const refreshClients = (world: World): void => {
  const known = world.of(clientsById)
  for (const client of known.values()) {
    client.tokenEpoch += 1
    const row = findEnabledClient(world.db.query, client.id)
    if (!row) {
      known.delete(client.id)
      continue
    }
    const terms = termsOf(row)
    if (!Bun.deepEquals(terms.limits, client.limits)) client.buckets = undefined
    Object.assign(client, terms)
  }
}

/** The members that an operator sets. */
type Terms = Omit<Client, 'id' | 'tokenEpoch' | 'buckets'>

const termsOf = (row: ClientRow): Terms => ({
  username: row.username,
  features: new Set(row.vouchers ? ['vouchers'] : []),
  quantityMax: row.quantityMax,
  limits: row.rateLimit === null ? undefined : readLimits(row.rateLimit),
  conversionFeeBasisPoints: row.conversionFeeBasisPoints,
  payoutFeeBasisPoints: row.payoutFeeBasisPoints,
})

/** The limits that apply to a client; undefined without limits. */
export const limitsOf = (
  { limits: ownLimits }: Client,
  limits: readonly BucketSize[] | undefined,
): readonly BucketSize[] | undefined => (ownLimits === 'off' ? undefined : (ownLimits ?? limits))

export const bucketsOf = (world: World, client: Client, sizes: readonly BucketSize[]): TokenBuckets => {
  client.buckets ??= new TokenBuckets(sizes, world.clock.steadyMs())
  return client.buckets
}
