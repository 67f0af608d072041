import { Elysia } from 'elysia'
import { repaceOrders } from '../../orders/delivery.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/model.ts'
import { pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/queries.ts'
import * as operations from './operator-operations.ts'
import { presentWorld } from './present.ts'

export const paceRoutes = ({ ordering, paying, ...parts }: Parts) =>
  new Elysia({ name: 'sandbox-pace' })
    .get('/pace', ({ query }) => getWorld(parts.worlds, query.world).of(pace), operations.getPace)
    .put(
      '/pace',
      async ({ query, body }) => {
        const world = await presentWorld(parts, query.world)
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
