import { Elysia } from 'elysia'
import { DomainError } from '../../kernel/failure.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { DEFAULT_WORLD_KEPT } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { putBack, unclaimed } from './accounts.ts'
import { getWorld, newName, plainName, worldWire } from './model.ts'
import * as operations from './operations.ts'
import type { Snapshots } from './snapshots.ts'
import type { WorldState } from './state.ts'
import type { SandboxWorlds } from './worlds.ts'

export const worldRoutes = ({ worlds, snapshots }: Parts) =>
  new Elysia({ name: 'sandbox-worlds' })
    .get('/worlds', () => worlds.all.map(worldWire), operations.listWorlds)
    .put(
      '/worlds/:name',
      ({ params, body: { from } }) => {
        const name = newName(params.name)
        const state = from === undefined ? undefined : stateNamed(worlds, snapshots, plainName(from))
        const existing = worlds.find(name)
        return worldWire(existing ? putBack(worlds, existing, state) : unclaimed(worlds.create(name, state)))
      },
      operations.makeWorld,
    )
    .delete(
      '/worlds/:name',
      ({ params, set }) => {
        const world = getWorld(worlds, params.name)
        if (world.name === DEFAULT_WORLD) throw new DomainError(DEFAULT_WORLD_KEPT)
        worlds.drop(world)
        set.status = 204
      },
      operations.dropWorld,
    )
    .post(
      '/reset',
      ({ query }) => ({ world: putBack(worlds, getWorld(worlds, query.world)).name }),
      operations.resetWorld,
    )

/** A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose. */
const stateNamed = (worlds: SandboxWorlds, snapshots: Snapshots, name: string): WorldState =>
  snapshots.find(name) ?? worlds.stateOf(getWorld(worlds, name))
