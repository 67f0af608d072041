import { Type } from '@sinclair/typebox'
import { oneOf } from '../../http/schemas.ts'
import { violation } from '../../kernel/failure.ts'
import { repaceOrders } from '../../orders/delivery.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { PACES, pace } from '../worlds/movable-clock.ts'
import { keepPace } from '../worlds/queries.ts'
import { controlRoutes } from './operation.ts'
import { presentWorld } from './steps.ts'

/** The choice whether the clock takes the steps of payouts and orders (contract C15). */

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
