import { type Static, Type } from '@sinclair/typebox'
import { Problem, parameter } from '../../http/parameters.ts'
import { Timestamp } from '../../http/schemas.ts'
import { isWritable } from '../../http/validation.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { found, violated, violation } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../worlds/worlds.ts'
import { worldNotFound } from '../errors.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { SandboxWorlds } from './worlds.ts'

/** How operations name worlds and snapshots (contract C15). */

/** A name without the prefix that the usernames of its world have. */
export const plainName = (name: string): string => name.replace(/^sbx_/, '')

const readName = (text: string): string | Problem =>
  isWritable(text) ? plainName(text) : new Problem('format', 'must not hold NUL')

export const WorldQuery = Type.Object({
  world: parameter<string>(
    Type.String({ default: DEFAULT_WORLD, description: 'The world, with or without sbx_' }),
    readName,
  ),
})

export const NamePath = Type.Object({
  name: parameter<string>(
    Type.String({ description: 'Lower-case letters, digits, - and _, at most 64', example: 'checkout' }),
    // A path whose encoding is broken has no parameters.
    (name: string | null) => plainName(name ?? ''),
  ),
})

/** @throws DomainError world_not_found */
export const getWorld = (worlds: Worlds, name: string): World => found(worlds.find(name), worldNotFound(name))

export const WorldSummary = Type.Object(
  { name: Type.String(), username: Type.String({ description: 'Logs in to it' }), now: Timestamp },
  { title: 'World' },
)
export const WORLD_EXAMPLE = { name: 'checkout', username: 'sbx_checkout', now: '2026-01-01T00:00:00.000Z' }

export const worldWire = ({ name, clock }: World): Static<typeof WorldSummary> => ({
  name,
  username: name === DEFAULT_WORLD ? SANDBOX_USERNAME : `sbx_${name}`,
  now: toTimestamp(clock.nowMs()),
})

const NAME_PROBLEM = 'must be lower-case letters, digits, - and _, at most 64, and not default'

export const NAME_INVALID = violation('name', 'format', NAME_PROBLEM)

/** The name of a new world or snapshot. @throws DomainError validation */
export const newName = (name: string): string => {
  if (!SandboxWorlds.isName(name) || name === DEFAULT_WORLD) throw violated('name', 'format', NAME_PROBLEM)
  return name
}
