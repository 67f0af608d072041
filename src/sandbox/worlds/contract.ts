import { type Static, Type } from '@sinclair/typebox'
import { EventSchema } from '../../events/contract.ts'
import { pathParameter } from '../../http/parameters.ts'
import { getExample, Timestamp } from '../../http/schemas.ts'
import { bodyCheck, Text } from '../../http/validation.ts'
import { type Clock, toTimestamp } from '../../kernel/clock.ts'
import { DomainError, violated, violation } from '../../kernel/failure.ts'
import type { World } from '../../work/world.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import { snapshotNotFound, worldDamaged, worldNotFound } from '../errors.ts'
import { ScenarioSchema } from '../scenario/scenario.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { ALL_WORLDS, plainName } from './query.ts'
import { SandboxWorlds } from './worlds.ts'

/** Worlds, their clocks and their snapshots on the wire (contract C15). */

export const NamePath = Type.Object({
  name: pathParameter(
    Type.String({ description: 'Lower-case letters, digits, - and _, at most 64', example: 'checkout' }),
    // A path with a broken encoding has no parameters.
    (name) => plainName(name ?? ''),
  ),
})

/** One world, or all of them for `*`. @throws DomainError world_not_found or world_damaged */
export const getWorlds = async (worlds: SandboxWorlds, name: string): Promise<readonly World[]> =>
  name === ALL_WORLDS ? worlds.everyOne() : [getWorld(worlds, name)]

/** @throws DomainError world_not_found or world_damaged */
export const getWorld = (worlds: SandboxWorlds, name: string): World => {
  const world = worlds.find(name)
  if (!world) throw new DomainError(worlds.has(name) ? worldDamaged(name) : worldNotFound(name))
  return world
}

/** Refuses an unknown world even if it has no effect (contract C15). @throws DomainError world_not_found */
export const requireWorlds = (worlds: SandboxWorlds, name = DEFAULT_WORLD): void => {
  if (![DEFAULT_WORLD, ALL_WORLDS].includes(name) && !worlds.has(name)) throw new DomainError(worldNotFound(name))
}

export const WorldSummary = Type.Object(
  {
    name: Type.String({ example: 'checkout' }),
    username: Type.String({ description: 'Logs in to it', example: 'sbx_checkout' }),
    now: Timestamp,
  },
  { title: 'World' },
)
export const WORLD_EXAMPLE = getExample(WorldSummary)

export const worldWire = ({ name, clock }: Pick<World, 'name'> & { clock: Clock }): Static<typeof WorldSummary> => ({
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

/** The most events that one move of the clock returns. */
export const HAPPENED_MAX = 1_000

export const ClockState = Type.Object(
  {
    now: { ...Timestamp, example: '2026-01-01T00:05:00.000Z' },
    frozen: Type.Boolean({ example: true }),
    happened: Type.Array(EventSchema, {
      description: `The events that the move caused, the oldest first and at most ${HAPPENED_MAX}`,
      example: [],
    }),
  },
  { title: 'Clock' },
)

export const SnapshotName = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })

export const oneErrors = { not_found: snapshotNotFound('nothing') }

export const WorldRequest = Type.Object(
  {
    from: Type.Optional(Text({ description: 'A world or a snapshot to copy; fresh when left out' })),
    scenario: Type.Optional(ScenarioSchema),
  },
  { title: 'WorldRequest' },
)
/** The steps are checked one by one. */
export const checkWorldRequest = bodyCheck(
  Type.Object({ from: WorldRequest.properties.from, scenario: Type.Optional(Type.Object({})) }),
)
