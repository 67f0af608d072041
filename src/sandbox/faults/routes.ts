import { Type } from '@sinclair/typebox'
import { listOf } from '../../http/operation.ts'
import { choiceFilter, parseId, pathParameter } from '../../http/parameters.ts'
import { DomainError, violated, violation } from '../../kernel/failure.ts'
import { controlRoutes } from '../control/operation.ts'
import { FAULT_NOT_FOUND } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { UnusedWorldQuery } from '../worlds/query.ts'
import { DocumentedError, ERROR_PROBLEM, Rule, RuleRequest } from './contract.ts'
import { addRule, clearRules, newRule, RULES_MAX, removeRule, rulesOf } from './rules.ts'

export const faultRoutes = ({ worlds, outcomes }: Parts) =>
  controlRoutes('faults.')
    .get('/errors', ({ query }) => outcomes.errors({ all: query.all === 'true' }), {
      id: 'listErrors',
      summary: 'List every documented error',
      description:
        'The errors of the API. Each can be injected by a rule, or into one request with the header X-Sandbox-Fault.',
      names: 'errors.',
      query: Type.Object({
        ...UnusedWorldQuery.properties,
        all: choiceFilter(['true', 'false'], 'True also lists the errors of /_sandbox, which cannot be injected'),
      }),
      response: listOf('By endpoint', DocumentedError),
    })
    .get('/faults', ({ query }) => [...rulesOf(getWorld(worlds, query.world))], {
      id: 'listFaults',
      summary: 'List the fault rules of a world',
      description: 'The oldest rule first, each with the number of times that it still applies.',
      response: listOf('The rules', Rule),
    })
    .post(
      '/faults',
      ({ query, body, set }) => {
        const world = getWorld(worlds, query.world)
        const rule = newRule(body, outcomes)
        if (rulesOf(world).length >= RULES_MAX) {
          throw violated('error', 'max', `cannot be added: a world holds at most ${RULES_MAX} rules`)
        }
        // A rule has no separate URL: it is an item of the list.
        set.headers.Location = '/_sandbox/faults'
        return addRule(world, rule)
      },
      {
        id: 'addFault',
        summary: 'Make requests of a world fail, wait or disconnect',
        description:
          'The first rule that matches a request applies: before the work, which is then not done, or after its commit.',
        body: RuleRequest,
        bodyExample: { error: 'charges.rate_failed', match: { path: '/api/v1/products/:id/charges' }, times: 1 },
        response: { status: 201, description: 'The rule', schema: Rule },
        refuses: { validation: violation('error', 'enum', ERROR_PROBLEM) },
      },
    )
    .delete(
      '/faults',
      ({ query }) => {
        clearRules(getWorld(worlds, query.world))
      },
      {
        id: 'clearFaults',
        summary: 'Remove all fault rules of a world',
        description: 'Requests get their normal responses again.',
        response: { status: 204, description: 'No rule is left' },
      },
    )
    .delete(
      '/faults/:id',
      ({ params, query }) => {
        if (!removeRule(getWorld(worlds, query.world), params.id)) throw new DomainError(FAULT_NOT_FOUND)
      },
      {
        id: 'removeFault',
        summary: 'Remove one fault rule of a world',
        description: 'The other rules stay as they are.',
        params: Type.Object({
          id: pathParameter(Type.Integer({ minimum: 1, description: 'The rule identifier' }), parseId),
        }),
        response: { status: 204, description: 'The rule is gone' },
        refuses: { not_found: FAULT_NOT_FOUND },
      },
    )
