import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { JSON_TYPE } from '../../http/responses.ts'
import { DomainError } from '../../kernel/failure.ts'
import { controlRefusals, gateRefusals, plainName, WorldQuery, worldOf } from '../control/control.ts'
import { putBack } from './accounts.ts'
import { NamePath, nameRefused, newName, tooLarge, WORLD_EXAMPLE, WorldSummary, worldWire } from './model.ts'
import { SNAPSHOTS_MAX, type Snapshots, writeSnapshot } from './snapshots.ts'
import type { WorldState } from './state.ts'
import type { SandboxWorlds } from './worlds.ts'

const NameSchema = Type.Object({ name: Type.String() }, { title: 'SnapshotName' })
const notFound = { 'snapshots.not_found': { code: 'snapshot_not_found', name: 'nothing' } } as const

export interface SnapshotRoutesOptions {
  worlds: SandboxWorlds
  snapshots: Snapshots
}

export const snapshotRoutes = ({ worlds, snapshots }: SnapshotRoutesOptions) =>
  new Elysia({ name: 'sandbox-snapshots' })
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
        const name = newName(params.name)
        snapshots.keep(name, worlds.stateOf(worldOf(worlds, request)))
        return { name }
      },
      documented({
        id: 'keepSnapshot',
        tag: 'Sandbox',
        summary: 'Keep a world as it is now',
        description: 'Data, clock and randomness. Limits, caches and the request log begin anew when it is restored.',
        public: true,
        path: NamePath,
        query: WorldQuery,
        success: { status: 200, description: 'The snapshot', schema: NameSchema, example: { name: 'prepared' } },
        refusals: {
          ...controlRefusals('snapshots'),
          'snapshots.validation': nameRefused,
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
        success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
        refusals: { ...controlRefusals('snapshots'), ...notFound },
      }),
    )

/** @throws DomainError snapshot_not_found */
const getSnapshot = (snapshots: Snapshots, name: string): WorldState => {
  const state = snapshots.find(name)
  if (!state) throw new DomainError({ code: 'snapshot_not_found', name })
  return state
}
