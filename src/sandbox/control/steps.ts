import { type Static, type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { administrationOf } from '../../acts/administration.ts'
import { bodyOf, isOptional } from '../../acts/fields.ts'
import type { Kind, Noun } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import { idPath, textPath } from '../../http/parameters.ts'
import { DomainError, foundOr, notFound } from '../../kernel/failure.ts'
import type { Reference } from '../../reference/reference.ts'
import type { World } from '../../work/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { markWritten } from '../worlds/written.ts'
import { controlRoutes } from './operation.ts'

/** The steps of payouts and orders that an operator takes in live mode (contract C15). */

/** A world that is about to be written, after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async (parts: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(parts.worlds, name)
  await parts.due.catchUp(world)
  markWritten(world)
  return world
}

/** A world to read, after all work that is due in it. @throws DomainError world_not_found */
export const caughtUpWorld = async ({ worlds, due }: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUpToRead(world)
  return world
}

interface Stepping<Id, Item, Schema extends TSchema> {
  kind: Kind<Id, Item>
  acts: Noun
  params: TObject<{ id: TUnsafe<Id> }>
  example: Id
  response: { description: string; schema: Schema }
  wire: (item: Item, reference: Reference) => Static<Schema>
}

/** Routes that move a record one step further, or update it. */
export const stepRoutes = <Id, Item, Schema extends TSchema>(
  parts: Parts,
  { kind, acts, params, example, response, wire }: Stepping<Id, Item, Schema>,
  routes = controlRoutes(),
) => {
  const { reference, ordering: delivering, paying } = parts
  const name = kind.name.replace(/^./, (letter) => letter.toUpperCase())
  for (const [verb, act] of Object.entries(acts)) {
    if (!('by' in act) || !act.operation) continue
    const { route, endsWith, title, wrong, faultOf, refuses, ...operation } = act.operation
    const [method, path = ''] = route.split(' ')
    const does = method === 'PATCH' ? 'update' : verb
    routes[method === 'PATCH' ? 'patch' : 'post'](
      path.replace('{id}', ':id'),
      async ({ params: { id }, query, body }) => {
        const world = await presentWorld(parts, query.world)
        const context = { ...administrationOf(world, reference), delivering, paying }
        return world.db.write((tx) => {
          const failure = faultOf?.(body as never, kind.find(tx, id as Id) as never, context)
          if (failure) throw new DomainError(failure)
          const getItem = () => foundOr(kind.find(tx, id as Id), notFound(name))
          act.by(tx, getItem() as never, body as never, context)
          return wire(getItem(), reference) as never
        })
      },
      {
        id: does + name,
        names: `${kind.name}_${does}.`,
        summary: act.summary,
        ...operation,
        params,
        body: bodyOf(act.body, title),
        ...(Object.values(act.body).every(isOptional) && { bodyOptional: true }),
        response: { ...response, example: { id: example, ...endsWith } as never },
        refuses: { validation: wrong, not_found: notFound(name), ...refuses },
      },
    )
  }
  return routes
}

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

export const payoutRoutes = (parts: Parts) =>
  stepRoutes(parts, {
    kind: PAYOUT,
    acts: payoutActs,
    params: textPath('payout', PAYOUT_ID),
    example: PAYOUT_ID,
    response: { description: 'The payout as it is now', schema: PayoutState },
    wire: ({ id, status }) => ({ id, status }),
  })

const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

export const orderRoutes = (parts: Parts) =>
  stepRoutes(parts, {
    kind: ORDER,
    acts: orderActs,
    params: idPath('order'),
    example: 1,
    response: { description: 'The order as it is now', schema: OrderState },
    wire: ({ id, status }) => ({ id, status }),
  })
