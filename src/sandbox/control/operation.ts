import { Type } from '@sinclair/typebox'
import { count, filter, ParameterProblem, parameter } from '../../http/parameters.ts'
import { Routes } from '../../http/route-lines.ts'
import { violation } from '../../kernel/failure.ts'
import { FOREIGN_SITE, TOKEN_WRONG, worldDamaged, worldNotFound } from '../errors.ts'
import { UnusedWorldQuery, WorldQuery } from '../worlds/query.ts'
import { unknownProblem } from './strict.ts'

const GROUP = {
  tag: 'Sandbox',
  tagDescription:
    'Operations that only the sandbox has, such as worlds and their clocks. They are open on this machine; elsewhere they need a token.',
  public: true,
  closed: true,
} as const

export const openRoutes = (prefix = '', names = '') => new Routes({ ...GROUP, prefix, names })

/**
 * Routes of the control API (contract C15), each in the world of its query unless its line has another one. Besides their own
 * errors they have those of access, of the world and of unknown names, all named after their group.
 */
export const controlRoutes = (names = '') =>
  new Routes({
    ...GROUP,
    names,
    query: WorldQuery,
    alsoRefuses: ({ query = WorldQuery }) => ({
      world_not_found: worldNotFound('nowhere'),
      ...(query.properties.world !== UnusedWorldQuery.properties.world && { world_damaged: worldDamaged('checkout') }),
      token_wrong: TOKEN_WRONG,
      foreign: FOREIGN_SITE,
      // A mistyped `world` would otherwise reset the default one.
      validation: violation('wrld', 'enum', unknownProblem('parameter', query)),
    }),
  })

/** Only items that are newer than the one with this id. */
export const afterFilter = filter<number>(
  Type.Integer({ minimum: 0, description: 'Only those that are newer than the one with this id', example: 12 }),
  (text) => (/^\d{1,15}$/.test(text) ? Number(text) : new ParameterProblem('integer', 'must be an id')),
)

export const limitUpTo = (max: number, fallback: number) =>
  parameter<number>(
    Type.Integer({ minimum: 1, maximum: max, default: fallback, description: 'Maximum number of items' }),
    count(max),
  )
