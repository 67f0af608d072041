import type { Asked } from '../../http/request-id.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { Rule } from './contract.ts'
import { fits } from './pattern.ts'

export const RULES_MAX = 1_000

interface Rules {
  all: Rule[]
  lastId: number
  /** A separate stream of the world's seed, so that a rule does not change the ids of what is created. */
  randomness: SeededRandomness
}

const rules = worldPart<Rules>(({ randomness }) => ({
  all: [],
  lastId: 0,
  randomness: new SeededRandomness(randomness instanceof SeededRandomness ? `faults ${randomness.seed}` : 'faults'),
}))

export const rulesOf = (world: World): readonly Rule[] => world.of(rules).all

export const addRule = (world: World, rule: Omit<Rule, 'id'>): Rule => {
  const own = world.of(rules)
  const added = { id: ++own.lastId, ...rule }
  own.all.push(added)
  return added
}

/** Goes on with the rules of another process. */
export const restoreRules = (world: World, all: readonly Rule[]): void => {
  Object.assign(world.of(rules), { all: [...all], lastId: all.at(-1)?.id ?? 0 })
}

export const clearRules = (world: World): void => {
  world.of(rules).all = []
}

/** Returns false if there is no such rule. */
export const removeRule = (world: World, id: number | undefined): boolean => {
  const own = world.of(rules)
  const left = own.all.filter((rule) => rule.id !== id)
  const isRemoved = left.length < own.all.length
  own.all = left
  return isRemoved
}

/** Uses up the first rule that applies to a request. A rule for an error applies only where the error `canOccur`. */
export const takeRule = (world: World, target: Asked, canOccur: (error: string) => boolean): Rule | undefined => {
  const { all, randomness } = world.of(rules)
  for (const rule of all) {
    if (rule.webhook !== undefined || rule.times_left === 0 || !matches(rule, target)) continue
    if (rule.error !== null && !canOccur(rule.error)) continue
    if (rule.probability < 1 && fraction(randomness) >= rule.probability) continue
    if (rule.times_left !== null) rule.times_left -= 1
    return rule
  }
  return undefined
}

const matches = ({ match }: Rule, { request, path, route }: Asked): boolean =>
  (match.method === null || match.method === request.method) &&
  (match.path === null || match.path === route || fits(match.path, path))

const fraction = (randomness: SeededRandomness): number =>
  new DataView(randomness.bytes(4).buffer).getUint32(0) / 2 ** 32
