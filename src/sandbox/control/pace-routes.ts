import { Elysia } from 'elysia'
import { repaceOrders } from '../../orders/delivery.ts'
import type { Ordering } from '../../orders/orders.ts'
import type { Paying } from '../../payouts/payouts.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import { getWorld } from '../worlds/model.ts'
import { pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/queries.ts'
import * as operations from './operator-operations.ts'
import { type OperatorOptions, presentWorld } from './present.ts'

export interface PaceRoutesOptions extends OperatorOptions {
  ordering: Ordering
  paying: Paying
}

export const paceRoutes = ({ ordering, paying, ...operator }: PaceRoutesOptions) =>
  new Elysia({ name: 'sandbox-pace' })
    .get('/pace', ({ query }) => getWorld(operator.worlds, query.world).of(pace), operations.getPace)
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
      operations.setPace,
    )
