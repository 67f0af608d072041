import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { jsonResponse } from '../../http/responses.ts'
import { DomainError, found } from '../../kernel/failure.ts'
import { controlOperation, gateErrors, worldErrors } from '../control/operation.ts'
import { snapshotNotFound, snapshotsExhausted, worldTooLarge } from '../errors.ts'
import { putBack } from './accounts.ts'
import {
  getWorld,
  NAME_INVALID,
  NamePath,
  newName,
  WORLD_EXAMPLE,
  WorldQuery,
  WorldSummary,
  worldWire,
} from './model.ts'
import { SNAPSHOTS_MAX, type Snapshots, writeSnapshot } from './snapshots.ts'
import type { WorldState } from './state.ts'
import { type SandboxWorlds, STATE_BYTES_MAX } from './worlds.ts'

const SnapshotName = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })

const oneErrors = { ...gateErrors('snapshots'), 'snapshots.not_found': snapshotNotFound('nothing') }

export interface SnapshotRoutesOptions {
  worlds: SandboxWorlds
  snapshots: Snapshots
}

export const snapshotRoutes = ({ worlds, snapshots }: SnapshotRoutesOptions) =>
  new Elysia({ name: 'sandbox-snapshots' })
    .get(
      '/snapshots',
      () => snapshots.names.map((name) => ({ name })),
      controlOperation({
        id: 'listSnapshots',
        summary: 'List the snapshots',
        description: 'The names under which worlds were kept.',
        success: {
          status: 200,
          description: 'In the order in which they were kept',
          schema: Type.Array(SnapshotName),
          example: [{ name: 'prepared' }],
        },
        errors: gateErrors('snapshots'),
      }),
    )
    .put(
      '/snapshots/:name',
      ({ params, query }) => {
        const name = newName(params.name)
        snapshots.keep(name, worlds.stateOf(getWorld(worlds, query.world)))
        return { name }
      },
      controlOperation({
        id: 'keepSnapshot',
        summary: 'Keep a world as it is now',
        description: 'Data, clock and randomness. Limits, caches and the request log begin anew when it is restored.',
        params: NamePath,
        query: WorldQuery,
        success: { status: 200, description: 'The snapshot', schema: SnapshotName, example: { name: 'prepared' } },
        errors: {
          ...worldErrors('snapshots'),
          'snapshots.validation': NAME_INVALID,
          'snapshots.too_large': worldTooLarge(STATE_BYTES_MAX),
          'snapshots.exhausted': snapshotsExhausted(SNAPSHOTS_MAX),
        },
      }),
    )
    .get(
      '/snapshots/:name',
      async ({ params }) => jsonResponse(await writeSnapshot(getSnapshot(snapshots, params.name))),
      controlOperation({
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
      }),
    )
    .delete(
      '/snapshots/:name',
      ({ params: { name }, set }) => {
        if (!snapshots.drop(name)) throw new DomainError(snapshotNotFound(name))
        set.status = 204
      },
      controlOperation({
        id: 'deleteSnapshot',
        summary: 'Delete a snapshot',
        description: 'Worlds that were made from it stay as they are.',
        params: NamePath,
        success: { status: 204, description: 'The snapshot is gone' },
        errors: oneErrors,
      }),
    )
    .post(
      '/snapshots/:name/restore',
      ({ params, query }) => {
        const state = getSnapshot(snapshots, params.name)
        return worldWire(putBack(worlds, getWorld(worlds, query.world), state))
      },
      controlOperation({
        id: 'restoreSnapshot',
        summary: 'Put a world back to a snapshot',
        description: 'Tokens that the world had issued before the snapshot was kept are good again.',
        params: NamePath,
        query: WorldQuery,
        success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
        errors: { ...worldErrors('snapshots'), 'snapshots.not_found': snapshotNotFound('nothing') },
      }),
    )

/** @throws DomainError snapshot_not_found */
const getSnapshot = (snapshots: Snapshots, name: string): WorldState =>
  found(snapshots.find(name), snapshotNotFound(name))
