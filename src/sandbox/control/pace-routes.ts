import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { oneOf } from '../../http/schemas.ts'
import { bodyCheck } from '../../http/validation.ts'
import { repaceOrders } from '../../orders/delivery.ts'
import type { Ordering } from '../../orders/orders.ts'
import type { Paying } from '../../payouts/payouts.ts'
import { repacePayouts } from '../../payouts/progress.ts'
import { PACES, pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/state.ts'
import { bodyRefusals, controlRefusals, readControl, WorldQuery, worldOf } from './control.ts'
import { type OperatorOptions, presentWorldOf } from './records.ts'

const PaceBody = Type.Object(
  {
    payouts: Type.Optional(oneOf(PACES)),
    orders: Type.Optional(oneOf(PACES)),
  },
  { title: 'PaceRequest' },
)
const checkPace = bodyCheck(PaceBody)
const PaceSchema = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })

export interface PaceRoutesOptions extends OperatorOptions {
  ordering: Ordering
  paying: Paying
}

export const paceRoutes = ({ ordering, paying, ...operator }: PaceRoutesOptions) =>
  new Elysia({ name: 'sandbox-pace' })
    .get(
      '/pace',
      ({ request }) => worldOf(operator.worlds, request).of(pace),
      documented({
        id: 'getPace',
        tag: 'Sandbox',
        summary: 'See whether the clock moves payouts and orders',
        description: 'Automatic, or by hand with the operations of this group.',
        public: true,
        query: WorldQuery,
        success: {
          status: 200,
          description: 'The pace',
          schema: PaceSchema,
          example: { payouts: 'auto', orders: 'auto' },
        },
        refusals: controlRefusals('pace'),
      }),
    )
    .put(
      '/pace',
      async ({ request }) => {
        const world = await presentWorldOf(operator, request)
        const wanted = await readControl(request, PaceBody, checkPace)
        Object.assign(world.of(pace), wanted)
        await world.db.write((tx) => {
          keepPace(tx, world.of(pace))
          repacePayouts(tx, paying, world)
          repaceOrders(tx, ordering.byClock, world)
        })
        return world.of(pace)
      },
      documented({
        id: 'setPace',
        tag: 'Sandbox',
        summary: 'Let the clock move payouts and orders, or nobody',
        description: 'By hand, a payout or order stays where it is until it is told to go on.',
        public: true,
        query: WorldQuery,
        body: { schema: PaceBody, example: { payouts: 'manual' } },
        success: {
          status: 200,
          description: 'The pace',
          schema: PaceSchema,
          example: { payouts: 'manual', orders: 'auto' },
        },
        refusals: bodyRefusals('pace', {
          field: 'payouts',
          rule: 'enum',
          problem: `must be one of ${PACES.join(', ')}`,
        }),
      }),
    )
