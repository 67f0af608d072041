import { Database, type Query } from '../../db/database.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import { type DataAtRest, World } from '../../worlds/world.ts'
import { requireSoundPages } from './damaged-file.ts'
import { type ClockState, MovableClock } from './movable-clock.ts'
import { type Pace, pace } from './pace.ts'
import { findClock, findPace, findRandomness, keepPace, putClock, putRandomness, type RandomState } from './queries.ts'

/** The state of a world besides its data and what it may lose (contract C15). */
export interface StateBesideData extends RandomState {
  clock: ClockState
  pace: { payouts: Pace; orders: Pace }
}

/** A saved world: its data, its clock, and the position of its random stream. */
export interface WorldState extends StateBesideData {
  image: Uint8Array
}

/** Limits, caches and the request log are not part of a state: they start empty. */
export const stateOf = (world: World, seed: string): WorldState => ({
  image: world.db.image(),
  ...besideDataOf(world, seed),
})

/** A random seed is needed for a world that draws from the machine. */
export const besideDataOf = (world: World, seed: string): StateBesideData => ({
  clock: clockOf(world).state,
  ...(randomStateOf(world) ?? { randomness: { seed, position: 0 }, ids: world.ids.state }),
  pace: { ...world.of(pace) },
})

/** Undefined for a world that draws from the machine. */
const randomStateOf = ({ randomness, ids }: World): RandomState | undefined =>
  randomness instanceof SeededRandomness
    ? { randomness: { seed: randomness.seed, position: randomness.position }, ids: ids.state }
    : undefined

export const clockOf = ({ clock }: World): MovableClock => {
  if (clock instanceof MovableClock) return clock
  throw new Error('a sandbox world has a clock that can be moved')
}

export const worldFrom = (
  name: string,
  data: Database | DataAtRest,
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
  return world
}

/** Stores the clock of a world in its file, so that its data is never later than the clock. */
export const keepClock = async (world: World): Promise<void> => {
  if (world.db.onFile) await world.db.write((tx) => putClock(tx, clockOf(world).state))
}

/** Stores the position of the random stream with each commit: values are drawn again only if the commit was lost. */
export const keepRandomness = (world: World): void => {
  let kept: RandomState | undefined
  world.db.beforeCommit((tx) => {
    const state = randomStateOf(world)
    if (!state || (kept && isSame(kept, state))) return
    putRandomness(tx, state)
    kept = state
  })
}

const isSame = (one: RandomState, other: RandomState): boolean =>
  one.randomness.position === other.randomness.position &&
  one.ids.lastMs === other.ids.lastMs &&
  one.ids.sequence === other.ids.sequence

/** Writes the state besides the data into tables, as the file of a world has it. */
const keepBesideData = (database: Database, state: StateBesideData): void =>
  database.fill((tx) => {
    putClock(tx, state.clock)
    keepPace(tx, state.pace)
    putRandomness(tx, state)
  })

/** The image of a state, with all of it in tables. */
export const wholeImage = (
  { image, ...state }: WorldState,
  prepare: (database: Database) => void = () => undefined,
): Uint8Array => {
  const database = Database.inMemory(image)
  prepare(database)
  keepBesideData(database, state)
  return database.closeToImage()
}

/** The state in the tables of a world's file. A random seed is needed if it was the file of the default world. */
export const keptState = (query: Query, seed: string): StateBesideData => ({
  clock: findClock(query) ?? { offsetMs: 0, frozenAtMs: null },
  pace: findPace(query) ?? { payouts: 'auto', orders: 'auto' },
  ...(findRandomness(query) ?? { randomness: { seed, position: 0 }, ids: { lastMs: -1, sequence: 0 } }),
})

/** @throws Error for a file that holds another database, or whose pages are damaged */
export const soundState = (database: Database, seed: string): StateBesideData => {
  requireSoundPages(database)
  return keptState(database.query, seed)
}

export const resumePace = (world: World): void => void Object.assign(world.of(pace), findPace(world.db.query))

export const keptClock = ({ query }: Database, base: SteadyClock): MovableClock =>
  new MovableClock(base, findClock(query))
