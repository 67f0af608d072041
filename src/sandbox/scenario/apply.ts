import type { Tx } from '../../db/database.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import { SeededRandomness, seedFrom } from '../../kernel/ids.ts'
import { nextTurn } from '../../kernel/turns.ts'
import { allClients, copyLogins, findPasswordDigest, setPasswordDigest } from '../../sessions/queries.ts'
import { copyWebhooks } from '../../webhooks/queries.ts'
import type { World } from '../../worlds/world.ts'
import { addRule, clearRules } from '../faults/rules.ts'
import type { Parts } from '../parts.ts'
import { makeWorld, putBack, worldDigest } from '../worlds/accounts.ts'
import { imageWith } from '../worlds/state.ts'
import { newRules } from './faults.ts'
import { withLines } from './format.ts'
import { type Beginning, firstOf, type Staged, staged } from './load.ts'
import { finish as atOnce, type Problem, ScenarioFault } from './loading.ts'
import type { Scenario } from './schema.ts'

/** Makes and replaces worlds from documents. */

/** Replaces a world in the same step in which its last tokens and webhooks are taken over. */
export const replaceByScenario = (parts: Parts, world: World, document: Scenario): Promise<World> =>
  loaded(parts, document, beginningOf(parts.worlds.seed, world), {
    finish: (tx, clientIds) => takeOver(world, tx, clientIds),
    put: (saved) => putBack(parts.worlds, world, saved),
  })

/** Makes a world from a document, or resets one to it. @throws ScenarioFault, or DomainError worlds_exhausted */
export const makeOfScenario = (parts: Parts, name: string, document: Scenario): Promise<World> =>
  loaded(parts, document, firstOf(parts.worlds.seed), {
    finish: () => undefined,
    put: (saved) => makeWorld(parts.worlds, name, saved),
  })

interface Placing {
  /** Taken over at the last moment: no request comes between this and the replacement. */
  finish: (tx: Tx, clientIds: Staged['clientIds']) => void
  put: (image: Uint8Array) => World
}

const loaded = async (
  { worlds, scenarios, outcomes }: Parts,
  document: Scenario,
  beginning: Beginning,
  { finish, put }: Placing,
): Promise<World> => {
  const rules = newRules(document, outcomes)
  const steps = staged(document, scenarios, worlds.clock, beginning)
  const { database, state, clientIds } = atOnce(steps)
  try {
    await nextTurn() // logins that are being written are taken over
    database.fill((tx) => finish(tx, clientIds))
  } catch (error) {
    database.close()
    throw error
  }
  const world = put(imageWith(database, state))
  clearRules(world)
  for (const rule of rules) addRule(world, rule)
  return world
}

/** Another stream of randomness: the world that is replaced draws from its own until then, for logins that are taken over. */
const beginningOf = (seed: string, { randomness, ids }: World): Beginning => {
  const before = randomness instanceof SeededRandomness ? randomness : { seed, position: 0 }
  return { randomness: { seed: seedFrom(before, 'replaced'), position: 0 }, ids: ids.state }
}

/** Tokens, passwords of their own, and webhooks. */
const takeOver = (world: World, tx: Tx, clientIds: ReadonlyMap<string, number>): void => {
  const { db } = world
  const kept = allClients(db.query).filter(({ id, username }) => clientIds.get(username) === id)
  for (const { id } of kept) {
    const digest = findPasswordDigest(db.query, id)
    if (digest !== undefined && digest !== worldDigest(world)) setPasswordDigest(tx, id, digest)
  }
  const ids = kept.map(({ id }) => id)
  copyLogins(db.query, tx, ids)
  copyWebhooks(db.query, tx, ids)
}

/** @throws DomainError validation with every problem of a document */
export const refusing = async <T>(work: () => Promise<T>, text = ''): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error
    const { problems } = text === '' ? error : withLines(error, text)
    throw new DomainError(invalid(problems.map(violationOf)))
  }
}

const violationOf = ({ path, what, line }: Problem) => {
  const field = path === '' ? 'scenario' : path.slice(1).replaceAll('/', '.')
  const place = line === undefined ? field : `line ${line}, ${field}`
  return { field, rule: 'format' as const, problem: what, message: `${place}: ${what}` }
}
