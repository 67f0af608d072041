import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { DELAY_MS_MAX, type FaultRule } from './faults.ts'

/** Fault rules and documented errors on the wire (contract C15). */

export const RuleRequest = Type.Object(
  {
    error: Type.Optional(Text({ description: 'The name of a documented error; it strikes where it can occur' })),
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MS_MAX })),
    drop: Type.Optional(Type.Boolean({ description: 'Break the connection off without an answer' })),
    match: Type.Optional(
      Type.Object(
        {
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
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How often; without end when left out' }),
    ),
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: 'FaultRequest' },
)
export const RULE_REQUEST_EXAMPLE = {
  error: 'charges.rate_failed',
  match: { path: '/api/v1/products/:id/charges' },
  times: 1,
}

export const Rule = Type.Object(
  {
    id: Type.Integer(),
    error: nullable(Type.String()),
    delay_ms: Type.Integer(),
    drop: Type.Boolean(),
    match: Type.Object({ method: nullable(Type.String()), path: nullable(Type.String()) }, { title: 'FaultMatch' }),
    times_left: nullable(Type.Integer()),
    probability: Type.Number(),
  },
  { title: 'Fault' },
)
export const RULE_EXAMPLE: Static<typeof Rule> = {
  id: 1,
  error: 'charges.rate_failed',
  delay_ms: 0,
  drop: false,
  match: { method: null, path: '/api/v1/products/:id/charges' },
  times_left: 1,
  probability: 1,
}

export const ruleWire = (rule: FaultRule): Static<typeof Rule> => ({
  id: rule.id,
  error: rule.error,
  delay_ms: rule.delayMs,
  drop: rule.drop,
  match: rule.match,
  times_left: rule.timesLeft,
  probability: rule.probability,
})

export const DocumentedError = Type.Object(
  {
    name: Type.String(),
    status: Type.Integer(),
    method: Type.String(),
    path: Type.String(),
    body: Type.Object({}, { title: 'ErrorBody', additionalProperties: true }),
  },
  { title: 'DocumentedError' },
)
export const ERROR_EXAMPLE: Static<typeof DocumentedError> = {
  name: 'charges.rate_missing',
  status: 400,
  method: 'POST',
  path: '/api/v1/products/:id/charges',
  body: { error: 'No exchange rate found for USD to KES' },
}
