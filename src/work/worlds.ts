import type { World } from './world.ts'

/** The world of live mode, and the one that a sandbox has before any is created. */
export const DEFAULT_WORLD = 'default'

export interface Worlds {
  readonly default: World
  readonly names: readonly string[]
  /** The worlds that were used since the start. */
  readonly all: readonly World[]
  find: (name: string) => World | undefined
  /** Called regularly, to free the memory of idle worlds. */
  rest: () => void
  close: () => void
}

export const onlyWorld = (world: World): Worlds => ({
  default: world,
  names: [DEFAULT_WORLD],
  all: [world],
  find: (name) => (name === DEFAULT_WORLD ? world : undefined),
  rest: () => undefined,
  close: () => world.close(),
})
