import { Type } from '@sinclair/typebox'
import { CREATED_HEADERS } from '../../http/operation.ts'
import { bodyErrors, controlOperation, gateErrors, worldErrors } from '../control/operation.ts'
import { WorldQuery } from '../worlds/model.ts'
import { DocumentedError, ERROR_EXAMPLE, RULE_EXAMPLE, RULE_REQUEST_EXAMPLE, Rule, RuleRequest } from './model.ts'

export const ERROR_PROBLEM = 'must be the name of a documented error; see GET /_sandbox/errors'

export const listErrors = controlOperation({
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
})

export const listFaults = controlOperation({
  id: 'listFaults',
  summary: 'List the fault rules of a world',
  description: 'The oldest first, each with how often it will still strike.',
  query: WorldQuery,
  success: { status: 200, description: 'The rules', schema: Type.Array(Rule), example: [RULE_EXAMPLE] },
  errors: worldErrors('faults'),
})

export const addFault = controlOperation({
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
})

export const clearFaults = controlOperation({
  id: 'clearFaults',
  summary: 'Remove all fault rules of a world',
  description: 'Requests are answered as if there had been none.',
  query: WorldQuery,
  success: { status: 204, description: 'No rule is left' },
  errors: worldErrors('faults'),
})
