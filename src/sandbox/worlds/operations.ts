import { Type } from '@sinclair/typebox'
import { Timestamp } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { violation } from '../../kernel/failure.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { controlOperation } from '../control/operation.ts'
import {
  DEFAULT_WORLD_KEPT,
  snapshotNotFound,
  snapshotsExhausted,
  worldNotFound,
  worldsExhausted,
  worldTooLarge,
} from '../errors.ts'
import { NAME_INVALID, NamePath, WORLD_EXAMPLE, WorldQuery, WorldSummary } from './model.ts'
import { SNAPSHOTS_MAX } from './snapshots.ts'
import { STATE_BYTES_MAX, WORLDS_MAX } from './worlds.ts'

const ClockState = Type.Object({ now: Timestamp, frozen: Type.Boolean() }, { title: 'Clock' })
const CLOCK_EXAMPLE = { now: '2026-01-01T00:05:00.000Z', frozen: true }

const SnapshotName = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })

const oneErrors = { not_found: snapshotNotFound('nothing') }

export const getClock = controlOperation('clock')({
  id: 'getClock',
  summary: 'Read the clock of a world',
  description: 'What time it is in the world, and whether the clock stands still.',
  query: WorldQuery,
  success: { status: 200, description: 'The clock', schema: ClockState, example: CLOCK_EXAMPLE },
  errors: {},
})

export const moveClock = controlOperation('clock')({
  id: 'moveClock',
  summary: 'Set, advance, freeze or thaw the clock of a world',
  description: 'One clock for tokens, limits, cached charges and every timestamp. It never goes back.',
  query: WorldQuery,
  body: Type.Object(
    {
      now: Type.Optional(Text({ description: 'RFC 3339; not before the present' })),
      advance: Type.Optional(Text({ description: 'ISO 8601 duration: PT5M' })),
      frozen: Type.Optional(Type.Boolean({ description: 'Whether the clock stands still afterwards' })),
    },
    { title: 'ClockRequest' },
  ),
  bodyExample: { advance: 'PT5M', frozen: true },
  success: { status: 200, description: 'The clock as it is now', schema: ClockState, example: CLOCK_EXAMPLE },
  errors: { validation: violation('now', 'min', 'must not be before the present, 2026-01-01T00:00:00.000Z') },
})

export const listWorlds = controlOperation('worlds')({
  id: 'listWorlds',
  summary: 'List the worlds',
  description: 'Each with the username that logs in to it and its time.',
  success: {
    status: 200,
    description: 'The default world first',
    schema: Type.Array(WorldSummary),
    example: [WORLD_EXAMPLE],
  },
  errors: {},
})

export const makeWorld = controlOperation('worlds')({
  id: 'makeWorld',
  summary: 'Make a world, fresh or as a copy',
  description: 'A world of that name is replaced. The first password that is used is its password.',
  params: NamePath,
  body: Type.Object(
    { from: Type.Optional(Text({ description: 'A world or a snapshot to copy; fresh when left out' })) },
    { title: 'WorldRequest' },
  ),
  bodyExample: { from: 'prepared' },
  bodyOptional: true,
  success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
  errors: {
    validation: NAME_INVALID,
    source_not_found: worldNotFound('nowhere'),
    exhausted: worldsExhausted(WORLDS_MAX),
    too_large: worldTooLarge(STATE_BYTES_MAX),
  },
})

export const dropWorld = controlOperation('worlds')({
  id: 'dropWorld',
  summary: 'Drop a world',
  description: 'With all that is in it. The default world cannot be dropped.',
  params: NamePath,
  success: { status: 204, description: 'The world is gone' },
  errors: { not_found: worldNotFound('nowhere'), default_kept: DEFAULT_WORLD_KEPT },
})

export const resetWorld = controlOperation('reset')({
  id: 'resetWorld',
  summary: 'Put a world back to the state in which it was seeded',
  description: 'Data, clock, randomness, limits, caches and tokens. The password of a named world stays.',
  query: WorldQuery,
  success: {
    status: 200,
    description: 'The world is as new',
    schema: Type.Object({ world: Type.String() }, { title: 'ResetResult' }),
    example: { world: DEFAULT_WORLD },
  },
  errors: {},
})

export const listSnapshots = controlOperation('snapshots')({
  id: 'listSnapshots',
  summary: 'List the snapshots',
  description: 'The names under which worlds were kept.',
  success: {
    status: 200,
    description: 'In the order in which they were kept',
    schema: Type.Array(SnapshotName),
    example: [{ name: 'prepared' }],
  },
  errors: {},
})

export const keepSnapshot = controlOperation('snapshots')({
  id: 'keepSnapshot',
  summary: 'Keep a world as it is now',
  description: 'Data, clock and randomness. Limits, caches and the request log begin anew when it is restored.',
  params: NamePath,
  query: WorldQuery,
  success: { status: 200, description: 'The snapshot', schema: SnapshotName, example: { name: 'prepared' } },
  errors: {
    validation: NAME_INVALID,
    too_large: worldTooLarge(STATE_BYTES_MAX),
    exhausted: snapshotsExhausted(SNAPSHOTS_MAX),
  },
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
  errors: oneErrors,
})

export const deleteSnapshot = controlOperation('snapshots')({
  id: 'deleteSnapshot',
  summary: 'Delete a snapshot',
  description: 'Worlds that were made from it stay as they are.',
  params: NamePath,
  success: { status: 204, description: 'The snapshot is gone' },
  errors: oneErrors,
})

export const restoreSnapshot = controlOperation('snapshots')({
  id: 'restoreSnapshot',
  summary: 'Put a world back to a snapshot',
  description: 'Tokens that the world had issued before the snapshot was kept are good again.',
  params: NamePath,
  query: WorldQuery,
  success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
  errors: oneErrors,
})
