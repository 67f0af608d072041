import { DomainError, violated } from '../../kernel/failure.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import { CONNECTION_DROPPED } from '../errors.ts'
import type { OutcomeRegistry } from '../requests/outcomes.ts'
import { DELAY_HEADER, FAULT_HEADER } from './headers.ts'
import { fits } from './pattern.ts'

/** A rule that makes requests of a world fail, wait or break off (contract C15). */
export interface FaultRule {
  id: number
  /** The name of a documented error. */
  error: string | null
  delayMs: number
  /** Breaks the connection off without an answer. */
  drop: boolean
  match: { method: string | null; path: string | null }
  /** How often it still fires; null without end. */
  timesLeft: number | null
  /** 0 to 1; drawn from the world's own randomness. */
  probability: number
}

export const DELAY_MS_MAX = 60_000
/** How many rules one world holds. */
export const RULES_MAX = 1_000

interface Faults {
  rules: FaultRule[]
  lastId: number
  /** Its own stream, so that a rule does not change the ids of what is created. */
  randomness: SeededRandomness
}

const faults = worldPart<Faults>(({ randomness }) => ({
  rules: [],
  lastId: 0,
  randomness: new SeededRandomness(randomness instanceof SeededRandomness ? `faults ${randomness.seed}` : 'faults'),
}))

export const rulesOf = (world: World): readonly FaultRule[] => world.of(faults).rules

export const addRule = (world: World, rule: Omit<FaultRule, 'id'>): FaultRule => {
  const own = world.of(faults)
  const added = { id: ++own.lastId, ...rule }
  own.rules.push(added)
  return added
}

export const clearRules = (world: World): void => {
  world.of(faults).rules = []
}

/** A request as faults see it. */
export interface FaultTarget {
  request: Request
  path: string
  /** The route that serves it, with its parameters unnamed. */
  route: string
}

/** What happens to a request before anything else is done for it. */
export interface Fault {
  name: string
  delayMs: number
  drop: boolean
  error: DomainError | undefined
}

/**
 * The fault that a request asks for in its headers, or that a rule of its world injects. An error occurs only where it
 * is documented.
 *
 * @throws DomainError validation when a header asks for what does not exist
 */
export const findFault = (outcomes: OutcomeRegistry, world: World, target: FaultTarget): Fault | undefined =>
  requestedFault(outcomes, target) ?? faultByRule(outcomes, world, target)

const requestedFault = (outcomes: OutcomeRegistry, { request, route }: FaultTarget): Fault | undefined => {
  const name = request.headers.get(FAULT_HEADER)
  const delay = request.headers.get(DELAY_HEADER)
  if (name === null && delay === null) return undefined
  const failure = name === null ? undefined : outcomes.failureAt(request.method, route, name)
  const delayMs = Number(delay ?? 0)
  if (name !== null && !failure) {
    throw violated(FAULT_HEADER, 'enum', 'must be the name of an error of this endpoint; see GET /_sandbox/errors')
  }
  if (delay !== null && (!/^\d{1,5}$/.test(delay) || delayMs > DELAY_MS_MAX)) {
    throw violated(DELAY_HEADER, 'enum', `must be a whole number of milliseconds up to ${DELAY_MS_MAX}`)
  }
  return { name: name ?? 'delay', delayMs, drop: false, error: failure && new DomainError(failure) }
}

const faultByRule = (outcomes: OutcomeRegistry, world: World, target: FaultTarget): Fault | undefined => {
  const own = world.of(faults)
  for (const rule of own.rules) {
    if (rule.timesLeft === 0 || !matches(rule, target)) continue
    const failure =
      rule.error === null ? undefined : outcomes.failureAt(target.request.method, target.route, rule.error)
    if (rule.error !== null && !failure) continue
    if (rule.probability < 1 && fraction(own.randomness) >= rule.probability) continue
    if (rule.timesLeft !== null) rule.timesLeft -= 1
    const name = rule.error ?? (rule.drop ? 'drop' : 'delay')
    return { name, delayMs: rule.delayMs, drop: rule.drop, error: failure && new DomainError(failure) }
  }
  return undefined
}

const matches = ({ match }: FaultRule, { request, path, route }: FaultTarget): boolean =>
  (match.method === null || match.method === request.method) &&
  (match.path === null || match.path === route || fits(match.path, path))

const FRACTION_BYTES = 4

const fraction = (randomness: SeededRandomness): number => {
  const view = new DataView(randomness.bytes(FRACTION_BYTES).buffer)
  return view.getUint32(0) / 2 ** (8 * FRACTION_BYTES)
}

/** Waits, then drops the connection or fails. @throws DomainError */
export const inject = async ({ delayMs, drop, error }: Fault): Promise<void> => {
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (drop) throw new DomainError(CONNECTION_DROPPED)
  if (error) throw error
}
