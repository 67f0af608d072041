import { Elysia } from 'elysia'
import { jsonResponse } from '../../http/responses.ts'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { DomainError, found, violated } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { DEFAULT_WORLD_KEPT, snapshotNotFound } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { putBack, unclaimed } from './accounts.ts'
import { parseDuration } from './movable-clock.ts'
import * as operations from './operations.ts'
import { getWorld, newName, plainName, worldWire } from './operations.ts'
import { type Snapshots, writeSnapshot } from './snapshots.ts'
import { clockOf, keepClock, type WorldState } from './state.ts'

export const clockRoutes = ({ worlds }: Parts) =>
  new Elysia({ name: 'sandbox-clock' })
    .get('/clock', ({ query }) => clockWire(getWorld(worlds, query.world)), operations.getClock)
    .post(
      '/clock',
      async ({ query, body: { now, advance, frozen } }) => {
        const world = getWorld(worlds, query.world)
        const clock = clockOf(world)
        const targetMs = movedTo(clock.nowMs(), now, advance)
        // Frozen first, so that the time is exact.
        if (frozen === true) clock.freeze()
        if (targetMs > clock.nowMs()) clock.set(targetMs)
        if (frozen === false) clock.thaw()
        await keepClock(world)
        return clockWire(world)
      },
      operations.moveClock,
    )

const clockWire = (world: World) => ({ now: toTimestamp(world.clock.nowMs()), frozen: clockOf(world).frozen })

/** The time to which a clock is moved. @throws DomainError validation */
const movedTo = (presentMs: number, now: string | undefined, advance: string | undefined): number => {
  const startMs = now === undefined ? presentMs : parseTimestamp(now)
  if (startMs === undefined) throw violated('now', 'format', 'must be an RFC 3339 time like 2026-01-01T00:00:00Z')
  if (startMs < presentMs) throw violated('now', 'min', `must not be before the present, ${toTimestamp(presentMs)}`)
  const advanceMs = advance === undefined ? 0 : parseDuration(advance)
  if (advanceMs === undefined) throw violated('advance', 'format', 'must be an ISO 8601 duration like PT5M or P7D')
  if (startMs + advanceMs > TIME_MAX_MS) {
    throw violated(now ? 'now' : 'advance', 'max', `must not go beyond ${toTimestamp(TIME_MAX_MS)}`)
  }
  return startMs + advanceMs
}

export const worldRoutes = ({ worlds, snapshots }: Parts) =>
  new Elysia({ name: 'sandbox-worlds' })
    .get('/worlds', () => worlds.all.map(worldWire), operations.listWorlds)
    .put(
      '/worlds/:name',
      ({ params, body: { from } }) => {
        const name = newName(params.name)
        const source = from && plainName(from)
        // A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose.
        const state =
          source === undefined ? undefined : (snapshots.find(source) ?? worlds.stateOf(getWorld(worlds, source)))
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
