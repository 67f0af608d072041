import type { Tx } from '../../db/database.ts'
import { allClients, copyLogins, deleteLogins } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { restoreRules, rulesOf } from '../faults/rules.ts'
import type { Parts } from '../parts.ts'
import { repliesOf, setReply } from '../webhooks/inbox.ts'
import { makeWorld } from '../worlds/accounts.ts'
import { imageOf } from '../worlds/state.ts'
import type { ScenarioStep } from './scenario.ts'

/**
 * Makes a world from a scenario, or replaces one: a scenario that stops changes nothing. The tokens of a world that is replaced live on.
 *
 * @throws DomainError scenario_stopped, worlds_exhausted
 */
export const worldOfSteps = async (
  { worlds, stage }: Parts,
  name: string,
  steps: readonly ScenarioStep[],
): Promise<World> => {
  using staged = await stage(name, steps)
  const { world } = staged
  // No request comes between this and the replacement.
  const before = worlds.find(name)
  before?.db.flush()
  world.db.fill((tx) => {
    deleteLogins(tx)
    if (before) keepLogins(before, world, tx)
  })
  const placed = makeWorld(worlds, name, imageOf(world))
  applySettings(placed, settingsOf(world))
  return placed
}

const keepLogins = (before: World, world: World, tx: Tx): void => {
  const names = new Map(allClients(world.db.query).map(({ id, username }) => [id, username]))
  const kept = allClients(before.db.query).filter(({ id, username }) => names.get(id) === username)
  copyLogins(
    before.db.query,
    tx,
    kept.map(({ id }) => id),
  )
}

/** Fault rules and responses of inboxes, which are in no database. */
export const settingsOf = (world: World) => ({ rules: [...rulesOf(world)], replies: new Map(repliesOf(world)) })

export type Settings = ReturnType<typeof settingsOf>

export const applySettings = (world: World, { rules, replies }: Settings): void => {
  restoreRules(
    world,
    rules.map((rule) => ({ ...rule })),
  )
  for (const [name, reply] of replies) setReply(world, name, reply)
}
