import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { CREATED_HEADERS } from '../../http/operation.ts'
import { nullable } from '../../http/schemas.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError, violated } from '../../kernel/failure.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { bodyRefusals, controlRefusals, gateRefusals, readControl, WorldQuery, worldOf } from '../control/control.ts'
import { isSpared } from '../paths.ts'
import type { Outcomes } from '../requests/outcomes.ts'
import { addRule, clearRules, DELAY_MS_MAX, type FaultRule, RULES_MAX, rulesOf } from './faults.ts'
import { PATTERN_LENGTH_MAX, reaches } from './pattern.ts'

/** Every documented error, and the rules that provoke them (contract C15). Errors leave in the structured shape. */

const MatchSchema = Type.Object(
  {
    method: Type.Optional(Type.String({ description: 'GET, POST, PUT or DELETE' })),
    path: Type.Optional(
      Type.String({
        description: 'A path; `:name` stands for one segment and `*` for anything: /api/v1/products/:id/*',
      }),
    ),
  },
  { title: 'FaultMatchRequest' },
)
const RuleBody = Type.Object(
  {
    error: Type.Optional(Type.String({ description: 'The name of a documented error; it strikes where it can occur' })),
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MS_MAX })),
    drop: Type.Optional(Type.Boolean({ description: 'Break the connection off without an answer' })),
    match: Type.Optional(MatchSchema),
    times: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How often; without end when left out' }),
    ),
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: 'FaultRequest' },
)
const checkRule = bodyCheck(RuleBody)
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

const RuleSchema = Type.Object(
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
const ErrorSchema = Type.Object(
  {
    name: Type.String(),
    status: Type.Integer(),
    method: Type.String(),
    path: Type.String(),
    body: Type.Object({}, { title: 'ErrorBody', additionalProperties: true }),
  },
  { title: 'DocumentedError' },
)
const RULE_EXAMPLE = {
  id: 1,
  error: 'charges.rate_failed',
  delay_ms: 0,
  drop: false,
  match: { method: null, path: '/api/v1/products/:id/charges' },
  times_left: 1,
  probability: 1,
}

/** A rule has no page of its own: it is found among the others. */
const FAULTS_PATH = '/_sandbox/faults'

const MATCH_PROBLEM = 'must fit an endpoint where the rule can strike; see GET /_sandbox/errors'
const ERROR_PROBLEM = 'must be the name of a documented error; see GET /_sandbox/errors'

export interface FaultRoutesOptions {
  worlds: Worlds
  outcomes: () => Outcomes
}

export const faultRoutes = ({ worlds, outcomes }: FaultRoutesOptions) =>
  new Elysia({ name: 'sandbox-faults' })
    .get(
      '/errors',
      () => outcomes().errors(),
      documented({
        id: 'listErrors',
        tag: 'Sandbox',
        summary: 'List every documented error',
        description: 'Each can be provoked by a rule, or in one request with the header X-Sandbox-Fault.',
        public: true,
        success: {
          status: 200,
          description: 'By endpoint',
          schema: Type.Array(ErrorSchema),
          example: [
            {
              name: 'charges.rate_missing',
              status: 400,
              method: 'POST',
              path: '/api/v1/products/:id/charges',
              body: { error: 'No exchange rate found for USD to KES' },
            },
          ],
        },
        refusals: gateRefusals('errors'),
      }),
    )
    .get(
      '/faults',
      ({ request }) => rulesOf(worldOf(worlds, request)).map(ruleWire),
      documented({
        id: 'listFaults',
        tag: 'Sandbox',
        summary: 'List the fault rules of a world',
        description: 'The oldest first, each with how often it will still strike.',
        public: true,
        query: WorldQuery,
        success: { status: 200, description: 'The rules', schema: Type.Array(RuleSchema), example: [RULE_EXAMPLE] },
        refusals: controlRefusals('faults'),
      }),
    )
    .post(
      '/faults',
      async ({ request, set }) => {
        const world = worldOf(worlds, request)
        const rule = readRule(outcomes(), await readControl(request, RuleBody, checkRule))
        if (rulesOf(world).length >= RULES_MAX) {
          throw violated('error', 'max', `cannot be added: a world holds at most ${RULES_MAX} rules`)
        }
        set.status = 201
        set.headers.Location = FAULTS_PATH
        return ruleWire(addRule(world, rule))
      },
      documented({
        id: 'addFault',
        tag: 'Sandbox',
        summary: 'Make requests of a world fail, wait or break off',
        description: 'The first rule that fits a request strikes, and nothing is done behind it.',
        public: true,
        query: WorldQuery,
        body: {
          schema: RuleBody,
          example: { error: 'charges.rate_failed', match: { path: '/api/v1/products/:id/charges' }, times: 1 },
        },
        success: {
          status: 201,
          description: 'The rule',
          schema: RuleSchema,
          example: RULE_EXAMPLE,
          headers: CREATED_HEADERS,
        },
        refusals: bodyRefusals('faults', { field: 'error', rule: 'enum', problem: ERROR_PROBLEM }),
      }),
    )
    .delete(
      '/faults',
      ({ request, set }) => {
        clearRules(worldOf(worlds, request))
        set.status = 204
      },
      documented({
        id: 'clearFaults',
        tag: 'Sandbox',
        summary: 'Remove all fault rules of a world',
        description: 'Requests are answered as if there had been none.',
        public: true,
        query: WorldQuery,
        success: { status: 204, description: 'No rule is left' },
        refusals: controlRefusals('faults'),
      }),
    )

/** @throws DomainError validation */
const readRule = (outcomes: Outcomes, body: ReturnType<typeof checkRule>): Omit<FaultRule, 'id'> => {
  const { error = null, delay_ms: delayMs = 0, drop = false, match = {}, times, probability = 1 } = body
  const method = match.method?.toUpperCase() ?? null
  if (error !== null && !outcomes.hasError(error)) {
    throw violated('error', 'enum', ERROR_PROBLEM)
  }
  if (error === null && delayMs === 0 && !drop) {
    throw new DomainError({
      code: 'validation',
      violations: [{ field: 'error', rule: 'required', problem: 'is required, or delay_ms, or drop' }],
    })
  }
  if (method !== null && !METHODS.includes(method))
    throw violated('match', 'enum', `must have a method of ${METHODS.join(', ')}`)
  if (probability === 0) throw violated('probability', 'min', 'must be more than 0: the rule would never strike')
  const { path } = match
  if (path !== undefined && path.length > PATTERN_LENGTH_MAX)
    throw violated('match', 'max', `must have a path of at most ${PATTERN_LENGTH_MAX} characters`)
  const fits = (at: string, route: string) =>
    !isSpared(route) && (method === null || method === at) && (path === undefined || reaches(path, route))
  if (!outcomes.canStrike(error, fits)) throw violated('match', 'enum', MATCH_PROBLEM)
  return { error, delayMs, drop, match: { method, path: match.path ?? null }, timesLeft: times ?? null, probability }
}

const ruleWire = (rule: FaultRule) => ({
  id: rule.id,
  error: rule.error,
  delay_ms: rule.delayMs,
  drop: rule.drop,
  match: rule.match,
  times_left: rule.timesLeft,
  probability: rule.probability,
})
