import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { violated } from '../../kernel/failure.ts'
import type { Parts } from '../parts.ts'
import { isExempt } from '../paths.ts'
import type { OutcomeRegistry } from '../requests/outcomes.ts'
import { getWorld } from '../worlds/model.ts'
import { addRule, clearRules, type FaultRule, RULES_MAX, rulesOf } from './faults.ts'
import { type RuleRequest, ruleWire } from './model.ts'
import * as operations from './operations.ts'
import { ERROR_PROBLEM } from './operations.ts'
import { PATTERN_LENGTH_MAX, reaches } from './pattern.ts'

/** A rule has no page of its own: it is one of the list. */
const FAULTS_PATH = '/_sandbox/faults'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
const MATCH_PROBLEM = 'must fit an endpoint where the rule can strike; see GET /_sandbox/errors'

export const faultRoutes = ({ worlds, outcomes }: Parts) =>
  new Elysia({ name: 'sandbox-faults' })
    .get('/errors', () => outcomes().errors(), operations.listErrors)
    .get('/faults', ({ query }) => rulesOf(getWorld(worlds, query.world)).map(ruleWire), operations.listFaults)
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
      operations.addFault,
    )
    .delete(
      '/faults',
      ({ query, set }) => {
        clearRules(getWorld(worlds, query.world))
        set.status = 204
      },
      operations.clearFaults,
    )

/** @throws DomainError validation */
const readRule = (outcomes: OutcomeRegistry, body: Static<typeof RuleRequest>): Omit<FaultRule, 'id'> => {
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
    !isExempt(route) && (method === null || method === at) && (path === undefined || reaches(path, route))
  if (!outcomes.canOccur(error, fits)) throw violated('match', 'enum', MATCH_PROBLEM)
  return { error, delayMs, drop, match: { method, path: path ?? null }, timesLeft: times ?? null, probability }
}
