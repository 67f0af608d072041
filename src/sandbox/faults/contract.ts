import { type Static, Type } from '@sinclair/typebox'
import { EVENT_PATTERNS } from '../../events/types.ts'
import { nullable, oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import type { GatewayStatus } from '../errors.ts'

/** Fault rules and documented errors on the wire (contract C15). */

const Status = Type.Unsafe<GatewayStatus>(Type.Union([Type.Literal(502), Type.Literal(503), Type.Literal(504)]))
const WHEN = ['before', 'after'] as const
/** The effect of a rule on the first attempt of a delivery (contract C16). */
const DELIVERY_FAULTS = ['lose', 'duplicate', 'reorder', 'bad_signature'] as const
export type DeliveryFault = (typeof DELIVERY_FAULTS)[number]

/** A rule that makes requests of a world fail, wait or break off. */
export type Rule = Static<typeof Rule>
export const Rule = Type.Object(
  {
    id: Type.Integer({ example: 1 }),
    error: nullable(Type.String({ example: 'charges.rate_failed' })),
    status: nullable(Status),
    delay_ms: Type.Integer({ example: 0 }),
    drop: Type.Boolean({ example: false }),
    cut_after_bytes: nullable(Type.Integer()),
    bytes_per_second: nullable(Type.Integer()),
    when: oneOf(WHEN),
    webhook: Type.Optional(oneOf(DELIVERY_FAULTS)),
    match: Type.Object(
      {
        method: nullable(Type.String()),
        path: nullable(Type.String({ example: '/api/v1/products/:id/charges' })),
        type: Type.Optional(oneOf(EVENT_PATTERNS)),
      },
      { title: 'FaultMatch' },
    ),
    times_left: nullable(Type.Integer({ example: 1 })),
    probability: Type.Number({ example: 1 }),
  },
  { title: 'Fault' },
)

export type DocumentedError = Static<typeof DocumentedError>
export const DocumentedError = Type.Object(
  {
    name: Type.String({ example: 'charges.rate_missing' }),
    status: Type.Integer({ example: 400 }),
    method: Type.String({ example: 'POST' }),
    path: Type.String({ example: '/api/v1/products/:id/charges' }),
    body: Type.Object(
      {},
      { title: 'ErrorBody', additionalProperties: true, example: { error: 'No exchange rate found for USD to KES' } },
    ),
  },
  { title: 'DocumentedError' },
)

export const ERROR_PROBLEM = 'must be the name of a documented error; see GET /_sandbox/errors'
export const DELAY_MS_MAX = 60_000
/** More than any response has. */
const BYTES_MAX = 1_073_741_824

export type RuleRequest = Static<typeof RuleRequest>
export const RuleRequest = Type.Object(
  {
    error: Type.Optional(Text({ description: 'The name of a documented error, which is injected where it can occur' })),
    status: Type.Optional({ ...Status, description: 'The page of a gateway, in HTML, instead of a response' }),
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MS_MAX })),
    drop: Type.Optional(Type.Boolean({ description: 'Close the connection without a response' })),
    cut_after_bytes: Type.Optional(
      Type.Integer({ minimum: 0, maximum: BYTES_MAX, description: 'Close the connection within the body' }),
    ),
    bytes_per_second: Type.Optional(
      Type.Integer({ minimum: 1, maximum: BYTES_MAX, description: 'The speed at which the body is sent' }),
    ),
    when: Type.Optional(
      oneOf(WHEN, { description: 'Before the work, or after its commit: then only the response is lost' }),
    ),
    webhook: Type.Optional(
      oneOf(DELIVERY_FAULTS, {
        description:
          'The fault of deliveries: lost, sent twice, sent after the next one of the record, or signed wrongly',
      }),
    ),
    match: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(oneOf(EVENT_PATTERNS, { description: 'Only deliveries of these events: order.*' })),
          method: Type.Optional(Text({ description: 'GET, POST, PUT or DELETE' })),
          path: Type.Optional(
            Text({
              description: 'A path; `:name` stands for one segment and `*` for anything: /api/v1/products/:id/*',
            }),
          ),
        },
        { title: 'FaultMatchRequest' },
      ),
    ),
    times: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The number of times; unlimited if left out' }),
    ),
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: 'FaultRequest' },
)
