import { type World, worldPart } from '../../work/world.ts'

/** The journal of a world at rest is not in memory. Code that adds to it loads it first. */

const resting = worldPart<{ wake: (() => void) | undefined }>(() => ({ wake: undefined }))

export const isResting = (world: World): boolean => world.of(resting).wake !== undefined

export const onWake = (world: World, wake: () => void): void => {
  world.of(resting).wake = wake
}

/** Loads the journal of a world, which counts as a use. */
export const wake = (world: World): void => {
  const restState = world.of(resting)
  const { wake } = restState
  restState.wake = undefined
  world.wasUsed = true
  wake?.()
}
