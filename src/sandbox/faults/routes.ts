import { Elysia } from 'elysia'
import { DomainError, violated } from '../../kernel/failure.ts'
import { FAULT_NOT_FOUND } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { newRule } from './new-rule.ts'
import * as operations from './operations.ts'
import { addRule, clearRules, RULES_MAX, removeRule, rulesOf } from './rules.ts'

export const faultRoutes = ({ worlds, outcomes }: Parts) =>
  new Elysia({ name: 'sandbox-faults' })
    .get('/errors', ({ query }) => outcomes.errors({ all: query.all === 'true' }), operations.listErrors)
    .get('/faults', ({ query }) => [...rulesOf(getWorld(worlds, query.world))], operations.listFaults)
    .post(
      '/faults',
      ({ query, body, set }) => {
        const world = getWorld(worlds, query.world)
        const rule = newRule(body, outcomes)
        if (rulesOf(world).length >= RULES_MAX) {
          throw violated('error', 'max', `cannot be added: a world holds at most ${RULES_MAX} rules`)
        }
        // A rule has no address of its own: it is an item of the list.
        set.headers.Location = '/_sandbox/faults'
        return addRule(world, rule)
      },
      operations.addFault,
    )
    .delete(
      '/faults',
      ({ query }) => {
        clearRules(getWorld(worlds, query.world))
      },
      operations.clearFaults,
    )
    .delete(
      '/faults/:id',
      ({ params, query }) => {
        if (!removeRule(getWorld(worlds, query.world), params.id)) throw new DomainError(FAULT_NOT_FOUND)
      },
      operations.removeFault,
    )
