import { Elysia } from 'elysia'
import { violated } from '../../kernel/failure.ts'
import { isExempt } from '../control/gate.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { addRule, clearRules, RULES_MAX, rulesOf } from './faults.ts'
import * as operations from './operations.ts'
import { PATTERN_LENGTH_MAX, reaches } from './pattern.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
const MATCH_PROBLEM = 'must fit an endpoint where the rule can strike; see GET /_sandbox/errors'

export const faultRoutes = ({ worlds, outcomes }: Parts) =>
  new Elysia({ name: 'sandbox-faults' })
    .get('/errors', () => outcomes.errors(), operations.listErrors)
    .get('/faults', ({ query }) => [...rulesOf(getWorld(worlds, query.world))], operations.listFaults)
    .post(
      '/faults',
      ({ query, body, set }) => {
        const world = getWorld(worlds, query.world)
        const { error = null, delay_ms = 0, drop = false, match = {}, times: times_left = null, probability = 1 } = body
        const method = match.method?.toUpperCase() ?? null
        const { path = null } = match
        if (error !== null && !outcomes.canOccur(error)) throw violated('error', 'enum', operations.ERROR_PROBLEM)
        if (error === null && delay_ms === 0 && !drop) {
          throw violated('error', 'required', 'is required, or delay_ms, or drop')
        }
        if (method !== null && !METHODS.includes(method)) {
          throw violated('match', 'enum', `must have a method of ${METHODS.join(', ')}`)
        }
        if (probability === 0) throw violated('probability', 'min', 'must be more than 0: the rule would never strike')
        if (path !== null && path.length > PATTERN_LENGTH_MAX) {
          throw violated('match', 'max', `must have a path of at most ${PATTERN_LENGTH_MAX} characters`)
        }
        const fits = (at: string, route: string) =>
          !isExempt(route) && (method === null || method === at) && (path === null || reaches(path, route))
        if (!outcomes.canOccur(error, fits)) throw violated('match', 'enum', MATCH_PROBLEM)
        if (rulesOf(world).length >= RULES_MAX) {
          throw violated('error', 'max', `cannot be added: a world holds at most ${RULES_MAX} rules`)
        }
        set.status = 201
        // A rule has no page of its own: it is one of the list.
        set.headers.Location = '/_sandbox/faults'
        return addRule(world, { error, delay_ms, drop, match: { method, path }, times_left, probability })
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
