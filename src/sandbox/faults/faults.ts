import { type TObject, Type } from '@sinclair/typebox'
import type { Operation } from '../../http/operation.ts'
import { DomainError, violated } from '../../kernel/failure.ts'
import { SeededRandomness } from '../../kernel/ids.ts'
import type { Asked } from '../../sessions/guard.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import { CONNECTION_DROPPED } from '../errors.ts'
import type { OutcomeRegistry } from '../requests/outcomes.ts'
import { DELAY_MS_MAX, type Rule } from './operations.ts'
import { fits } from './pattern.ts'

const FAULT_HEADER = 'X-Sandbox-Fault'
const DELAY_HEADER = 'X-Sandbox-Delay'

const FaultHeaders = Type.Object({
  [FAULT_HEADER]: Type.Optional(
    Type.String({
      description: 'The name of an error of this operation, which is answered instead: see GET /_sandbox/errors',
    }),
  ),
})

/** The headers by which the documentation lets readers ask for a fault. */
export const faultHeadersOf = ({ tag, isProbe }: Operation): TObject | undefined =>
  tag === 'Sandbox' || isProbe ? undefined : FaultHeaders

export const RULES_MAX = 1_000

interface Faults {
  rules: Rule[]
  lastId: number
  /** Its own stream, so that a rule does not change the ids of what is created. */
  randomness: SeededRandomness
}

const faults = worldPart<Faults>(({ randomness }) => ({
  rules: [],
  lastId: 0,
  randomness: new SeededRandomness(randomness instanceof SeededRandomness ? `faults ${randomness.seed}` : 'faults'),
}))

export const rulesOf = (world: World): readonly Rule[] => world.of(faults).rules

export const addRule = (world: World, rule: Omit<Rule, 'id'>): Rule => {
  const own = world.of(faults)
  const added = { id: ++own.lastId, ...rule }
  own.rules.push(added)
  return added
}

export const clearRules = (world: World): void => {
  world.of(faults).rules = []
}

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
export const findFault = (outcomes: OutcomeRegistry, world: World, target: Asked): Fault | undefined =>
  requestedFault(outcomes, target) ?? faultByRule(outcomes, world, target)

const requestedFault = (outcomes: OutcomeRegistry, { request, route }: Asked): Fault | undefined => {
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

const faultByRule = (outcomes: OutcomeRegistry, world: World, target: Asked): Fault | undefined => {
  const own = world.of(faults)
  for (const rule of own.rules) {
    if (rule.times_left === 0 || !matches(rule, target)) continue
    const failure =
      rule.error === null ? undefined : outcomes.failureAt(target.request.method, target.route, rule.error)
    if (rule.error !== null && !failure) continue
    if (rule.probability < 1 && fraction(own.randomness) >= rule.probability) continue
    if (rule.times_left !== null) rule.times_left -= 1
    const name = rule.error ?? (rule.drop ? 'drop' : 'delay')
    return { name, delayMs: rule.delay_ms, drop: rule.drop, error: failure && new DomainError(failure) }
  }
  return undefined
}

const matches = ({ match }: Rule, { request, path, route }: Asked): boolean =>
  (match.method === null || match.method === request.method) &&
  (match.path === null || match.path === route || fits(match.path, path))

const fraction = (randomness: SeededRandomness): number =>
  new DataView(randomness.bytes(4).buffer).getUint32(0) / 2 ** 32

/** Waits, then drops the connection or fails. @throws DomainError */
export const inject = async ({ delayMs, drop, error }: Fault): Promise<void> => {
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (drop) throw new DomainError(CONNECTION_DROPPED)
  if (error) throw error
}
