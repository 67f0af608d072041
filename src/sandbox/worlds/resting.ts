import { type World, worldPart } from '../../worlds/world.ts'

/** While a world rests, what it has recorded is out of memory. Whoever adds to it brings it back first. */

const resting = worldPart<{ wake: (() => void) | undefined }>(() => ({ wake: undefined }))

export const isResting = (world: World): boolean => world.of(resting).wake !== undefined

export const onWake = (world: World, wake: () => void): void => {
  world.of(resting).wake = wake
}

/** To wake a world is to use it. */
export const wake = (world: World): void => {
  const own = world.of(resting)
  const { wake } = own
  own.wake = undefined
  world.wasUsed = true
  wake?.()
}
