import { type Static, type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { ControlOperation, StepContext } from '../../acts/act.ts'
import { administrationOf } from '../../acts/administration.ts'
import { type Fields, type Input, isOptional, membersIn, rulesIn, valuesIn, WrongValue } from '../../acts/fields.ts'
import type { AnyStep, Kind, Noun } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import type { Tx } from '../../db/database.ts'
import { DocumentFault, type Fault } from '../../http/document.ts'
import type { Incoming } from '../../http/incoming.ts'
import type { JsonObject } from '../../http/json.ts'
import type { Success } from '../../http/operation.ts'
import { idPath, textPath } from '../../http/parameters.ts'
import type { ValueOf } from '../../http/route-lines.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError, foundOr, invalid, notFound, type Violation } from '../../kernel/failure.ts'
import type { Reference } from '../../reference/reference.ts'
import type { World } from '../../work/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { markWritten } from '../worlds/written.ts'
import { controlRoutes } from './operation.ts'

/** The acts that an operator does in live mode, in a world of the sandbox (contract C15). */

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

const contextIn = ({ reference, ordering, paying, catalog }: Parts, world: World): StepContext => ({
  ...administrationOf(world, reference),
  delivering: ordering,
  paying,
  findProduct: (id) => catalog.findAny(world, id),
})

/** Does the work of an act as an operation does it. @throws DomainError, also for a value that a command would refuse */
const asOperation = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (error instanceof WrongValue) throw new DomainError(invalid([error.violation]))
    if (error instanceof DocumentFault) throw new DomainError(invalid(error.faults.map(violationOf)))
    throw error
  }
}

const violationOf = ({ path, what: problem }: Fault): Violation => {
  const field = path.replace('/', '').replaceAll('/', '.')
  return { field, rule: 'format', problem, message: `${field}: ${problem}` }
}

/** An act and its operation. */
interface ActRoute<Takes extends Fields, Members extends TObject, Params, Effect, Schema extends TSchema> {
  summary: string
  takes: Takes
  operation: ControlOperation
  /** The members of the body that have no field. */
  members: Members
  params?: Params
  bodyOptional?: true
  by(
    tx: Tx,
    input: Static<Members> & Input<Takes>,
    context: StepContext,
    incoming: Incoming & { params: ValueOf<Params> },
  ): Effect
  response: Success<Schema>
  /** Called after the commit. */
  onDone?: (world: World) => void
  wire: (effect: Effect, world: World) => Static<Schema>
  /** The path of the new record. */
  location?: (effect: Effect) => string
}

const METHODS: Readonly<Record<string, 'put' | 'patch'>> = { PUT: 'put', PATCH: 'patch' }

/** Adds the operation of an act, which is done in one transaction of its world. */
export const actRoute = <
  Takes extends Fields,
  Members extends TObject,
  Params extends TObject | undefined,
  Effect,
  Schema extends TSchema,
>(
  parts: Parts,
  routes: ReturnType<typeof controlRoutes>,
  act: ActRoute<Takes, Members, Params, Effect, Schema>,
) => {
  const { takes, members, params, bodyOptional, response } = act
  const { route, id, names, summary = act.summary, description, title, bodyExample, wrong, refuses } = act.operation
  const [method = '', path = ''] = route.split(' ')
  const body: TObject = Type.Object({ ...membersIn(takes), ...members.properties }, { title })
  const check = bodyCheck(body)
  const read = (sent: JsonObject) => {
    const checked = check(sent, rulesIn(takes))
    return { ...checked, ...valuesIn(takes, checked) } as Static<Members> & Input<Takes>
  }
  return routes[METHODS[method] ?? 'post'](
    path.replace('{id}', ':id'),
    async (incoming) => {
      const world = await presentWorld(parts, incoming.query.world)
      const context = contextIn(parts, world)
      const effect = await world.db.write((tx) => asOperation(() => act.by(tx, incoming.body, context, incoming)))
      act.onDone?.(world)
      if (act.location) incoming.set.headers.Location = act.location(effect)
      return act.wire(effect, world)
    },
    {
      ...{ id, names, summary, description, params, body, bodyExample, read, response },
      ...(bodyOptional && { bodyOptional }),
      refuses: { ...(wrong && { validation: wrong }), ...refuses },
    },
  )
}

interface Stepping<Id, Item, Effect, Schema extends TObject> {
  params: TObject<{ id: TUnsafe<Id> }>
  example: Static<Schema>
  response: Success<Schema>
  wire: (item: Item, reference: Reference, effect: Effect) => Static<Schema>
  /** Called after the commit. */
  onDone?: (world: World) => void
}

const NOTHING = Type.Object({})

/** Adds the operations of steps, which move a record one step further, or update it. */
export const stepRoutes = <Id, Item, Effect, Schema extends TObject>(
  parts: Parts,
  steps: readonly AnyStep<Id, Item, Effect>[],
  { params, example, response, wire, onDone }: Stepping<Id, Item, Effect, Schema>,
  routes = controlRoutes(),
) => {
  for (const { kind, summary, body: takes, by, operation } of steps) {
    if (!operation) continue
    const { endsWith, faultOf, refuses } = operation
    const missing = notFound(kind.name.charAt(0).toUpperCase() + kind.name.slice(1))
    actRoute(parts, routes, {
      summary,
      takes,
      operation: { ...operation, refuses: { not_found: missing, ...refuses } },
      members: NOTHING,
      params,
      ...(Object.values(takes).every(isOptional) && { bodyOptional: true }),
      by: (tx, input, context, { params: { id } }) => {
        const failure = faultOf?.(input, kind.find(tx, id), context)
        if (failure) throw new DomainError(failure)
        const getItem = () => foundOr(kind.find(tx, id), missing)
        const effect = by(tx, getItem(), input, context)
        return wire(getItem(), context.reference, effect)
      },
      response: { ...response, example: { ...example, ...endsWith } },
      ...(onDone && { onDone }),
      wire: (wired) => wired,
    })
  }
  return routes
}

/** The steps of a kind of record, in the order of their noun. */
export const stepsOn = <Id, Item>({ argument }: Kind<Id, Item>, acts: Noun): AnyStep<Id, Item>[] =>
  Object.values(acts).filter(
    (act): act is AnyStep<Id, Item> => 'perform' in act && 'kind' in act && Object.values(act.takes)[0] === argument,
  )

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

export const payoutRoutes = (parts: Parts) =>
  stepRoutes(parts, stepsOn(PAYOUT, payoutActs), {
    params: textPath('payout', PAYOUT_ID),
    example: { id: PAYOUT_ID, status: 'created' },
    response: { description: 'The payout as it is now', schema: PayoutState },
    wire: ({ id, status }) => ({ id, status }),
  })

const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

export const orderRoutes = (parts: Parts) =>
  stepRoutes(parts, stepsOn(ORDER, orderActs), {
    params: idPath('order'),
    example: { id: 1, status: 'PENDING' },
    response: { description: 'The order as it is now', schema: OrderState },
    wire: ({ id, status }) => ({ id, status }),
  })
