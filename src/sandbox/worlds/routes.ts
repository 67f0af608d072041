import { type Static, Type } from '@sinclair/typebox'
import { eventWire } from '../../events/contract.ts'
import { listenToEvents } from '../../events/publish.ts'
import type { Event } from '../../events/queries.ts'
import { Json, type JsonObject } from '../../http/json.ts'
import { listOf } from '../../http/operation.ts'
import { Text } from '../../http/validation.ts'
import { parseTimestamp, TIME_MAX_MS, toTimestamp } from '../../kernel/clock.ts'
import { DomainError, foundOr, violated, violation } from '../../kernel/failure.ts'
import { inParts } from '../../kernel/turns.ts'
import type { DueWork } from '../../work/due.ts'
import type { World } from '../../work/world.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import { controlRoutes } from '../control/operation.ts'
import {
  DEFAULT_WORLD_KEPT,
  snapshotDamaged,
  snapshotNotFound,
  snapshotsExhausted,
  snapshotTooLarge,
  worldDamaged,
  worldNotFound,
  worldsExhausted,
} from '../errors.ts'
import type { Parts } from '../parts.ts'
import { requestLog } from '../requests/request-log.ts'
import { worldOfSteps } from '../scenario/make.ts'
import { readSteps, SCENARIO_STOPPED } from '../scenario/scenario.ts'
import { makeWorld, restoreInto } from './accounts.ts'
import {
  ClockState,
  checkWorldRequest,
  getWorld,
  HAPPENED_MAX,
  NAME_INVALID,
  NamePath,
  newName,
  oneErrors,
  SnapshotName,
  WorldRequest,
  WorldSummary,
  worldWire,
} from './contract.ts'
import { parseDuration } from './movable-clock.ts'
import { plainName, UnusedWorldQuery } from './query.ts'
import { FILE_BYTES_MAX, writeSnapshot } from './snapshot-file.ts'
import { SNAPSHOTS_MAX } from './snapshots.ts'
import { clockOf, keepClock } from './state.ts'
import { type SandboxWorlds, WORLDS_MAX } from './worlds.ts'
import { isWritten } from './written.ts'

export const clockRoutes = ({ worlds, due, deliveries }: Parts) =>
  controlRoutes('clock.')
    .get('/clock', ({ query }) => clockWire(getWorld(worlds, query.world), []), {
      id: 'getClock',
      summary: 'Read the clock of a world',
      description: 'The time of the world, and whether its clock is frozen.',
      response: { description: 'The clock', schema: ClockState },
    })
    .post(
      '/clock',
      async ({ query, body: { now, advance, frozen } }) => {
        const world = getWorld(worlds, query.world)
        const clock = clockOf(world)
        const presentMs = clock.nowMs()
        const hasWritten = isWritten(world)
        const targetMs = movedTo(presentMs, hasWritten ? presentMs : TIME_MIN_MS, now, advance)
        const move = (): void => {
          // Frozen first, so that the time is exact.
          if (frozen === true) clock.freeze()
          if (targetMs !== presentMs) clock.set(targetMs)
          if (frozen === false) clock.thaw()
        }
        await clock.attempt(move, () => keepClock(world))
        // Once something is written, only a step forward can be repeated at another time.
        const moved = now !== undefined && !hasWritten ? { now: toTimestamp(targetMs) } : stepOf(targetMs - presentMs)
        world.of(requestLog).addMove({ ...moved, ...(frozen !== undefined && { frozen }) })
        const happened = await happenedIn(world, due)
        deliveries.wake()
        return clockWire(world, happened)
      },
      {
        id: 'moveClock',
        summary: 'Set, advance, freeze or thaw the clock of a world',
        description:
          'One clock for tokens, limits, cached charges and every timestamp. It goes back only before the first write.',
        body: Type.Object(
          {
            now: Type.Optional(Text({ description: 'RFC 3339; not before the present' })),
            advance: Type.Optional(Text({ description: 'ISO 8601 duration: PT5M' })),
            frozen: Type.Optional(Type.Boolean({ description: 'True if the clock stands still afterwards' })),
          },
          { title: 'ClockRequest' },
        ),
        bodyExample: { advance: 'PT5M', frozen: true },
        response: { description: 'The clock as it is now', schema: ClockState },
        refuses: { validation: violation('now', 'min', 'must not be before the present, 2026-01-01T00:00:00.000Z') },
      },
    )

const stepOf = (movedMs: number): { advance?: string } =>
  movedMs === 0
    ? {}
    : { advance: Temporal.Duration.from({ milliseconds: movedMs }).round({ largestUnit: 'hours' }).toString() }

const clockWire = (world: World, happened: readonly Event[]) => ({
  now: toTimestamp(world.clock.nowMs()),
  frozen: clockOf(world).frozen,
  happened: happened.map(eventWire),
})

/** Does due work in a world, and returns its first events. */
const happenedIn = async (world: World, due: DueWork): Promise<Event[]> => {
  const happened: Event[] = []
  using _ = listenToEvents(world, (event) => {
    if (happened.length < HAPPENED_MAX) happened.push(event)
  })
  await due.catchUpToRead(world) // the clock was moved
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

const listed = async (worlds: SandboxWorlds) => {
  const summaries: Static<typeof WorldSummary>[] = []
  for await (const name of inParts(worlds.names)) {
    const clock = worlds.findClock(name)
    if (clock) summaries.push(worldWire({ name, clock }))
  }
  return summaries
}

/** A snapshot takes precedence over a world of the same name: somebody gave it that name on purpose. */
const imageNamed = async (parts: Parts, name: string): Promise<Uint8Array> =>
  parts.worlds.snapshots.find(name) ?? (await imageOf(parts, getWorld(parts.worlds, name)))

/** Without deliveries that are on their way: the copy would make them again. */
const imageOf = ({ worlds, deliveries }: Parts, world: World): Promise<Uint8Array> =>
  deliveries.whilePaused(world, async () => worlds.imageOf(world))

export const worldRoutes = (parts: Parts) => {
  const { worlds } = parts
  return controlRoutes('worlds.')
    .get('/worlds', async () => listed(worlds), {
      id: 'listWorlds',
      summary: 'List the worlds',
      description: 'Each with the username that logs in to it and its time.',
      query: UnusedWorldQuery,
      response: listOf('The default world first, the others by name', WorldSummary),
    })
    .put(
      '/worlds/:name',
      async ({ params, body: { from, scenario } }) => {
        const name = newName(params.name)
        if (from !== undefined && scenario !== undefined)
          throw violated('scenario', 'format', 'cannot be combined with from')
        if (scenario !== undefined) return worldWire(await worldOfSteps(parts, name, scenario))
        const source = from && plainName(from)
        const image = source === undefined ? undefined : await imageNamed(parts, source)
        return worldWire(makeWorld(worlds, name, image))
      },
      {
        id: 'makeWorld',
        summary: 'Create a world: fresh, as a copy, or from a scenario',
        description:
          'An existing world of that name is replaced. The first password that is used becomes its password.',
        query: UnusedWorldQuery,
        params: NamePath,
        body: WorldRequest,
        bodyExample: { from: 'default' },
        bodyOptional: true,
        bodyValuesMax: Number.POSITIVE_INFINITY,
        read: (sent: JsonObject) => {
          const { from, scenario } = checkWorldRequest(sent)
          return { from, scenario: scenario && readSteps(scenario as JsonObject, 'scenario.') }
        },
        response: { description: 'The world', schema: WorldSummary },
        refuses: {
          validation: NAME_INVALID,
          source_not_found: worldNotFound('nowhere'),
          world_damaged: worldDamaged('checkout'),
          snapshot_damaged: snapshotDamaged('prepared'),
          stopped: SCENARIO_STOPPED,
          exhausted: worldsExhausted(WORLDS_MAX),
        },
      },
    )
    .delete(
      '/worlds/:name',
      ({ params: { name } }) => {
        if (name === DEFAULT_WORLD) throw new DomainError(DEFAULT_WORLD_KEPT)
        if (!worlds.drop(name)) throw new DomainError(worldNotFound(name))
      },
      {
        id: 'dropWorld',
        summary: 'Drop a world',
        description: 'Deletes all of its data. The default world cannot be dropped.',
        query: UnusedWorldQuery,
        params: NamePath,
        response: { status: 204, description: 'The world is gone' },
        refuses: { not_found: worldNotFound('nowhere'), default_kept: DEFAULT_WORLD_KEPT },
      },
    )
    .post('/reset', ({ query }) => ({ world: restoreInto(worlds, getWorld(worlds, query.world)).name }), {
      id: 'resetWorld',
      summary: 'Reset a world to its seeded state',
      description: 'Data, clock, randomness, limits, caches and tokens. The password of a named world stays.',
      names: 'reset.',
      response: {
        description: 'The world is in its seeded state',
        schema: Type.Object({ world: Type.String() }, { title: 'ResetResult' }),
        example: { world: DEFAULT_WORLD },
      },
    })
}

export const snapshotRoutes = (parts: Parts) => {
  const { worlds } = parts
  const { snapshots } = worlds
  return controlRoutes('snapshots.')
    .get('/snapshots', () => snapshots.names.map((name) => ({ name })), {
      id: 'listSnapshots',
      summary: 'List the snapshots',
      description: 'The names of all snapshots.',
      query: UnusedWorldQuery,
      response: listOf('By name', SnapshotName, { name: 'prepared' }),
    })
    .put(
      '/snapshots/:name',
      async ({ params, query }) => {
        const name = newName(params.name)
        snapshots.keep(name, await imageOf(parts, getWorld(worlds, query.world)))
        return { name }
      },
      {
        id: 'keepSnapshot',
        summary: 'Save a world as a snapshot',
        description: 'Data, clock and randomness. Limits, caches and the request log start empty when it is restored.',
        params: NamePath,
        response: { description: 'The snapshot', schema: SnapshotName, example: { name: 'prepared' } },
        refuses: { validation: NAME_INVALID, exhausted: snapshotsExhausted(SNAPSHOTS_MAX) },
      },
    )
    .get(
      '/snapshots/:name',
      async ({ params: { name } }) => {
        const image = foundOr(snapshots.find(name), snapshotNotFound(name))
        return new Json(await writeSnapshot(image))
      },
      {
        id: 'getSnapshot',
        summary: 'Get a snapshot as a file',
        description: 'The file for `--snapshot FILE`.',
        query: UnusedWorldQuery,
        params: NamePath,
        response: {
          description: 'The snapshot',
          schema: Type.Object({ format: Type.String() }, { title: 'Snapshot', additionalProperties: true }),
          example: { format: 'scrip-snapshot/1' },
        },
        refuses: { ...oneErrors, damaged: snapshotDamaged('prepared'), too_large: snapshotTooLarge(FILE_BYTES_MAX) },
      },
    )
    .delete(
      '/snapshots/:name',
      ({ params: { name } }) => {
        if (!snapshots.drop(name)) throw new DomainError(snapshotNotFound(name))
      },
      {
        id: 'deleteSnapshot',
        summary: 'Delete a snapshot',
        description: 'Worlds created from it do not change.',
        query: UnusedWorldQuery,
        params: NamePath,
        response: { status: 204, description: 'The snapshot is gone' },
        refuses: oneErrors,
      },
    )
    .post(
      '/snapshots/:name/restore',
      ({ params: { name }, query }) => {
        const image = foundOr(snapshots.find(name), snapshotNotFound(name))
        return worldWire(restoreInto(worlds, getWorld(worlds, query.world), image))
      },
      {
        id: 'restoreSnapshot',
        summary: 'Restore a world from a snapshot',
        description: 'Tokens that were issued before the snapshot was saved are valid again.',
        params: NamePath,
        response: { description: 'The world', schema: WorldSummary },
        refuses: { ...oneErrors, damaged: snapshotDamaged('prepared') },
      },
    )
}
