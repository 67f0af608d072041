import { Database, type Query } from '../../db/database.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import { clientNames } from '../../sessions/queries.ts'
import { queueEventsOf } from '../../webhooks/queue.ts'
import { type OpenData, World, worldPart } from '../../work/world.ts'
import { type ClockState, MovableClock, type Pace, pace } from './movable-clock.ts'
import {
  findClock,
  findPace,
  findRandomness,
  holdsRecords,
  keepPace,
  putClock,
  putRandomness,
  type RandomState,
} from './queries.ts'

/** The state of a world besides its data. Its image holds it in tables. */
interface StateBesideData extends RandomState {
  clock: ClockState
  pace: { payouts: Pace; orders: Pace }
}

/**
 * A world as it is now: its database as an image, with clock, pace and randomness in tables. Limits, caches and the request log
 * are not part of it: a copy starts with empty ones.
 */
export const imageOf = (world: World): Uint8Array =>
  world.db.image((tx) => {
    putClock(tx, clockOf(world).state)
    keepPace(tx, world.of(pace))
    putRandomness(tx, randomStateOf(world))
  })

const randomStateOf = ({ randomness, ids }: World): RandomState => {
  if (!(randomness instanceof SeededRandomness)) throw new Error('a sandbox world draws from a seeded stream')
  return { randomness: { seed: randomness.seed, position: randomness.position }, ids: ids.state }
}

export const clockOf = ({ clock }: World): MovableClock => {
  if (clock instanceof MovableClock) return clock
  throw new Error('a sandbox world has a clock that can be moved')
}

export const worldFrom = (
  name: string,
  data: Database | OpenData,
  { clock, randomness: { seed, position }, ids, pace: paces }: StateBesideData,
  base: SteadyClock,
  onResume?: (world: World) => void,
): World => {
  const world = new World(
    name,
    data,
    new MovableClock(base, clock),
    new SeededRandomness(seed, position),
    ids,
    onResume,
  )
  Object.assign(world.of(pace), paces)
  queueEventsOf(world)
  return world
}

/** Notified of each clock that was stored. */
const clockListener = worldPart<{ onKept: (clock: ClockState) => void }>(() => ({ onKept: () => undefined }))

export const onClockKept = (world: World, onKept: (clock: ClockState) => void): void => {
  world.of(clockListener).onKept = onKept
}

/** Stores the clock of a world in its file, so that its data is never later than the clock. */
export const keepClock = async (world: World): Promise<void> => {
  if (!world.db.onFile) return
  await world.db.write((tx) => putClock(tx, clockOf(world).state))
  world.of(clockListener).onKept(clockOf(world).state)
}

/** Stores the position of the random stream with each commit: values are drawn again only if the commit was lost. */
export const keepRandomness = (world: World): void => {
  let kept: RandomState | undefined
  world.db.beforeCommit((tx) => {
    const state = randomStateOf(world)
    if (Bun.deepEquals(kept, state)) return
    putRandomness(tx, state)
    kept = state
  })
}

/** The state of a new world whose random stream starts with this seed. */
export const firstState = (seed: string): StateBesideData => ({
  clock: { offsetMs: 0, frozenAtMs: null },
  pace: { payouts: 'auto', orders: 'auto' },
  randomness: { seed, position: 0 },
  ids: { lastMs: -1, sequence: 0 },
})

/** The state in the tables of a world. A random seed is needed if it has drawn nothing yet. */
export const keptState = (query: Query, seed: string): StateBesideData => {
  const first = firstState(seed)
  return {
    clock: findClock(query) ?? first.clock,
    pace: findPace(query) ?? first.pace,
    ...(findRandomness(query) ?? { randomness: first.randomness, ids: first.ids }),
  }
}

/** The state of an image with which worlds begin, the names of its clients, and whether it has only seed data. */
export type InitialState = ReturnType<typeof stateIn>

export const stateIn = (image: Uint8Array, seed: string) => {
  const database = Database.inMemory(image)
  try {
    const { query } = database
    return { state: keptState(query, seed), clients: clientNames(query), isFresh: !holdsRecords(query) }
  } finally {
    database.close()
  }
}
