import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../http/schemas.ts'
import { repaceOrders } from '../../orders/delivery.ts'
import type { Ordering } from '../../orders/orders.ts'
import type { Paying } from '../../payouts/payouts.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import { getWorld, WorldQuery } from '../worlds/model.ts'
import { PACES, pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/queries.ts'
import { bodyErrors, controlOperation, worldErrors } from './operation.ts'
import { type OperatorOptions, presentWorld } from './present.ts'

const PaceRequest = Type.Object(
  { payouts: Type.Optional(oneOf(PACES)), orders: Type.Optional(oneOf(PACES)) },
  { title: 'PaceRequest' },
)
const Pace = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })

const paceSuccess = (example: Static<typeof Pace>) =>
  ({ status: 200, description: 'The pace', schema: Pace, example }) as const

export interface PaceRoutesOptions extends OperatorOptions {
  ordering: Ordering
  paying: Paying
}

export const paceRoutes = ({ ordering, paying, ...operator }: PaceRoutesOptions) =>
  new Elysia({ name: 'sandbox-pace' })
    .get(
      '/pace',
      ({ query }) => getWorld(operator.worlds, query.world).of(pace),
      controlOperation({
        id: 'getPace',
        summary: 'See whether the clock moves payouts and orders',
        description: 'Automatic, or by hand with the operations of this group.',
        query: WorldQuery,
        success: paceSuccess({ payouts: 'auto', orders: 'auto' }),
        errors: worldErrors('pace'),
      }),
    )
    .put(
      '/pace',
      async ({ query, body }) => {
        const world = await presentWorld(operator, query.world)
        const changed = Object.assign(world.of(pace), body)
        await world.db.write((tx) => {
          keepPace(tx, changed)
          repacePayouts(tx, paying, world)
          repaceOrders(tx, ordering.byClock, world)
        })
        return changed
      },
      controlOperation({
        id: 'setPace',
        summary: 'Let the clock move payouts and orders, or nobody',
        description: 'By hand, a payout or order stays where it is until it is told to go on.',
        query: WorldQuery,
        body: PaceRequest,
        bodyExample: { payouts: 'manual' },
        success: paceSuccess({ payouts: 'manual', orders: 'auto' }),
        errors: bodyErrors('pace', {
          field: 'payouts',
          rule: 'enum',
          problem: `must be one of ${PACES.join(', ')}`,
        }),
      }),
    )
