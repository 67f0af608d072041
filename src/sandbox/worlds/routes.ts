import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { readOptionalObject } from '../../http/body.ts'
import { documented } from '../../http/operation.ts'
import { JSON_TYPE } from '../../http/prepared.ts'
import { bodyCheck } from '../../http/validation.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { DomainError, type Failure, violated } from '../../kernel/failure.ts'
import { unclaimed } from '../../sessions/credentials.ts'
import type { WorldState } from '../../worlds/state.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, WORLDS_MAX, Worlds } from '../../worlds/worlds.ts'
import {
  controlRefusals,
  gateRefusals,
  getWorld,
  plainName,
  putBack,
  readControl,
  WorldQuery,
  worldOf,
} from '../control/control.ts'
import { SNAPSHOTS_MAX, type Snapshots, writeSnapshot } from './snapshots.ts'

/** Worlds and their snapshots (contract C15). Errors leave in the structured shape. */

const NamePath = Type.Object({
  name: Type.String({ description: 'Lower-case letters, digits, - and _, at most 64', example: 'checkout' }),
})
const MakeBody = Type.Object(
  {
    from: Type.Optional(Type.String({ description: 'A world or a snapshot to copy; fresh when left out' })),
  },
  { title: 'WorldRequest' },
)
const checkMake = bodyCheck(MakeBody)
const WorldSchema = Type.Object(
  {
    name: Type.String(),
    username: Type.String({ description: 'Logs in to it' }),
    now: Type.String({ format: 'date-time' }),
  },
  { title: 'World' },
)
const NameSchema = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })
const WORLD_EXAMPLE = { name: 'checkout', username: 'sbx_checkout', now: '2026-01-01T00:00:00.000Z' }
const NAME_PROBLEM = 'must be lower-case letters, digits, - and _, at most 64, and not default'
const validation: Failure = {
  code: 'validation',
  violations: [{ field: 'name', rule: 'format', problem: NAME_PROBLEM }],
}
const tooLarge: Failure = { code: 'world_too_large', bytesMax: 67_108_864 }
const notFound = { 'snapshots.not_found': { code: 'snapshot_not_found', name: 'nothing' } } as const

export interface WorldRoutesOptions {
  worlds: Worlds
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
          schema: Type.Array(WorldSchema),
          example: [WORLD_EXAMPLE],
        },
        refusals: gateRefusals('worlds'),
      }),
    )
    .put(
      '/worlds/:name',
      async ({ params, request }) => {
        const name = readName(params.name)
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
        success: { status: 200, description: 'The world', schema: WorldSchema, example: WORLD_EXAMPLE },
        refusals: {
          ...gateRefusals('worlds'),
          'worlds.body_unreadable': { code: 'body_unreadable' },
          'worlds.validation': validation,
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
    .get(
      '/snapshots',
      () => snapshots.names.map((name) => ({ name })),
      documented({
        id: 'listSnapshots',
        tag: 'Sandbox',
        summary: 'List the snapshots',
        description: 'The names under which worlds were kept.',
        public: true,
        success: {
          status: 200,
          description: 'In the order in which they were kept',
          schema: Type.Array(NameSchema),
          example: [{ name: 'prepared' }],
        },
        refusals: gateRefusals('snapshots'),
      }),
    )
    .put(
      '/snapshots/:name',
      ({ params, request }) => {
        const name = readName(params.name)
        snapshots.keep(name, worlds.stateOf(worldOf(worlds, request)))
        return { name }
      },
      documented({
        id: 'keepSnapshot',
        tag: 'Sandbox',
        summary: 'Keep a world as it is now',
        description: 'Data, clock and randomness. Limits, caches and the journal begin anew when it is restored.',
        public: true,
        path: NamePath,
        query: WorldQuery,
        success: { status: 200, description: 'The snapshot', schema: NameSchema, example: { name: 'prepared' } },
        refusals: {
          ...controlRefusals('snapshots'),
          'snapshots.validation': validation,
          'snapshots.too_large': tooLarge,
          'snapshots.exhausted': { code: 'snapshots_exhausted', snapshotsMax: SNAPSHOTS_MAX },
        },
      }),
    )
    .get(
      '/snapshots/:name',
      async ({ params, set }) => {
        set.headers['content-type'] = JSON_TYPE
        return await writeSnapshot(getSnapshot(snapshots, plainName(params.name)))
      },
      documented({
        id: 'getSnapshot',
        tag: 'Sandbox',
        summary: 'Get a snapshot as a file',
        description: 'What `--snapshot FILE` begins with.',
        public: true,
        path: NamePath,
        success: {
          status: 200,
          description: 'The snapshot',
          schema: Type.Object({ format: Type.String() }, { title: 'Snapshot', additionalProperties: true }),
          example: { format: 'scrip-snapshot/1' },
        },
        refusals: { ...gateRefusals('snapshots'), ...notFound },
      }),
    )
    .delete(
      '/snapshots/:name',
      ({ params, set }) => {
        const name = plainName(params.name)
        if (!snapshots.drop(name)) throw new DomainError({ code: 'snapshot_not_found', name })
        set.status = 204
      },
      documented({
        id: 'deleteSnapshot',
        tag: 'Sandbox',
        summary: 'Delete a snapshot',
        description: 'Worlds that were made from it stay as they are.',
        public: true,
        path: NamePath,
        success: { status: 204, description: 'The snapshot is gone' },
        refusals: { ...gateRefusals('snapshots'), ...notFound },
      }),
    )
    .post(
      '/snapshots/:name/restore',
      ({ params, request }) => {
        const state = getSnapshot(snapshots, plainName(params.name))
        return worldWire(putBack(worlds, worldOf(worlds, request), state))
      },
      documented({
        id: 'restoreSnapshot',
        tag: 'Sandbox',
        summary: 'Put a world back to a snapshot',
        description: 'Tokens that the world had issued before the snapshot was kept are good again.',
        public: true,
        path: NamePath,
        query: WorldQuery,
        success: { status: 200, description: 'The world', schema: WorldSchema, example: WORLD_EXAMPLE },
        refusals: { ...controlRefusals('snapshots'), ...notFound },
      }),
    )

/** @throws DomainError validation */
const readName = (sent: string): string => {
  const name = plainName(sent)
  if (!Worlds.isName(name) || name === DEFAULT_WORLD) throw violated('name', 'format', NAME_PROBLEM)
  return name
}

const getSnapshot = (snapshots: Snapshots, name: string): WorldState => {
  const state = snapshots.find(name)
  if (!state) throw new DomainError({ code: 'snapshot_not_found', name })
  return state
}

/** A snapshot goes before a world of the same name: it was named on purpose. */
const stateNamed = (worlds: Worlds, snapshots: Snapshots, name: string): WorldState =>
  snapshots.find(name) ?? worlds.stateOf(getWorld(worlds, name))

const worldWire = ({ name, clock }: World) => ({
  name,
  username: name === DEFAULT_WORLD ? 'sandbox' : `sbx_${name}`,
  now: toTimestamp(clock.nowMs()),
})
