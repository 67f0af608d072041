import type { DueWork } from '../../worlds/due.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { getWorld } from '../worlds/model.ts'

/** What the operations need that do what an operator does in live mode. */
export interface OperatorOptions {
  worlds: Worlds
  due: DueWork
}

/** A world after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async ({ worlds, due }: OperatorOptions, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUp(world)
  return world
}
