import type { Resource } from '../../kernel/failure.ts'
import { found } from '../../kernel/failure.ts'
import type { DueWork } from '../../worlds/due.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { worldOf } from './control.ts'

/** What the routes on wallets, payouts and orders share: they do what an operator does in live mode. */

export interface OperatorOptions {
  worlds: Worlds
  due: DueWork
}

/** The world that a control request is about, after all work that is due in it. @throws DomainError world_not_found */
export const presentWorldOf = async ({ worlds, due }: OperatorOptions, request: Request): Promise<World> => {
  const world = worldOf(worlds, request)
  await due.catchUp(world)
  return world
}

/** A record of either client of a world. */
export const findOfEither = <T>(find: (clientId: number) => T | undefined): T | undefined =>
  find(SANDBOX_CLIENT_IDS.sandbox) ?? find(SANDBOX_CLIENT_IDS.limited)

/** @throws DomainError not_found */
export const getOfEither = <T>(resource: Resource, find: (clientId: number) => T | undefined): T =>
  found(findOfEither(find), resource)
