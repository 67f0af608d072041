import type { Static } from '@sinclair/typebox'
import { ownDiscounts } from '../../acts/clients.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { agreeDiscounts } from '../../catalog/queries.ts'
import type { Tx } from '../../db/database.ts'
import { parseId } from '../../http/parameters.ts'
import { readLimits } from '../../http/rate-limit.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { DomainError, invalid, type Violation } from '../../kernel/failure.ts'
import { toBasisPoints, toPercent } from '../../kernel/money.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import { type ClientRecord, updateClient } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { usernameIn } from '../worlds/accounts.ts'
import { type ClientEditBody, LIMIT_PROBLEM } from './contract.ts'

/** The clients of a world as a test sees and changes them (contract C15). */

type Sent = Static<typeof ClientEditBody>

/**
 * Reads an edit of a client, and returns the function that applies it.
 * @param nulls the members that were sent as null
 * @throws DomainError validation
 */
export const readClientEdit = (catalog: Catalog, world: World, sent: Sent, nulls: ReadonlySet<string>) => {
  const violations: Violation[] = []
  const discounts: { productId: number; discountBasisPoints: number }[] = []
  for (const [text, percent] of Object.entries(sent.discounts ?? {})) {
    const productId = parseId(text)
    const basisPoints = basisPointsOf(percent)
    const field = `discounts.${text}`
    if (productId === undefined || !catalog.findAny(world, productId)) {
      violations.push({ field, rule: 'enum', problem: 'must be named by the id of a product' })
    } else if (basisPoints === undefined) {
      violations.push({
        field,
        rule: 'format',
        problem: 'must be a percentage from 0 to 100 with at most two decimals',
      })
    } else discounts.push({ productId, discountBasisPoints: basisPoints })
  }
  if (sent.rate_limit !== undefined && readLimits(sent.rate_limit) === undefined) {
    violations.push({ field: 'rate_limit', rule: 'format', problem: LIMIT_PROBLEM })
  }
  if (violations.length > 0) throw new DomainError(invalid(violations))
  const { password, features: { vouchers } = {} } = sent
  const quantityMax = nulls.has('max_quantity') ? null : sent.max_quantity
  const rateLimit = nulls.has('rate_limit') ? null : sent.rate_limit
  const change = {
    ...(password !== undefined && { passwordSha256: passwordDigest(password) }),
    ...(vouchers !== undefined && { vouchers }),
    ...(quantityMax !== undefined && { quantityMax }),
    ...(rateLimit !== undefined && { rateLimit }),
  }
  return (tx: Tx, clientId: number): void => {
    updateClient(tx, clientId, change)
    if (discounts.length > 0)
      agreeDiscounts(
        tx,
        discounts.map((one) => ({ clientId, ...one })),
      )
  }
}

const basisPointsOf = (percent: unknown): number | undefined =>
  typeof percent === 'number' && percent >= 0 && percent <= 100 ? toBasisPoints(percent) : undefined

export const clientWire = (world: World, client: ClientRecord) => ({
  client_id: client.id,
  username: usernameIn(world, client.username),
  features: { vouchers: client.vouchers },
  max_quantity: client.quantityMax,
  discounts: Object.fromEntries(
    ownDiscounts(world.db.query, client.id).map(([productId, basisPoints]) => [productId, toPercent(basisPoints)]),
  ),
  rate_limit: client.rateLimit,
  created_at: toTimestamp(client.createdAtMs),
})
