import { Database } from '../db/database.ts'
import { type Clock, type ClockState, MovableClock } from '../kernel/clock.ts'
import { type IdState, SeededRandomness } from '../kernel/ids.ts'
import { type Pace, pace } from './pace.ts'
import { World } from './world.ts'

/** A world put down on paper: its data, its clock, and where its randomness stands (contract C15). */
export interface WorldState {
  image: Uint8Array
  clock: ClockState
  randomness: { seed: string; position: number }
  ids: IdState
  pace: { payouts: Pace; orders: Pace }
}

/** What limits, caches and the journal hold is not kept: they begin anew. */
export const stateOf = (world: World, seed: string): WorldState => ({
  image: world.db.image(),
  clock: world.clock instanceof MovableClock ? world.clock.state : { offsetMs: 0, frozenAtMs: null },
  randomness:
    world.randomness instanceof SeededRandomness
      ? { seed: world.randomness.seed, position: world.randomness.position }
      : { seed, position: 0 },
  ids: world.ids.state,
  pace: { ...world.of(pace) },
})

/** A world in memory that goes on from a state. */
export const worldFrom = (name: string, state: WorldState, base: Clock): World => {
  const { seed, position } = state.randomness
  const clock = new MovableClock(base, state.clock)
  const world = new World(name, Database.inMemory(state.image), clock, new SeededRandomness(seed, position), state.ids)
  Object.assign(world.of(pace), state.pace)
  return world
}
