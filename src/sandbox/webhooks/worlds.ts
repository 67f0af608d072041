import { nextTurn } from '../../kernel/turns.ts'
import type { Log } from '../../observability/log.ts'
import type { Deliveries } from '../../webhooks/deliveries.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'

/** Delivers waiting events in every world, used or not: in copies, and in worlds that an earlier process left. */
export const resumeDeliveries = async (worlds: SandboxWorlds, deliveries: Deliveries, log: Log): Promise<void> => {
  await nextTurn() // the start comes first
  const unlessDamaged = (world: string, read: () => void): void => {
    try {
      read()
    } catch (error) {
      log.error('a world cannot be read', { world, cause: String(error) })
    }
  }
  worlds.onPresent((world, { isSeeded }) => {
    // The default world is watched each second, but not during the start. Nothing waits in a seeded world.
    if (world.name !== DEFAULT_WORLD && !isSeeded) unlessDamaged(world.name, () => deliveries.watch(world))
  })
  for (const name of worlds.names) {
    if (worlds.default.closed) return
    unlessDamaged(name, () => void worlds.find(name))
    await nextTurn()
  }
}
