import { type TObject, Type } from '@sinclair/typebox'
import { BODY_UNREADABLE } from '../../http/failures.ts'
import { operationsOf } from '../../http/operation.ts'
import { count, parameter } from '../../http/parameters.ts'
import { type Failure, violation } from '../../kernel/failure.ts'
import { FOREIGN_SITE, TOKEN_WRONG, worldDamaged, worldNotFound } from '../errors.ts'
import { UnusedWorldQuery, WorldQuery } from '../worlds/query.ts'
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

const withoutWorld = operationsOf({ ...GROUP, query: UnusedWorldQuery })
const inWorld = operationsOf({ ...GROUP, query: WorldQuery })

/**
 * Declares an operation of the control API (contract C15) that does nothing with the world it is given. The errors of the gate, of
 * the world, of the body and of unknown names are added to its own, and all are named after their group.
 */
export const controlOperation =
  (group: string): typeof withoutWorld =>
  (declared) =>
    withoutWorld({ ...declared, errors: errorsOf(group, UnusedWorldQuery, declared) })

/** Declares one that works in the world of its query. */
export const worldOperation =
  (group: string): typeof inWorld =>
  (declared) =>
    inWorld({ ...declared, errors: errorsOf(group, WorldQuery, declared) })

interface Declared {
  query?: TObject | undefined
  body?: TObject | undefined
  errors?: Record<string, Failure>
}

const errorsOf = (
  group: string,
  usual: TObject,
  { query = usual, body, errors }: Declared,
): Record<string, Failure> => {
  const isUsed = query.properties.world !== UnusedWorldQuery.properties.world
  const all = {
    world_not_found: worldNotFound('nowhere'),
    ...(isUsed && { world_damaged: worldDamaged('checkout') }),
    token_wrong: TOKEN_WRONG,
    foreign: FOREIGN_SITE,
    ...(body && { body_unreadable: BODY_UNREADABLE }),
    // A mistyped `world` would otherwise reset the default one.
    validation: violation('wrld', 'enum', unknownProblem('parameter', query)),
    ...errors,
  }
  return Object.fromEntries(Object.entries(all).map(([name, failure]) => [`${group}.${name}`, failure]))
}

/** The number of items to list. */
export const limitUpTo = (max: number, fallback: number) =>
  parameter<number>(
    Type.Integer({ minimum: 1, maximum: max, default: fallback, description: 'Maximum number of items' }),
    count(max),
  )
