import { Elysia } from 'elysia'
import { jsonResponse } from '../../http/responses.ts'
import { DomainError, found } from '../../kernel/failure.ts'
import { snapshotNotFound } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { putBack } from './accounts.ts'
import { getWorld, newName, worldWire } from './model.ts'
import * as operations from './operations.ts'
import { type Snapshots, writeSnapshot } from './snapshots.ts'
import type { WorldState } from './state.ts'

export const snapshotRoutes = ({ worlds, snapshots }: Parts) =>
  new Elysia({ name: 'sandbox-snapshots' })
    .get('/snapshots', () => snapshots.names.map((name) => ({ name })), operations.listSnapshots)
    .put(
      '/snapshots/:name',
      ({ params, query }) => {
        const name = newName(params.name)
        snapshots.keep(name, worlds.stateOf(getWorld(worlds, query.world)))
        return { name }
      },
      operations.keepSnapshot,
    )
    .get(
      '/snapshots/:name',
      async ({ params }) => jsonResponse(await writeSnapshot(getSnapshot(snapshots, params.name))),
      operations.getSnapshot,
    )
    .delete(
      '/snapshots/:name',
      ({ params: { name }, set }) => {
        if (!snapshots.drop(name)) throw new DomainError(snapshotNotFound(name))
        set.status = 204
      },
      operations.deleteSnapshot,
    )
    .post(
      '/snapshots/:name/restore',
      ({ params, query }) => {
        const state = getSnapshot(snapshots, params.name)
        return worldWire(putBack(worlds, getWorld(worlds, query.world), state))
      },
      operations.restoreSnapshot,
    )

/** @throws DomainError snapshot_not_found */
const getSnapshot = (snapshots: Snapshots, name: string): WorldState =>
  found(snapshots.find(name), snapshotNotFound(name))
