import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { CREATED_HEADERS } from '../../http/operation.ts'
import { violated } from '../../kernel/failure.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { bodyErrors, controlOperation, gateErrors, worldErrors } from '../control/operation.ts'
import { isSpared } from '../paths.ts'
import type { Outcomes } from '../requests/outcomes.ts'
import { getWorld, WorldQuery } from '../worlds/model.ts'
import { addRule, clearRules, type FaultRule, RULES_MAX, rulesOf } from './faults.ts'
import {
  DocumentedError,
  ERROR_EXAMPLE,
  RULE_EXAMPLE,
  RULE_REQUEST_EXAMPLE,
  Rule,
  RuleRequest,
  ruleWire,
} from './model.ts'
import { PATTERN_LENGTH_MAX, reaches } from './pattern.ts'

/** A rule has no page of its own: it is one of the list. */
const FAULTS_PATH = '/_sandbox/faults'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
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
      controlOperation({
        id: 'listErrors',
        summary: 'List every documented error',
        description: 'Each can be provoked by a rule, or in one request with the header X-Sandbox-Fault.',
        success: {
          status: 200,
          description: 'By endpoint',
          schema: Type.Array(DocumentedError),
          example: [ERROR_EXAMPLE],
        },
        errors: gateErrors('errors'),
      }),
    )
    .get(
      '/faults',
      ({ query }) => rulesOf(getWorld(worlds, query.world)).map(ruleWire),
      controlOperation({
        id: 'listFaults',
        summary: 'List the fault rules of a world',
        description: 'The oldest first, each with how often it will still strike.',
        query: WorldQuery,
        success: { status: 200, description: 'The rules', schema: Type.Array(Rule), example: [RULE_EXAMPLE] },
        errors: worldErrors('faults'),
      }),
    )
    .post(
      '/faults',
      ({ query, body, set }) => {
        const world = getWorld(worlds, query.world)
        const rule = readRule(outcomes(), body)
        if (rulesOf(world).length >= RULES_MAX) {
          throw violated('error', 'max', `cannot be added: a world holds at most ${RULES_MAX} rules`)
        }
        set.status = 201
        set.headers.Location = FAULTS_PATH
        return ruleWire(addRule(world, rule))
      },
      controlOperation({
        id: 'addFault',
        summary: 'Make requests of a world fail, wait or break off',
        description: 'The first rule that fits a request strikes, and nothing is done behind it.',
        query: WorldQuery,
        body: RuleRequest,
        bodyExample: RULE_REQUEST_EXAMPLE,
        success: {
          status: 201,
          description: 'The rule',
          schema: Rule,
          example: RULE_EXAMPLE,
          headers: CREATED_HEADERS,
        },
        errors: bodyErrors('faults', { field: 'error', rule: 'enum', problem: ERROR_PROBLEM }),
      }),
    )
    .delete(
      '/faults',
      ({ query, set }) => {
        clearRules(getWorld(worlds, query.world))
        set.status = 204
      },
      controlOperation({
        id: 'clearFaults',
        summary: 'Remove all fault rules of a world',
        description: 'Requests are answered as if there had been none.',
        query: WorldQuery,
        success: { status: 204, description: 'No rule is left' },
        errors: worldErrors('faults'),
      }),
    )

/** @throws DomainError validation */
const readRule = (outcomes: Outcomes, body: Static<typeof RuleRequest>): Omit<FaultRule, 'id'> => {
  const { error = null, delay_ms: delayMs = 0, drop = false, match = {}, times, probability = 1 } = body
  const { path } = match
  const method = match.method?.toUpperCase() ?? null
  if (error !== null && !outcomes.hasError(error)) throw violated('error', 'enum', ERROR_PROBLEM)
  if (error === null && delayMs === 0 && !drop) throw violated('error', 'required', 'is required, or delay_ms, or drop')
  if (method !== null && !METHODS.includes(method))
    throw violated('match', 'enum', `must have a method of ${METHODS.join(', ')}`)
  if (probability === 0) throw violated('probability', 'min', 'must be more than 0: the rule would never strike')
  if (path !== undefined && path.length > PATTERN_LENGTH_MAX)
    throw violated('match', 'max', `must have a path of at most ${PATTERN_LENGTH_MAX} characters`)
  const fits = (at: string, route: string) =>
    !isSpared(route) && (method === null || method === at) && (path === undefined || reaches(path, route))
  if (!outcomes.canStrike(error, fits)) throw violated('match', 'enum', MATCH_PROBLEM)
  return { error, delayMs, drop, match: { method, path: path ?? null }, timesLeft: times ?? null, probability }
}
