import { Elysia } from 'elysia'
import { eventWire } from '../../events/contract.ts'
import type { Event } from '../../events/queries.ts'
import { Json } from '../../http/json.ts'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { DomainError, found, violated } from '../../kernel/failure.ts'
import { listenToEvents } from '../../webhooks/publish.ts'
import type { DueWork } from '../../worlds/due.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { DEFAULT_WORLD_KEPT, snapshotNotFound, worldNotFound } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { placeScenario } from '../scenario/place.ts'
import { makeWorld, putBack } from './accounts.ts'
import { parseDuration } from './movable-clock.ts'
import * as operations from './operations.ts'
import { getWorld, HAPPENED_MAX, newName, worldWire } from './operations.ts'
import { plainName } from './query.ts'
import { writeSnapshot } from './snapshot-file.ts'
import { clockOf, keepClock } from './state.ts'
import type { SandboxWorlds } from './worlds.ts'
import { isWritten } from './written.ts'

export const clockRoutes = ({ worlds, due, deliveries }: Parts) =>
  new Elysia({ name: 'sandbox-clock' })
    .get('/clock', ({ query }) => clockWire(getWorld(worlds, query.world), []), operations.getClock)
    .post(
      '/clock',
      async ({ query, body: { now, advance, frozen } }) => {
        const world = getWorld(worlds, query.world)
        const clock = clockOf(world)
        const presentMs = clock.nowMs()
        const targetMs = movedTo(presentMs, isWritten(world) ? presentMs : TIME_MIN_MS, now, advance)
        // Frozen first, so that the time is exact.
        if (frozen === true) clock.freeze()
        if (targetMs !== presentMs) clock.set(targetMs)
        if (frozen === false) clock.thaw()
        await keepClock(world)
        const happened = await happenedIn(world, due)
        deliveries.wake()
        return clockWire(world, happened)
      },
      operations.moveClock,
    )

const clockWire = (world: World, happened: readonly Event[]) => ({
  now: toTimestamp(world.clock.nowMs()),
  frozen: clockOf(world).frozen,
  happened: happened.map(eventWire),
})

/** Does what is due in a world, and returns its first events. */
const happenedIn = async (world: World, due: DueWork): Promise<Event[]> => {
  const happened: Event[] = []
  using _ = listenToEvents(world, (event) => {
    if (happened.length < HAPPENED_MAX) happened.push(event)
  })
  await due.catchUp(world)
  return happened
}

/** Ids hold the time since 1970. */
const TIME_MIN_MS = 0

/** The time to which a clock is moved. @throws DomainError validation */
const movedTo = (
  presentMs: number,
  earliestMs: number,
  now: string | undefined,
  advance: string | undefined,
): number => {
  const startMs = now === undefined ? presentMs : parseTimestamp(now)
  if (startMs === undefined) throw violated('now', 'format', 'must be an RFC 3339 time like 2026-01-01T00:00:00Z')
  if (startMs < earliestMs) {
    const earliest = earliestMs === TIME_MIN_MS ? '' : 'the present, '
    throw violated('now', 'min', `must not be before ${earliest}${toTimestamp(earliestMs)}`)
  }
  const advanceMs = advance === undefined ? 0 : parseDuration(advance)
  if (advanceMs === undefined) throw violated('advance', 'format', 'must be an ISO 8601 duration like PT5M or P7D')
  if (startMs + advanceMs > TIME_MAX_MS) {
    throw violated(now ? 'now' : 'advance', 'max', `must not go beyond ${toTimestamp(TIME_MAX_MS)}`)
  }
  return startMs + advanceMs
}

const listed = (worlds: SandboxWorlds) =>
  worlds.names.flatMap((name) => {
    const world = worlds.find(name)
    return world ? [worldWire(world)] : []
  })

/** A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose. */
const imageNamed = async (parts: Parts, name: string): Promise<Uint8Array> =>
  parts.snapshots.find(name) ?? (await imageOf(parts, getWorld(parts.worlds, name)))

/** Without deliveries that are on their way: the copy would make them again. */
const imageOf = ({ worlds, deliveries }: Parts, world: World): Promise<Uint8Array> =>
  deliveries.whilePaused(world, async () => worlds.imageOf(world))

export const worldRoutes = (parts: Parts) => {
  const { worlds } = parts
  return new Elysia({ name: 'sandbox-worlds' })
    .get('/worlds', () => listed(worlds), operations.listWorlds)
    .put(
      '/worlds/:name',
      async ({ params, body: { from, scenario } }) => {
        const name = newName(params.name)
        if (from !== undefined && scenario !== undefined)
          throw violated('scenario', 'format', 'must not come with from')
        if (scenario !== undefined) return worldWire(await placeScenario(parts, name, scenario))
        const source = from && plainName(from)
        const image = source === undefined ? undefined : await imageNamed(parts, source)
        return worldWire(makeWorld(worlds, name, image))
      },
      operations.makeWorld,
    )
    .delete(
      '/worlds/:name',
      ({ params: { name } }) => {
        if (name === DEFAULT_WORLD) throw new DomainError(DEFAULT_WORLD_KEPT)
        if (!worlds.drop(name)) throw new DomainError(worldNotFound(name))
      },
      operations.dropWorld,
    )
    .post(
      '/reset',
      ({ query }) => ({ world: putBack(worlds, getWorld(worlds, query.world)).name }),
      operations.resetWorld,
    )
}

export const snapshotRoutes = (parts: Parts) => {
  const { worlds, snapshots } = parts
  return new Elysia({ name: 'sandbox-snapshots' })
    .get('/snapshots', () => snapshots.names.map((name) => ({ name })), operations.listSnapshots)
    .put(
      '/snapshots/:name',
      async ({ params, query }) => {
        const name = newName(params.name)
        snapshots.keep(name, await imageOf(parts, getWorld(worlds, query.world)))
        return { name }
      },
      operations.keepSnapshot,
    )
    .get(
      '/snapshots/:name',
      async ({ params: { name } }) => {
        const image = found(snapshots.find(name), snapshotNotFound(name))
        return new Json(await writeSnapshot(image))
      },
      operations.getSnapshot,
    )
    .delete(
      '/snapshots/:name',
      ({ params: { name } }) => {
        if (!snapshots.drop(name)) throw new DomainError(snapshotNotFound(name))
      },
      operations.deleteSnapshot,
    )
    .post(
      '/snapshots/:name/restore',
      ({ params: { name }, query }) => {
        const image = found(snapshots.find(name), snapshotNotFound(name))
        return worldWire(putBack(worlds, getWorld(worlds, query.world), image))
      },
      operations.restoreSnapshot,
    )
}
