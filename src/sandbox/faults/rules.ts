import type { Incoming } from '../../http/incoming.ts'
import { violated } from '../../kernel/failure.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import { type World, worldPart } from '../../work/world.ts'
import { isExempt } from '../control/access.ts'
import type { OutcomeRegistry } from '../requests/outcomes.ts'
import { ERROR_PROBLEM, type Rule, type RuleRequest } from './contract.ts'
import { fits, PATTERN_LENGTH_MAX, reaches } from './pattern.ts'

export const RULES_MAX = 1_000

interface Rules {
  all: Rule[]
  lastId: number
  /** A separate stream of the world's seed, so that a rule does not change the ids of new records. */
  randomness: SeededRandomness
}

const rules = worldPart<Rules>(({ randomness }) => ({
  all: [],
  lastId: 0,
  randomness: new SeededRandomness(randomness instanceof SeededRandomness ? `faults ${randomness.seed}` : 'faults'),
}))

export const rulesOf = (world: World): readonly Rule[] => world.of(rules).all

export const addRule = (world: World, rule: Omit<Rule, 'id'>): Rule => {
  const worldRules = world.of(rules)
  const added = { id: ++worldRules.lastId, ...rule }
  worldRules.all.push(added)
  return added
}

/** Continues with the rules of another process. */
export const restoreRules = (world: World, all: readonly Rule[]): void => {
  Object.assign(world.of(rules), { all: [...all], lastId: all.at(-1)?.id ?? 0 })
}

export const clearRules = (world: World): void => {
  world.of(rules).all = []
}

/** Returns false if there is no such rule. */
export const removeRule = (world: World, id: number | undefined): boolean => {
  const worldRules = world.of(rules)
  const left = worldRules.all.filter((rule) => rule.id !== id)
  const isRemoved = left.length < worldRules.all.length
  worldRules.all = left
  return isRemoved
}

/** Uses up the first rule that applies to a request. A rule for an error applies only where the error `canOccur`. */
export const takeRule = (world: World, incoming: Incoming, canOccur: (error: string) => boolean): Rule | undefined => {
  const { all, randomness } = world.of(rules)
  for (const rule of all) {
    if (rule.webhook !== undefined || rule.times_left === 0 || !matches(rule, incoming)) continue
    if (rule.error !== null && !canOccur(rule.error)) continue
    if (rule.probability < 1 && fraction(randomness) >= rule.probability) continue
    if (rule.times_left !== null) rule.times_left -= 1
    return rule
  }
  return undefined
}

const matches = ({ match }: Rule, { request, path, route }: Incoming): boolean =>
  (match.method === null || match.method === request.method) &&
  (match.path === null || match.path === route || fits(match.path, path))

const fraction = (randomness: SeededRandomness): number =>
  new DataView(randomness.bytes(4).buffer).getUint32(0) / 2 ** 32

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
const EFFECT_PROBLEM = 'is required, or status, delay_ms, drop, cut_after_bytes or bytes_per_second'
const MATCH_PROBLEM = 'must fit an endpoint where the rule can apply; see GET /_sandbox/errors'

/** Makes a rule of a request for one. @throws DomainError validation when it can never apply */
export const newRule = (ruleRequest: RuleRequest, outcomes: OutcomeRegistry): Omit<Rule, 'id'> => {
  const rule = ruleOf(ruleRequest)
  const { error, status, probability, match } = rule
  if (rule.webhook !== undefined) return deliveryRule(rule)
  if (match.type !== undefined) throw violated('match', 'format', 'can have a type only with webhook')
  if (error !== null && !outcomes.canOccur(error)) throw violated('error', 'enum', ERROR_PROBLEM)
  if (error !== null && status !== null) throw violated('status', 'format', 'cannot be combined with error')
  if (!hasEffect(rule)) throw violated('error', 'required', EFFECT_PROBLEM)
  if (match.method !== null && !METHODS.includes(match.method)) {
    throw violated('match', 'enum', `must have a method of ${METHODS.join(', ')}`)
  }
  if (probability === 0) throw violated('probability', 'min', 'must be more than 0: the rule would never apply')
  if (match.path !== null && match.path.length > PATTERN_LENGTH_MAX) {
    throw violated('match', 'max', `must have a path of at most ${PATTERN_LENGTH_MAX} characters`)
  }
  if (!outcomes.canOccur(error, fitting(match))) throw violated('match', 'enum', MATCH_PROBLEM)
  return rule
}

/** A rule for deliveries applies to no request (contract C16). @throws DomainError validation */
const deliveryRule = (rule: Omit<Rule, 'id'>): Omit<Rule, 'id'> => {
  if (hasEffect(rule)) throw violated('webhook', 'format', 'cannot be combined with an effect on requests')
  if (rule.probability !== 1) throw violated('probability', 'format', 'cannot be combined with webhook')
  if (rule.match.method !== null || rule.match.path !== null) {
    throw violated('match', 'format', 'must contain only a type with webhook')
  }
  return rule
}

/** The effect of a rule that names none. */
export const NO_EFFECT = {
  error: null,
  status: null,
  delay_ms: 0,
  drop: false,
  cut_after_bytes: null,
  bytes_per_second: null,
  when: 'before',
} as const

const ruleOf = ({ match = {}, times, probability = 1, ...rest }: RuleRequest): Omit<Rule, 'id'> => ({
  ...NO_EFFECT,
  ...rest,
  match: { path: null, ...match, method: match.method?.toUpperCase() ?? null },
  times_left: times ?? null,
  probability,
})

const hasEffect = ({ error, status, delay_ms, drop, cut_after_bytes, bytes_per_second }: Omit<Rule, 'id'>): boolean =>
  error !== null || status !== null || delay_ms > 0 || drop || cut_after_bytes !== null || bytes_per_second !== null

const fitting =
  ({ method, path }: Rule['match']) =>
  (served: string, route: string): boolean =>
    !isExempt(route) && (method === null || method === served) && (path === null || reaches(path, route))
