import { type Static, Type } from '@sinclair/typebox'
import { toTimestamp } from '../../kernel/clock.ts'
import type { LegacyFailure } from '../../kernel/failure.ts'
import { violated } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { plainName } from '../control/control.ts'
import { SandboxWorlds } from './worlds.ts'

/** What the routes on worlds and snapshots share (contract C15). */

export const NamePath = Type.Object({
  name: Type.String({ description: 'Lower-case letters, digits, - and _, at most 64', example: 'checkout' }),
})

export const WorldSummary = Type.Object(
  {
    name: Type.String(),
    username: Type.String({ description: 'Logs in to it' }),
    now: Type.String({ format: 'date-time' }),
  },
  { title: 'World' },
)
export const WORLD_EXAMPLE = { name: 'checkout', username: 'sbx_checkout', now: '2026-01-01T00:00:00.000Z' }

export const worldWire = ({ name, clock }: World): Static<typeof WorldSummary> => ({
  name,
  username: name === DEFAULT_WORLD ? 'sandbox' : `sbx_${name}`,
  now: toTimestamp(clock.nowMs()),
})

const NAME_PROBLEM = 'must be lower-case letters, digits, - and _, at most 64, and not default'

/** The name of a new world or snapshot. @throws DomainError validation */
export const newName = (sent: string): string => {
  const name = plainName(sent)
  if (!SandboxWorlds.isName(name) || name === DEFAULT_WORLD) throw violated('name', 'format', NAME_PROBLEM)
  return name
}

export const nameRefused: LegacyFailure = {
  code: 'validation',
  violations: [{ field: 'name', rule: 'format', problem: NAME_PROBLEM }],
}
export const tooLarge: LegacyFailure = { code: 'world_too_large', bytesMax: 67_108_864 }
