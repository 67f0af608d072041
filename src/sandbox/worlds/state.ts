import type { Database } from '../../db/database.ts'
import type { SteadyClock } from '../../kernel/clock.ts'
import { type IdState, SeededRandomness } from '../../kernel/ids.ts'
import { World } from '../../worlds/world.ts'
import { sharedImage } from './images.ts'
import { type ClockState, MovableClock } from './movable-clock.ts'
import { type Pace, pace } from './pace.ts'
import { findClock, findPace, putClock } from './queries.ts'

/** A world put down on paper: its data, its clock, and where its randomness stands (contract C15). */
export interface WorldState {
  image: Uint8Array
  clock: ClockState
  randomness: { seed: string; position: number }
  ids: IdState
  pace: { payouts: Pace; orders: Pace }
}

/** Limits, caches and the request log are not part of a state: they start empty. */
export const stateOf = (world: World, seed: string): WorldState => ({
  image: world.db.image(),
  clock: clockOf(world).state,
  randomness:
    world.randomness instanceof SeededRandomness
      ? { seed: world.randomness.seed, position: world.randomness.position }
      : { seed, position: 0 },
  ids: world.ids.state,
  pace: { ...world.of(pace) },
})

export const clockOf = ({ clock }: World): MovableClock => {
  if (clock instanceof MovableClock) return clock
  throw new Error('a sandbox world has a clock that can be moved')
}

export const worldFrom = (
  name: string,
  state: WorldState,
  base: SteadyClock,
  onResume?: (world: World) => void,
): World => {
  const { seed, position } = state.randomness
  const clock = new MovableClock(base, state.clock)
  const randomness = new SeededRandomness(seed, position)
  const world = new World(name, sharedImage(state.image), clock, randomness, state.ids, onResume)
  Object.assign(world.of(pace), state.pace)
  return world
}

/** Keeps where the clock of a world on file stands, so that its data is never of a later time than the clock. */
export const keepClock = async (world: World): Promise<void> => {
  if (world.db.onFile) await world.db.write((tx) => putClock(tx, clockOf(world).state))
}

export const resumePace = (world: World): void => void Object.assign(world.of(pace), findPace(world.db.query))

export const keptClock = ({ query }: Database, base: SteadyClock): MovableClock =>
  new MovableClock(base, findClock(query))
