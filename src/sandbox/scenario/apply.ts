import type { Tx } from '../../db/database.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import { SeededRandomness, seedFrom } from '../../kernel/ids.ts'
import { turns } from '../../kernel/turns.ts'
import { allClients, copyLogins, findPasswordDigest, setPasswordDigest } from '../../sessions/queries.ts'
import { copyWebhooks } from '../../webhooks/queries.ts'
import type { World } from '../../worlds/world.ts'
import { addRule, clearRules } from '../faults/rules.ts'
import type { Parts } from '../parts.ts'
import { createUnclaimed, putBack, worldDigest } from '../worlds/accounts.ts'
import { keepBesideData } from '../worlds/state.ts'
import type { Saved } from '../worlds/store.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { newRules } from './faults.ts'
import { type Beginning, type Draft, drafted, firstOf } from './load.ts'
import { type Problem, ScenarioFault } from './loading.ts'
import type { Scenario } from './schema.ts'
import { withLinesBeside } from './yaml-beside.ts'

/** Makes and replaces worlds by documents. */

/** Replaces a world in the same step in which its last tokens and webhooks are taken over. */
export const replaceByScenario = async (parts: Parts, world: World, document: Scenario): Promise<World> => {
  const { worlds, scenarios } = parts
  const rules = newRules(document, parts.outcomes)
  const draft = await resultInTurns(world, drafted(document, scenarios, worlds.clock, beginningOf(worlds.seed, world)))
  const next = await inPlace(worlds, draft, {
    owner: world,
    finish: (tx) => takeOver(world, tx, draft.clientIds),
    put: (saved) => putBack(worlds, world, saved),
  })
  clearRules(next)
  for (const rule of rules) addRule(next, rule)
  return next
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

/** Makes a world of a document, or puts one back to it. @throws ScenarioFault, or DomainError worlds_exhausted */
export const makeOfScenario = async (parts: Parts, name: string, document: Scenario): Promise<World> => {
  const { worlds, scenarios, outcomes } = parts
  const rules = newRules(document, outcomes)
  const draft = await resultInTurns(name, drafted(document, scenarios, worlds.clock, firstOf(worlds.seed)))
  const made = await inPlace(worlds, draft, {
    owner: name,
    finish: () => undefined,
    put: (saved) => {
      const existing = worlds.find(name)
      return existing ? putBack(worlds, existing, saved) : createUnclaimed(worlds, name, saved)
    },
  })
  for (const rule of rules) addRule(made, rule)
  return made
}

interface Placing {
  /** Whose turn it takes. */
  owner: unknown
  /** Writes what is to be taken over at the last moment. */
  finish: (tx: Tx) => void
  put: (saved: Saved) => World
}

/** Brings a draft to its place. A large one is written to a file first, beside other requests. */
const inPlace = async (worlds: SandboxWorlds, draft: Draft, { owner, finish, put }: Placing): Promise<World> => {
  const { database, state } = draft
  using staged = await worlds.stage(database)
  return turns.take(owner, () => {
    const last = staged?.open() ?? database
    try {
      last.fill(finish)
      if (staged) keepBesideData(last, state)
    } catch (error) {
      last.close()
      throw error
    }
    if (!staged) return put({ image: last.closeToImage(), ...state })
    last.close()
    return put(staged)
  })
}

/** Runs a generator in time slices, and calls back with what it yields. The last callback gets what it returns. */
export const inTurns = async <Piece, Result>(
  owner: unknown,
  steps: Generator<Piece, Result>,
  onPiece: (piece: Piece) => void,
  onResult: (result: Result) => void = () => undefined,
): Promise<void> => {
  let isDone = false
  const slice = (isOver: () => boolean) => {
    do {
      const step = steps.next()
      isDone = step.done === true
      if (step.done) onResult(step.value)
      else onPiece(step.value)
    } while (!isDone && !isOver())
  }
  while (!isDone) await turns.take(owner, slice)
}

/** Runs a generator in time slices, for what it returns. */
export const resultInTurns = async <Result>(owner: unknown, steps: Generator<undefined, Result>): Promise<Result> => {
  const results: Result[] = []
  await inTurns(
    owner,
    steps,
    () => undefined,
    (result) => results.push(result),
  )
  const [result] = results
  if (result === undefined) throw new Error('a generator that returns nothing')
  return result
}

/** @throws DomainError validation with every problem of a document */
export const refusing = async <T>(work: () => Promise<T>, text = ''): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error
    const { problems } = text === '' ? error : await withLinesBeside(error, text)
    throw new DomainError(invalid(problems.map(violationOf)))
  }
}

const violationOf = ({ path, what, line }: Problem) => {
  const field = path === '' ? 'scenario' : path.slice(1).replaceAll('/', '.')
  const place = line === undefined ? field : `line ${line}, ${field}`
  return { field, rule: 'format' as const, problem: what, message: `${place}: ${what}` }
}
