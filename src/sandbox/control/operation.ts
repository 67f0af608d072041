import { Type } from '@sinclair/typebox'
import { BODY_UNREADABLE } from '../../http/failures.ts'
import { operationsOf } from '../../http/operation.ts'
import { count, parameter } from '../../http/parameters.ts'
import { violation } from '../../kernel/failure.ts'
import { FOREIGN_SITE, TOKEN_WRONG, worldDamaged, worldNotFound } from '../errors.ts'
import { UnusedWorldQuery } from '../worlds/query.ts'
import { unknownProblem } from './strict.ts'

const GROUP = {
  tag: 'Sandbox',
  tagDescription:
    'What only the sandbox has, such as worlds and their clocks. It is open on this machine; elsewhere it needs a token.',
  public: true,
  closed: true,
} as const

/** Declares an operation that is open to everyone. */
export const openOperation = operationsOf(GROUP)

const operationOfWorld = operationsOf({ ...GROUP, query: UnusedWorldQuery })

/**
 * Declares an operation of the control API (contract C15). Each takes a world; one that declares no query does nothing with it. The
 * errors of the gate, of the world, of the body and of unknown names are added to its own, and all are named after their group.
 */
export const controlOperation =
  (group: string): typeof operationOfWorld =>
  (declared) => {
    const query = declared.query ?? UnusedWorldQuery
    const isUsed = query.properties.world !== UnusedWorldQuery.properties.world
    const errors = {
      world_not_found: worldNotFound('nowhere'),
      ...(isUsed && { world_damaged: worldDamaged('checkout') }),
      token_wrong: TOKEN_WRONG,
      foreign: FOREIGN_SITE,
      ...(declared.body && { body_unreadable: BODY_UNREADABLE }),
      // A mistyped `world` would otherwise reset the default one.
      validation: violation('wrld', 'enum', unknownProblem('parameter', query)),
      ...declared.errors,
    }
    const named = Object.entries(errors).map(([name, failure]) => [`${group}.${name}`, failure])
    return operationOfWorld({ ...declared, errors: Object.fromEntries(named) })
  }

/** How many items of a list are wanted. */
export const limitUpTo = (max: number, fallback: number) =>
  parameter<number>(
    Type.Integer({ minimum: 1, maximum: max, default: fallback, description: 'Maximum number of items' }),
    count(max),
  )
