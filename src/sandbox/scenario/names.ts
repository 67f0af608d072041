import { createHash } from 'node:crypto'
import { SeededRandomness, seedFrom } from '../../kernel/ids.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { PROBLEMS_MAX, type Problem, ScenarioFault } from './loading.ts'
import type { Scenario } from './schema.ts'

/** What the records of a document are called. */

/** What a record is called by the document, unique among some others. */
interface Name {
  path: string
  among: string
  name: string | number
}

function* namesIn({ beneficiaries = [], orders = [], payouts = [] }: Scenario): Generator<Name> {
  const referencesOf = (list: string, client: string = SANDBOX_USERNAME) => `references of ${list} of ${client}`
  for (const [index, { id }] of beneficiaries.entries()) {
    if (id !== undefined) yield { path: `/beneficiaries/${index}/id`, among: 'beneficiaries', name: id }
  }
  for (const [index, { id, client, client_reference: reference }] of orders.entries()) {
    const path = `/orders/${index}`
    if (id !== undefined) yield { path: `${path}/id`, among: 'orders', name: id }
    if (reference !== undefined) {
      yield { path: `${path}/client_reference`, among: referencesOf('orders', client), name: reference }
    }
  }
  for (const [index, { id, client, reference_id: reference }] of payouts.entries()) {
    const path = `/payouts/${index}`
    if (id !== undefined) yield { path: `${path}/id`, among: 'payouts', name: id }
    // The id stands in for a reference.
    const name = reference ?? id
    if (name !== undefined) {
      const member = reference === undefined ? 'id' : 'reference_id'
      yield { path: `${path}/${member}`, among: referencesOf('payouts', client), name }
    }
  }
}

/** A digest of all, undefined if there are none. @throws ScenarioFault for one that comes twice */
export const digestOfNames = (document: Scenario): string | undefined => {
  const seen = new Set<string>()
  const digest = createHash('sha256')
  const problems: Problem[] = []
  for (const { path, among, name } of namesIn(document)) {
    const key = `${among} ${name}`
    if (seen.has(key) && problems.length < PROBLEMS_MAX) {
      problems.push({ path, what: `${name} is taken by an earlier record` })
    }
    seen.add(key)
    digest.update(`${key}\n`)
  }
  if (problems.length > 0) throw new ScenarioFault(problems)
  return seen.size === 0 ? undefined : digest.digest('hex')
}

/**
 * The names of a document may have been drawn from the same stream, in the world from which it was exported: then another
 * stream goes on, which depends on them, so that nothing has a name for the second time.
 */
export const randomnessFor = (
  names: string | undefined,
  before: { seed: string; position: number },
): SeededRandomness =>
  names === undefined
    ? new SeededRandomness(before.seed, before.position)
    : new SeededRandomness(seedFrom(before, names))
