import { type Static, Type } from '@sinclair/typebox'
import { EVENT_PATTERNS } from '../../events/types.ts'
import { listOf } from '../../http/operation.ts'
import { choiceFilter, parameter, parseId } from '../../http/parameters.ts'
import { nullable, oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { violation } from '../../kernel/failure.ts'
import { controlOperation, worldOperation } from '../control/operation.ts'
import { FAULT_NOT_FOUND, type GatewayStatus } from '../errors.ts'
import { UnusedWorldQuery } from '../worlds/query.ts'

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
const DocumentedError = Type.Object(
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

export const listErrors = controlOperation('errors')({
  id: 'listErrors',
  summary: 'List every documented error',
  description: 'Those of the API. Each can be injected by a rule, or into one request with the header X-Sandbox-Fault.',
  query: Type.Object({
    ...UnusedWorldQuery.properties,
    all: choiceFilter(['true', 'false'], 'Whether those of /_sandbox are listed too, which cannot be injected'),
  }),
  success: listOf('By endpoint', DocumentedError),
})

export const listFaults = worldOperation('faults')({
  id: 'listFaults',
  summary: 'List the fault rules of a world',
  description: 'The oldest first, each with the number of times that are left.',
  success: listOf('The rules', Rule),
})

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
      Type.Integer({ minimum: 1, maximum: BYTES_MAX, description: 'How fast the body is sent' }),
    ),
    when: Type.Optional(
      oneOf(WHEN, { description: 'Before the work, or after its commit: then only the response is lost' }),
    ),
    webhook: Type.Optional(
      oneOf(DELIVERY_FAULTS, {
        description:
          'What happens to deliveries instead: lost, sent twice, after the next of its record, or badly signed',
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
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How many times; unlimited if left out' }),
    ),
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: 'FaultRequest' },
)

export const addFault = worldOperation('faults')({
  id: 'addFault',
  summary: 'Make requests of a world fail, wait or disconnect',
  description:
    'The first rule that matches a request applies: before the work, which is then not done, or after its commit.',
  body: RuleRequest,
  bodyExample: { error: 'charges.rate_failed', match: { path: '/api/v1/products/:id/charges' }, times: 1 },
  success: { status: 201, description: 'The rule', schema: Rule },
  errors: { validation: violation('error', 'enum', ERROR_PROBLEM) },
})

export const clearFaults = worldOperation('faults')({
  id: 'clearFaults',
  summary: 'Remove all fault rules of a world',
  description: 'Requests get their normal responses again.',
  success: { status: 204, description: 'No rule is left' },
})

export const removeFault = worldOperation('faults')({
  id: 'removeFault',
  summary: 'Remove one fault rule of a world',
  description: 'The other rules stay as they are.',
  params: Type.Object({
    id: parameter<number | undefined>(Type.Integer({ minimum: 1, description: 'The rule identifier' }), parseId),
  }),
  success: { status: 204, description: 'The rule is gone' },
  errors: { not_found: FAULT_NOT_FOUND },
})
