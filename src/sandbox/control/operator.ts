import { type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { StepContext } from '../../acts/act.ts'
import { administrationOf } from '../../acts/administration.ts'
import { bodyOf } from '../../acts/fields.ts'
import type { Kind, Noun } from '../../acts/kind.ts'
import { ORDER, orderActs } from '../../acts/orders.ts'
import { PAYOUT, payoutActs } from '../../acts/payouts.ts'
import { idPath, textPath } from '../../http/parameters.ts'
import { oneOf } from '../../http/schemas.ts'
import { found, notFound, violation } from '../../kernel/failure.ts'
import { repaceOrders } from '../../orders/delivery.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { PACES, pace } from '../worlds/movable-clock.ts'
import { keepPace } from '../worlds/queries.ts'
import { markWritten } from '../worlds/written.ts'
import { controlRoutes } from './operation.ts'

/** What an operator does to payouts and orders in live mode, and whether the clock does it (contract C15). */

/** A world that is about to be written, after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async (parts: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = await caughtUpWorld(parts, name)
  markWritten(world)
  return world
}

/** A world after all work that is due in it. @throws DomainError world_not_found */
export const caughtUpWorld = async ({ worlds, due }: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUp(world)
  return world
}

export const Pace = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })
const PACE = { description: 'The pace', schema: Pace } as const

export const paceRoutes = (parts: Parts) =>
  controlRoutes('pace.')
    .get('/pace', ({ query }) => getWorld(parts.worlds, query.world).of(pace), {
      id: 'getPace',
      summary: 'See whether the clock moves payouts and orders',
      description: 'Automatic, or manual with the operations of this group.',
      response: { ...PACE, example: { payouts: 'auto', orders: 'auto' } },
    })
    .put(
      '/pace',
      async ({ query, body }) => {
        const world = await presentWorld(parts, query.world)
        const changed = Object.assign(world.of(pace), body)
        await world.db.write((tx) => {
          keepPace(tx, changed)
          repacePayouts(tx, parts.paying, world)
          repaceOrders(tx, parts.ordering.byClock, world)
        })
        return changed
      },
      {
        id: 'setPace',
        summary: 'Set whether the clock moves payouts and orders',
        description:
          'With the pace manual, payouts and orders stay as they are until operations of this group move them.',
        body: Type.Partial(Pace, { title: 'PaceRequest' }),
        bodyExample: { payouts: 'manual' },
        response: { ...PACE, example: { payouts: 'manual', orders: 'auto' } },
        refuses: { validation: violation('payouts', 'enum', `must be one of ${PACES.join(', ')}`) },
      },
    )

interface Stepping<Id, Item> {
  kind: Kind<Id, Item>
  acts: Noun
  params: TObject<{ id: TUnsafe<Id> }>
  /** Of the record in a response. */
  schema: TSchema
  example: Id
}

export const stepContextOf = ({ reference, ordering: delivering, paying }: Parts, world: World): StepContext => ({
  ...administrationOf(world, reference),
  delivering,
  paying,
})

/** A record goes a step further at a path of its own. */
const stepRoutes = <Id, Item extends { status: string }>(
  parts: Parts,
  { kind, acts, params, schema, example }: Stepping<Id, Item>,
) => {
  const name = kind.name.replace(/^./, (letter) => letter.toUpperCase())
  const routes = controlRoutes()
  for (const [verb, act] of Object.entries(acts)) {
    if (!('by' in act) || !act.operation) continue
    const { endsWith, title, wrong, refuses, ...operation } = act.operation
    routes.post(
      `/${kind.group}/:id/${verb}`,
      async ({ params: { id }, query, body }) => {
        const world = await presentWorld(parts, query.world)
        const context = stepContextOf(parts, world)
        return world.db.write((tx) => {
          const getItem = () => found(kind.find(tx, id as Id), notFound(name))
          act.by(tx, getItem() as never, body as never, context)
          return { id, status: getItem().status }
        })
      },
      {
        id: verb + name,
        names: `${kind.name}_${verb}.`,
        summary: act.summary,
        ...operation,
        params,
        body: bodyOf(act.body, title),
        bodyOptional: true,
        response: { description: `The ${kind.name} as it is now`, schema, example: { id: example, status: endsWith } },
        refuses: { validation: wrong, not_found: notFound(name), ...refuses },
      },
    )
  }
  return routes
}

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'

export const payoutRoutes = (parts: Parts) =>
  stepRoutes(parts, {
    kind: PAYOUT,
    acts: payoutActs,
    params: textPath('payout', PAYOUT_ID),
    schema: Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' }),
    example: PAYOUT_ID,
  })

export const orderRoutes = (parts: Parts) =>
  stepRoutes(parts, {
    kind: ORDER,
    acts: orderActs,
    params: idPath('order'),
    schema: Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' }),
    example: 1,
  })
