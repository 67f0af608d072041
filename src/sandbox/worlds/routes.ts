import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { readOptionalObject } from '../../http/body.ts'
import { documented } from '../../http/legacy-operation.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError } from '../../kernel/failure.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import {
  controlRefusals,
  gateRefusals,
  getWorld,
  plainName,
  readControl,
  WorldQuery,
  worldOf,
} from '../control/control.ts'
import { putBack, unclaimed } from './accounts.ts'
import { NamePath, nameRefused, newName, tooLarge, WORLD_EXAMPLE, WorldSummary, worldWire } from './model.ts'
import type { Snapshots } from './snapshots.ts'
import type { WorldState } from './state.ts'
import { type SandboxWorlds, WORLDS_MAX } from './worlds.ts'

const MakeBody = Type.Object(
  {
    from: Type.Optional(Type.String({ description: 'A world or a snapshot to copy; fresh when left out' })),
  },
  { title: 'WorldRequest' },
)
const checkMake = bodyCheck(MakeBody)

export interface WorldRoutesOptions {
  worlds: SandboxWorlds
  snapshots: Snapshots
}

export const worldRoutes = ({ worlds, snapshots }: WorldRoutesOptions) =>
  new Elysia({ name: 'sandbox-worlds' })
    .get(
      '/worlds',
      () => worlds.all.map(worldWire),
      documented({
        id: 'listWorlds',
        tag: 'Sandbox',
        summary: 'List the worlds',
        description: 'Each with the username that logs in to it and its time.',
        public: true,
        success: {
          status: 200,
          description: 'The default world first',
          schema: Type.Array(WorldSummary),
          example: [WORLD_EXAMPLE],
        },
        refusals: gateRefusals('worlds'),
      }),
    )
    .put(
      '/worlds/:name',
      async ({ params, request }) => {
        const name = newName(params.name)
        const { from } = await readControl(request, MakeBody, checkMake, readOptionalObject)
        const state = from === undefined ? undefined : stateNamed(worlds, snapshots, plainName(from))
        const existing = worlds.find(name)
        return worldWire(existing ? putBack(worlds, existing, state) : unclaimed(worlds.create(name, state)))
      },
      documented({
        id: 'makeWorld',
        tag: 'Sandbox',
        summary: 'Make a world, fresh or as a copy',
        description: 'A world of that name is replaced. The first password that is used is its password.',
        public: true,
        path: NamePath,
        body: { schema: MakeBody, optional: true, example: { from: 'prepared' } },
        success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
        refusals: {
          ...gateRefusals('worlds'),
          'worlds.body_unreadable': { code: 'body_unreadable' },
          'worlds.validation': nameRefused,
          'worlds.source_not_found': { code: 'world_not_found', name: 'nowhere' },
          'worlds.exhausted': { code: 'worlds_exhausted', worldsMax: WORLDS_MAX },
          'worlds.too_large': tooLarge,
        },
      }),
    )
    .delete(
      '/worlds/:name',
      ({ params, set }) => {
        const world = getWorld(worlds, plainName(params.name))
        if (world.name === DEFAULT_WORLD) throw new DomainError({ code: 'default_world_kept' })
        worlds.drop(world)
        set.status = 204
      },
      documented({
        id: 'dropWorld',
        tag: 'Sandbox',
        summary: 'Drop a world',
        description: 'With all that is in it. The default world cannot be dropped.',
        public: true,
        path: NamePath,
        success: { status: 204, description: 'The world is gone' },
        refusals: {
          ...gateRefusals('worlds'),
          'worlds.not_found': { code: 'world_not_found', name: 'nowhere' },
          'worlds.default_kept': { code: 'default_world_kept' },
        },
      }),
    )
    .post(
      '/reset',
      ({ request }) => ({ world: putBack(worlds, worldOf(worlds, request)).name }),
      documented({
        id: 'resetWorld',
        tag: 'Sandbox',
        summary: 'Put a world back to the state in which it was seeded',
        description: 'Data, clock, randomness, limits, caches and tokens. The password of a named world stays.',
        public: true,
        query: WorldQuery,
        success: {
          status: 200,
          description: 'The world is as new',
          schema: Type.Object({ world: Type.String() }, { title: 'ResetResult' }),
          example: { world: DEFAULT_WORLD },
        },
        refusals: controlRefusals('reset'),
      }),
    )

/** A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose. */
const stateNamed = (worlds: SandboxWorlds, snapshots: Snapshots, name: string): WorldState =>
  snapshots.find(name) ?? worlds.stateOf(getWorld(worlds, name))
