import { type Static, Type } from '@sinclair/typebox'
import { EventSchema } from '../../events/contract.ts'
import type { JsonObject } from '../../http/json.ts'
import { listOf } from '../../http/operation.ts'
import { parameter } from '../../http/parameters.ts'
import { getExample, Timestamp } from '../../http/schemas.ts'
import { bodyCheck, Text } from '../../http/validation.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { DomainError, violated, violation } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { controlOperation, worldOperation } from '../control/operation.ts'
import {
  DEFAULT_WORLD_KEPT,
  snapshotDamaged,
  snapshotNotFound,
  snapshotsExhausted,
  snapshotTooLarge,
  worldDamaged,
  worldNotFound,
  worldsExhausted,
} from '../errors.ts'
import { readSteps, SCENARIO_STOPPED, ScenarioSchema } from '../scenario/scenario.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { ALL_WORLDS, plainName } from './query.ts'
import { FILE_BYTES_MAX } from './snapshot-file.ts'
import { SNAPSHOTS_MAX } from './snapshots.ts'
import { SandboxWorlds, WORLDS_MAX } from './worlds.ts'

/** Worlds, their clocks and their snapshots on the wire (contract C15). */

const NamePath = Type.Object({
  name: parameter<string>(
    Type.String({ description: 'Lower-case letters, digits, - and _, at most 64', example: 'checkout' }),
    // A path with a broken encoding has no parameters.
    (name: string | null) => plainName(name ?? ''),
  ),
})

/** One world, or all of them for `*`. @throws DomainError world_not_found or world_damaged */
export const getWorlds = (worlds: SandboxWorlds, name: string): readonly World[] =>
  name === ALL_WORLDS ? worlds.all : [getWorld(worlds, name)]

/** @throws DomainError world_not_found or world_damaged */
export const getWorld = (worlds: SandboxWorlds, name: string): World => {
  const world = worlds.find(name)
  if (!world) throw new DomainError(worlds.has(name) ? worldDamaged(name) : worldNotFound(name))
  return world
}

/** Even if the world has no effect, an unknown one is refused (contract C15). @throws DomainError world_not_found */
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

export const worldWire = ({ name, clock }: World): Static<typeof WorldSummary> => ({
  name,
  username: name === DEFAULT_WORLD ? SANDBOX_USERNAME : `sbx_${name}`,
  now: toTimestamp(clock.nowMs()),
})

const NAME_PROBLEM = 'must be lower-case letters, digits, - and _, at most 64, and not default'

const NAME_INVALID = violation('name', 'format', NAME_PROBLEM)

/** The name of a new world or snapshot. @throws DomainError validation */
export const newName = (name: string): string => {
  if (!SandboxWorlds.isName(name) || name === DEFAULT_WORLD) throw violated('name', 'format', NAME_PROBLEM)
  return name
}

/** Of the events of one move of the clock. */
export const HAPPENED_MAX = 1_000

const ClockState = Type.Object(
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

const SnapshotName = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })

const oneErrors = { not_found: snapshotNotFound('nothing') }

export const getClock = worldOperation('clock')({
  id: 'getClock',
  summary: 'Read the clock of a world',
  description: 'The time of the world, and whether its clock is frozen.',
  success: { status: 200, description: 'The clock', schema: ClockState },
})

export const moveClock = worldOperation('clock')({
  id: 'moveClock',
  summary: 'Set, advance, freeze or thaw the clock of a world',
  description:
    'One clock for tokens, limits, cached charges and every timestamp. It goes back only before the first write.',
  body: Type.Object(
    {
      now: Type.Optional(Text({ description: 'RFC 3339; not before the present' })),
      advance: Type.Optional(Text({ description: 'ISO 8601 duration: PT5M' })),
      frozen: Type.Optional(Type.Boolean({ description: 'Whether the clock stands still afterwards' })),
    },
    { title: 'ClockRequest' },
  ),
  bodyExample: { advance: 'PT5M', frozen: true },
  success: { status: 200, description: 'The clock as it is now', schema: ClockState },
  errors: { validation: violation('now', 'min', 'must not be before the present, 2026-01-01T00:00:00.000Z') },
})

export const listWorlds = controlOperation('worlds')({
  id: 'listWorlds',
  summary: 'List the worlds',
  description: 'Each with the username that logs in to it and its time.',
  success: listOf('The default world first', WorldSummary),
})

const WorldRequest = Type.Object(
  {
    from: Type.Optional(Text({ description: 'A world or a snapshot to copy; fresh when left out' })),
    scenario: Type.Optional(ScenarioSchema),
  },
  { title: 'WorldRequest' },
)
/** The steps are checked one by one. */
const checkWorldRequest = bodyCheck(
  Type.Object({ from: WorldRequest.properties.from, scenario: Type.Optional(Type.Object({})) }),
)

export const makeWorld = controlOperation('worlds')({
  id: 'makeWorld',
  summary: 'Make a world: fresh, as a copy, or of a scenario',
  description: 'An existing world of that name is replaced. The first password that is used becomes its password.',
  params: NamePath,
  body: WorldRequest,
  bodyExample: { from: 'default' },
  bodyOptional: true,
  bodyValuesMax: Number.POSITIVE_INFINITY,
  read: (sent) => {
    const { from, scenario } = checkWorldRequest(sent)
    return { from, scenario: scenario && readSteps(scenario as JsonObject, 'scenario.') }
  },
  success: { status: 200, description: 'The world', schema: WorldSummary },
  errors: {
    validation: NAME_INVALID,
    source_not_found: worldNotFound('nowhere'),
    world_damaged: worldDamaged('checkout'),
    snapshot_damaged: snapshotDamaged('prepared'),
    stopped: SCENARIO_STOPPED,
    exhausted: worldsExhausted(WORLDS_MAX),
  },
})

export const dropWorld = controlOperation('worlds')({
  id: 'dropWorld',
  summary: 'Drop a world',
  description: 'Deletes all of its data. The default world cannot be dropped.',
  params: NamePath,
  success: { status: 204, description: 'The world is gone' },
  errors: { not_found: worldNotFound('nowhere'), default_kept: DEFAULT_WORLD_KEPT },
})

export const resetWorld = worldOperation('reset')({
  id: 'resetWorld',
  summary: 'Reset a world to its seeded state',
  description: 'Data, clock, randomness, limits, caches and tokens. The password of a named world stays.',
  success: {
    status: 200,
    description: 'The world is in its seeded state',
    schema: Type.Object({ world: Type.String() }, { title: 'ResetResult' }),
    example: { world: DEFAULT_WORLD },
  },
})

export const listSnapshots = controlOperation('snapshots')({
  id: 'listSnapshots',
  summary: 'List the snapshots',
  description: 'The names of all snapshots.',
  success: listOf('In the order in which they were saved', SnapshotName, { name: 'prepared' }),
})

export const keepSnapshot = worldOperation('snapshots')({
  id: 'keepSnapshot',
  summary: 'Save a world as a snapshot',
  description: 'Data, clock and randomness. Limits, caches and the request log start empty when it is restored.',
  params: NamePath,
  success: { status: 200, description: 'The snapshot', schema: SnapshotName, example: { name: 'prepared' } },
  errors: { validation: NAME_INVALID, exhausted: snapshotsExhausted(SNAPSHOTS_MAX) },
})

export const getSnapshot = controlOperation('snapshots')({
  id: 'getSnapshot',
  summary: 'Get a snapshot as a file',
  description: 'What `--snapshot FILE` begins with.',
  params: NamePath,
  success: {
    status: 200,
    description: 'The snapshot',
    schema: Type.Object({ format: Type.String() }, { title: 'Snapshot', additionalProperties: true }),
    example: { format: 'scrip-snapshot/1' },
  },
  errors: { ...oneErrors, damaged: snapshotDamaged('prepared'), too_large: snapshotTooLarge(FILE_BYTES_MAX) },
})

export const deleteSnapshot = controlOperation('snapshots')({
  id: 'deleteSnapshot',
  summary: 'Delete a snapshot',
  description: 'Worlds that were made from it stay as they are.',
  params: NamePath,
  success: { status: 204, description: 'The snapshot is gone' },
  errors: oneErrors,
})

export const restoreSnapshot = worldOperation('snapshots')({
  id: 'restoreSnapshot',
  summary: 'Restore a world from a snapshot',
  description: 'Tokens that were issued before the snapshot was saved are valid again.',
  params: NamePath,
  success: { status: 200, description: 'The world', schema: WorldSummary },
  errors: { ...oneErrors, damaged: snapshotDamaged('prepared') },
})
