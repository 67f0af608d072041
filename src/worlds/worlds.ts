import type { World } from './world.ts'

/** The world that has no name of its own. Live mode has no other. */
export const DEFAULT_WORLD = 'default'

/** The worlds of a process. */
export interface Worlds {
  readonly default: World
  readonly all: readonly World[]
  find: (name: string) => World | undefined
  /** Called at each tick of time: what nobody uses gives its memory back. */
  rest: () => void
  close: () => void
}

/** The worlds of live mode. */
export const onlyWorld = (world: World): Worlds => ({
  default: world,
  all: [world],
  find: (name) => (name === DEFAULT_WORLD ? world : undefined),
  rest: () => undefined,
  close: () => world.close(),
})
