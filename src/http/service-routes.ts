import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import { type Operation, operationsOf } from './operation.ts'
import { Timestamp } from './schemas.ts'

/** Health of the service (spec 4.6, contract C1): public, and outside of limits. */

const operation = operationsOf({
  tag: 'Service',
  tagDescription: 'Health of the service.',
  isProbe: true,
})

const StatusSchema = Type.Object(
  {
    status: Type.Literal('ok'),
    version: Type.String(),
    mode: Type.Union([Type.Literal('sandbox'), Type.Literal('live')]),
    time: Timestamp,
  },
  { title: 'Status' },
)
const ProbeSchema = Type.Object(
  { status: Type.Union([Type.Literal('ok'), Type.Literal('unavailable')]) },
  { title: 'Probe' },
)
const probe = (id: string, summary: string, description: string, alternative?: Operation['alternative']) =>
  operation({
    id,
    summary,
    description,
    public: true,
    success: { status: 200, description: 'Yes', schema: ProbeSchema, example: { status: 'ok' } },
    ...(alternative && { alternative }),
  })

interface ServiceRoutesOptions {
  version: string
  mode: 'sandbox' | 'live'
  clock: () => Clock
  /** Whether requests are served: false once the program is closing. */
  isReady: () => boolean
}

export const serviceRoutes = ({ version, mode, clock, isReady }: ServiceRoutesOptions) =>
  new Elysia({ name: 'service' })
    .get(
      '/status',
      () => ({ status: 'ok' as const, version, mode, time: toTimestamp(clock().nowMs()) }),
      operation({
        id: 'getStatus',
        summary: 'Check the health of the service',
        description: 'Version, mode and time of the service.',
        public: true,
        success: {
          status: 200,
          description: 'The service is up',
          schema: StatusSchema,
          example: { status: 'ok', version: '0.1.0', mode, time: '2026-01-01T00:00:00.000Z' },
        },
      }),
    )
    .get(
      '/livez',
      () => ({ status: 'ok' as const }),
      probe('isAlive', 'Check whether the process runs', 'For supervisors. Needs no token and has no rate limit.'),
    )
    .get(
      '/readyz',
      ({ set }) => {
        if (isReady()) return { status: 'ok' as const }
        set.status = 503
        return { status: 'unavailable' as const }
      },
      probe(
        'isReady',
        'Check whether the process accepts requests',
        'For load balancers. Fails once the process is shutting down, and while its data cannot be written.',
        {
          status: 503,
          description: 'The process is shutting down, or its data cannot be written',
          schema: ProbeSchema,
          example: { status: 'unavailable' },
        },
      ),
    )
