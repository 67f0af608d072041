import { Type } from '@sinclair/typebox'
import type { Incoming } from '../../http/incoming.ts'
import { errorsOf, type Operation } from '../../http/operation.ts'
import { DomainError, type Failure, violated, violation } from '../../kernel/failure.ts'
import type { World } from '../../work/world.ts'
import { CONNECTION_DROPPED, gatewayFailure } from '../errors.ts'
import { DELAY_MS_MAX, type Rule } from './contract.ts'
import { NO_EFFECT, takeRule } from './rules.ts'

const FAULT_HEADER = 'X-Sandbox-Fault'
const DELAY_HEADER = 'X-Sandbox-Delay'

const FaultHeaders = Type.Object({
  [FAULT_HEADER]: Type.Optional(
    Type.String({
      description:
        'The name of an error of this operation, which is returned instead: see GET /_sandbox/errors. Append `; when=after` to do the work and replace only the response. An empty value injects nothing.',
      default: '',
    }),
  ),
})

/** The headers that ask for a fault in the documentation, and the error of an unknown one. */
export const FAULT_REQUEST = {
  headers: FaultHeaders,
  errors: {
    fault_unknown: violation(
      FAULT_HEADER,
      'enum',
      'must be the name of an error of this endpoint; see GET /_sandbox/errors',
    ),
  },
}

/** Replaces the work of a request, or its response once the work is committed. */
export interface Fault extends Pick<Rule, 'when' | 'delay_ms' | 'cut_after_bytes' | 'bytes_per_second'> {
  /** The name in logs: that of an error, or of another effect. */
  name: string
  /** The response that the client gets instead of the real one. */
  failure: Failure | undefined
}

const AFTER = '; when=after'

/** A response that is lost: before the work is done, or once it is committed. */
export const lostResponse = (when: Rule['when']): Fault => faultOf({ ...NO_EFFECT, drop: true, when }, undefined)

/**
 * The fault that a request asks for in its headers, or that a rule of its world injects. An error occurs only where it
 * is documented.
 *
 * @throws DomainError validation when a header asks for an unknown fault
 */
export const findFault = (world: World, incoming: Incoming): Fault | undefined =>
  requestedFault(incoming) ?? faultByRule(world, incoming)

const requestedFault = ({ request, operation }: Incoming): Fault | undefined => {
  // Tools that send every header of the document send this one empty.
  const faultHeader = request.headers.get(FAULT_HEADER) || null
  const delay = request.headers.get(DELAY_HEADER)
  if (faultHeader === null && delay === null) return undefined
  const { error, when } = faultHeader === null ? NO_EFFECT : parseFault(faultHeader)
  const failure = error === null ? undefined : failureNamed(operation, error)
  const delayMs = Number(delay ?? 0)
  if (error !== null && !failure) throw new DomainError(FAULT_REQUEST.errors.fault_unknown)
  if (delay !== null && (!/^\d{1,5}$/.test(delay) || delayMs > DELAY_MS_MAX)) {
    throw violated(DELAY_HEADER, 'enum', `must be a whole number of milliseconds up to ${DELAY_MS_MAX}`)
  }
  return faultOf({ ...NO_EFFECT, error, when, delay_ms: delayMs }, failure)
}

/** @throws DomainError validation */
const parseFault = (text: string): { error: string; when: Rule['when'] } => {
  const [error = '', parameter] = text.split(/\s*;\s*(.*)/s, 2)
  if (parameter === undefined) return { error, when: 'before' }
  if (parameter !== 'when=after') throw violated(FAULT_HEADER, 'format', `accepts only "${AFTER}" after the name`)
  return { error, when: 'after' }
}

const failureNamed = (operation: Operation | undefined, name: string): Failure | undefined =>
  operation && Object.entries(errorsOf(operation)).find(([known]) => known === name)?.[1]

const faultByRule = (world: World, incoming: Incoming): Fault | undefined => {
  const failureOf = (name: string) => failureNamed(incoming.operation, name)
  const rule = takeRule(world, incoming, (error) => failureOf(error) !== undefined)
  return rule && faultOf(rule, rule.error === null ? undefined : failureOf(rule.error))
}

/** The effect of a rule, without its conditions. */
type RuleEffect = Omit<Rule, 'id' | 'match' | 'times_left' | 'probability'>

const faultOf = (effect: RuleEffect, error: Failure | undefined): Fault => {
  const { status, drop, when } = effect
  const failure = drop ? CONNECTION_DROPPED : status !== null ? gatewayFailure(status) : error
  return { ...effect, name: nameOf(effect) + (when === 'after' ? AFTER : ''), failure }
}

const nameOf = ({ error, status, drop, cut_after_bytes: cut, bytes_per_second: rate }: RuleEffect): string => {
  if (error !== null) return error
  if (status !== null) return String(status)
  if (drop) return 'drop'
  return cut !== null ? 'cut_after_bytes' : rate !== null ? 'bytes_per_second' : 'delay'
}

/** The effect before the work: waits, and fails instead of it. @throws DomainError */
export const inject = async ({ when, delay_ms: delayMs, failure }: Fault): Promise<void> => {
  if (when === 'after') return
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (failure) throw new DomainError(failure)
}
