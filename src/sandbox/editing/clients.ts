import type { Static } from '@sinclair/typebox'
import type { StepContext } from '../../acts/act.ts'
import { clientActs, ownDiscounts } from '../../acts/clients.ts'
import { type Input, WrongValue } from '../../acts/fields.ts'
import type { Tx } from '../../db/database.ts'
import { parseId } from '../../http/parameters.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { DomainError, invalid, type Violation } from '../../kernel/failure.ts'
import { toPercent } from '../../kernel/money.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import { type ClientRecord, updateClient } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { usernameIn } from '../worlds/accounts.ts'
import type { ClientMembers } from './contract.ts'

/** The clients of a world as a test sees and changes them (contract C15). */

const { feature, limits, discount } = clientActs

/** The input of an edit: of several acts at once. */
type Edit = Static<typeof ClientMembers> & Input<typeof limits.body>

/** Does the acts of an edit. @throws DomainError validation with all that is wrong */
export const editClient = (tx: Tx, client: ClientRecord, edit: Edit, context: StepContext): void => {
  const violations: Violation[] = []
  const { password, features = {}, discounts = {}, max_quantity, rate_limit } = edit
  const terms = { max_quantity, rate_limit }
  if (password !== undefined) updateClient(tx, client.id, { passwordSha256: passwordDigest(password) })
  for (const [name, isOn] of Object.entries(features))
    feature.by(tx, client, { feature: name, setting: isOn ? 'on' : 'off' }, context)
  if (Object.values(terms).some((term) => term !== undefined)) limits.by(tx, client, terms, context)
  for (const [id, percent] of Object.entries(discounts)) {
    try {
      discount.by(tx, client, { product_id: parseId(id) ?? id, percent }, context)
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error
      violations.push({ ...error.violation, field: `discounts.${id}` })
    }
  }
  if (violations.length > 0) throw new DomainError(invalid(violations))
}

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
