import { Type } from '@sinclair/typebox'
import { controlOperation } from '../control/operation.ts'
import { WorldQuery } from '../worlds/operations.ts'

export const settleWebhooks = controlOperation('settle')({
  id: 'settleWebhooks',
  summary: 'Wait until the events of a world are delivered',
  description:
    'The response comes when nothing is left to deliver at the present time of the world. Retries that are due later are left.',
  query: WorldQuery,
  success: {
    status: 200,
    description: 'Nothing is left to deliver',
    schema: Type.Object({ settled: Type.Literal(true) }, { title: 'Settled' }),
    example: { settled: true },
  },
  errors: {},
})
