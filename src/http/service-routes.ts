import { Type } from '@sinclair/typebox'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import { Routes } from './route-lines.ts'
import { Timestamp } from './schemas.ts'

/** The health of the service (spec 4.6, contract C1): public, and without rate limits. */

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
const PROBE = { response: { description: 'Yes', schema: ProbeSchema, example: { status: 'ok' } } } as const

interface ServiceRoutesOptions {
  version: string
  mode: 'sandbox' | 'live'
  clock: () => Clock
  /** True while requests are served: false once the program is closing. */
  isReady: () => boolean
}

export const serviceRoutes = ({ version, mode, clock, isReady }: ServiceRoutesOptions) =>
  new Routes({ tag: 'Service', tagDescription: 'Health of the service.', public: true, isProbe: true })
    .get('/status', () => ({ status: 'ok' as const, version, mode, time: toTimestamp(clock().nowMs()) }), {
      id: 'getStatus',
      summary: 'Check the health of the service',
      description: 'Version, mode and time of the service.',
      response: {
        description: 'The service is up',
        schema: StatusSchema,
        example: { status: 'ok', version: '0.1.0', mode, time: '2026-01-01T00:00:00.000Z' },
      },
    })
    .get('/livez', () => ({ status: 'ok' as const }), {
      id: 'isAlive',
      summary: 'Check whether the process runs',
      description:
        'For supervisors: what other services call `/health` or `/healthz`. Needs no token and has no rate limit.',
      ...PROBE,
    })
    .get(
      '/readyz',
      ({ set }) => {
        if (isReady()) return { status: 'ok' as const }
        set.status = 503
        return { status: 'unavailable' as const }
      },
      {
        id: 'isReady',
        summary: 'Check whether the process accepts requests',
        description:
          'For load balancers. Fails once the process is shutting down, and while its data cannot be written.',
        ...PROBE,
        alternative: {
          status: 503,
          description: 'The process is shutting down, or its data cannot be written',
          schema: ProbeSchema,
          example: { status: 'unavailable' },
        },
      },
    )
