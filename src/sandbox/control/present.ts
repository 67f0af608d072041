import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/model.ts'

/** A world after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async ({ worlds, due }: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUp(world)
  return world
}
