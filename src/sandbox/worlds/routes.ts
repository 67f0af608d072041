import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { BODY_UNREADABLE } from '../../http/failures.ts'
import { Text } from '../../http/validation.ts'
import { DomainError } from '../../kernel/failure.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { controlOperation, gateErrors, worldErrors } from '../control/operation.ts'
import { DEFAULT_WORLD_KEPT, worldNotFound, worldsExhausted, worldTooLarge } from '../errors.ts'
import { putBack, unclaimed } from './accounts.ts'
import {
  getWorld,
  NAME_INVALID,
  NamePath,
  newName,
  plainName,
  WORLD_EXAMPLE,
  WorldQuery,
  WorldSummary,
  worldWire,
} from './model.ts'
import type { Snapshots } from './snapshots.ts'
import type { WorldState } from './state.ts'
import { type SandboxWorlds, STATE_BYTES_MAX, WORLDS_MAX } from './worlds.ts'

const WorldSource = Type.Object(
  { from: Type.Optional(Text({ description: 'A world or a snapshot to copy; fresh when left out' })) },
  { title: 'WorldRequest' },
)

export interface WorldRoutesOptions {
  worlds: SandboxWorlds
  snapshots: Snapshots
}

export const worldRoutes = ({ worlds, snapshots }: WorldRoutesOptions) =>
  new Elysia({ name: 'sandbox-worlds' })
    .get(
      '/worlds',
      () => worlds.all.map(worldWire),
      controlOperation({
        id: 'listWorlds',
        summary: 'List the worlds',
        description: 'Each with the username that logs in to it and its time.',
        success: {
          status: 200,
          description: 'The default world first',
          schema: Type.Array(WorldSummary),
          example: [WORLD_EXAMPLE],
        },
        errors: gateErrors('worlds'),
      }),
    )
    .put(
      '/worlds/:name',
      ({ params, body: { from } }) => {
        const name = newName(params.name)
        const state = from === undefined ? undefined : stateNamed(worlds, snapshots, plainName(from))
        const existing = worlds.find(name)
        return worldWire(existing ? putBack(worlds, existing, state) : unclaimed(worlds.create(name, state)))
      },
      controlOperation({
        id: 'makeWorld',
        summary: 'Make a world, fresh or as a copy',
        description: 'A world of that name is replaced. The first password that is used is its password.',
        params: NamePath,
        body: WorldSource,
        bodyExample: { from: 'prepared' },
        bodyOptional: true,
        success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
        errors: {
          ...gateErrors('worlds'),
          'worlds.body_unreadable': BODY_UNREADABLE,
          'worlds.validation': NAME_INVALID,
          'worlds.source_not_found': worldNotFound('nowhere'),
          'worlds.exhausted': worldsExhausted(WORLDS_MAX),
          'worlds.too_large': worldTooLarge(STATE_BYTES_MAX),
        },
      }),
    )
    .delete(
      '/worlds/:name',
      ({ params, set }) => {
        const world = getWorld(worlds, params.name)
        if (world.name === DEFAULT_WORLD) throw new DomainError(DEFAULT_WORLD_KEPT)
        worlds.drop(world)
        set.status = 204
      },
      controlOperation({
        id: 'dropWorld',
        summary: 'Drop a world',
        description: 'With all that is in it. The default world cannot be dropped.',
        params: NamePath,
        success: { status: 204, description: 'The world is gone' },
        errors: {
          ...gateErrors('worlds'),
          'worlds.not_found': worldNotFound('nowhere'),
          'worlds.default_kept': DEFAULT_WORLD_KEPT,
        },
      }),
    )
    .post(
      '/reset',
      ({ query }) => ({ world: putBack(worlds, getWorld(worlds, query.world)).name }),
      controlOperation({
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
        errors: worldErrors('reset'),
      }),
    )

/** A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose. */
const stateNamed = (worlds: SandboxWorlds, snapshots: Snapshots, name: string): WorldState =>
  snapshots.find(name) ?? worlds.stateOf(getWorld(worlds, name))
