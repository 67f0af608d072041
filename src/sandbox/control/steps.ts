import { type Static, type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { ControlOperation, StepContext } from '../../acts/act.ts'
import { administrationOf } from '../../acts/administration.ts'
import { type Fields, isOptional, membersIn, rulesIn, valuesIn, WrongValue } from '../../acts/fields.ts'
import type { AnyStep, Kind, Noun } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import type { JsonObject } from '../../http/json.ts'
import { idPath, textPath } from '../../http/parameters.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError, foundOr, invalid, notFound } from '../../kernel/failure.ts'
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

export const contextIn = ({ reference, ordering, paying, catalog }: Parts, world: World): StepContext => ({
  ...administrationOf(world, reference),
  delivering: ordering,
  paying,
  findProduct: (id) => catalog.findAny(world, id),
})

/** Does the work of an act as an operation does it. @throws DomainError, also for a value that a command would refuse */
export const asOperation = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw error instanceof WrongValue ? new DomainError(invalid([error.violation])) : error
  }
}

/** The line of the operation of an act, except for its response. */
export const lineOf = <More extends TObject>(
  { summary, takes, operation }: { summary: string; takes: Fields; operation: ControlOperation },
  more: More,
) => {
  const { id, names, description, title, bodyExample, wrong, refuses } = operation
  const body: TObject = Type.Object({ ...membersIn(takes), ...more.properties }, { title })
  const check = bodyCheck(body)
  return {
    ...{ id, names, summary: operation.summary ?? summary, description, body, bodyExample },
    read: (sent: JsonObject) => check(sent, rulesIn(takes)) as Static<More>,
    refuses: { ...(wrong && { validation: wrong }), ...refuses },
  }
}

const NOTHING = Type.Object({})

interface Stepping<Id, Item, Effect, Schema extends TSchema> {
  params: TObject<{ id: TUnsafe<Id> }>
  example: Id
  response: { status?: number; description: string; schema: Schema }
  wire: (item: Item, reference: Reference, effect: Effect) => Static<Schema>
  /** Called after the commit. */
  onDone?: (world: World) => void
}

/** Adds the operations of steps, which move a record one step further, or update it. */
export const stepRoutes = <Id, Item, Effect, Schema extends TSchema>(
  parts: Parts,
  steps: readonly AnyStep<Id, Item, Effect>[],
  { params, example, response, wire, onDone }: Stepping<Id, Item, Effect, Schema>,
  routes = controlRoutes(),
) => {
  for (const { kind, summary, body: takes, by, operation } of steps) {
    if (!operation) continue
    const { route, endsWith, faultOf } = operation
    const [method, path = ''] = route.split(' ')
    const missing = notFound(kind.name.charAt(0).toUpperCase() + kind.name.slice(1))
    const { refuses, ...line } = lineOf({ summary, takes, operation }, NOTHING)
    routes[method === 'PATCH' ? 'patch' : 'post'](
      path.replace('{id}', ':id'),
      async ({ params: { id }, query, body }) => {
        const world = await presentWorld(parts, query.world)
        const context = contextIn(parts, world)
        const done = await world.db.write((tx) => {
          const failure = faultOf?.(body as never, kind.find(tx, id as Id), context)
          if (failure) throw new DomainError(failure)
          const getItem = () => foundOr(kind.find(tx, id as Id), missing)
          const effect = asOperation(() => by(tx, getItem(), valuesIn(takes, body as JsonObject) as never, context))
          return wire(getItem(), parts.reference, effect)
        })
        onDone?.(world)
        return done as never
      },
      {
        ...line,
        ...(Object.values(takes).every(isOptional) && { bodyOptional: true }),
        params,
        response: {
          ...response,
          example: { ...(response.schema.properties.id && { id: example }), ...endsWith } as never,
        },
        refuses: { not_found: missing, ...refuses },
      },
    )
  }
  return routes
}

/** The steps of a kind of record, in the order of their noun. */
const stepsOn = <Id, Item>(kind: Kind<Id, Item>, acts: Noun): AnyStep<Id, Item>[] =>
  Object.values(acts).filter((act): act is AnyStep<Id, Item> => 'kind' in act && act.kind === kind)

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

export const payoutRoutes = (parts: Parts) =>
  stepRoutes(parts, stepsOn(PAYOUT, payoutActs), {
    params: textPath('payout', PAYOUT_ID),
    example: PAYOUT_ID,
    response: { description: 'The payout as it is now', schema: PayoutState },
    wire: ({ id, status }) => ({ id, status }),
  })

const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

export const orderRoutes = (parts: Parts) =>
  stepRoutes(parts, stepsOn(ORDER, orderActs), {
    params: idPath('order'),
    example: 1,
    response: { description: 'The order as it is now', schema: OrderState },
    wire: ({ id, status }) => ({ id, status }),
  })
