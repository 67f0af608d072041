import { Type } from '@sinclair/typebox'
import { ParameterProblem, parameter } from '../../http/parameters.ts'
import { isWritable } from '../../http/validation.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'

/** The world in the query of a request to the control API (contract C15). */

/** A name without the prefix that the usernames of its world have. */
export const plainName = (name: string): string => name.replace(/^sbx_/, '')

export const ALL_WORLDS = '*'

const readName = (text: string): string | ParameterProblem =>
  isWritable(text) ? plainName(text) : new ParameterProblem('format', 'must not contain NUL')

const readOneName = (text: string): string | ParameterProblem =>
  text === ALL_WORLDS ? new ParameterProblem('format', 'must be one world here') : readName(text)

const worldQuery = (description: string, read: (text: string) => string | ParameterProblem) =>
  Type.Object({ world: parameter<string>(Type.String({ default: DEFAULT_WORLD, description }), read) })

export const WorldQuery = worldQuery('The world, with or without sbx_', readOneName)

export const WorldsQuery = worldQuery('The world, with or without sbx_; * for all worlds', readName)

/** Programs send the name with every request; where it has no effect, it must only exist. */
export const UnusedWorldQuery = worldQuery('A world, with or without sbx_; it has no effect here', readOneName)
