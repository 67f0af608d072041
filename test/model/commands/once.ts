import fc from 'fast-check'
import { shapeOf } from '../checks.ts'
import { badRequest, faultsIn } from '../expect.ts'
import { isKept } from '../model.ts'
import type { At, Call, Expected, Play, Rule, Who } from '../play.ts'
import { buysVouchers } from './catalog.ts'
import { ask } from './sessions.ts'

/** Idempotency-Key, for every operation that takes one (contract C14). */

const MALFORMED = ['short', 'x'.repeat(257)]
export const keys = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constantFrom('first key', 'second key', 'k'.repeat(256)) },
  { weight: 1, arbitrary: fc.constantFrom(...MALFORMED) },
)

/** Sends a write with a key or without one; the rule is for a response that is not replayed. */
export const once = async (play: Play, who: Who, call: Call, key: string | undefined, rule: Rule): Promise<void> => {
  if (key === undefined) {
    await ask(play, who, call, rule)
    return
  }
  const keyed = { ...call, headers: { ...call.headers, 'idempotency-key': key } }
  await ask(play, who, keyed, (at) => keyedRule(at, call, key, rule))
}

/** A key that was used within a day replays its response, and has no effect. */
export const keyedRule = (at: At, call: Call, key: string, rule: Rule): Expected => {
  const shape = shapeOf(`/api/v1/${PATHS[call.operation]}`)
  // A feature that is off is refused before the body is read.
  if (call.operation === 'placeOrder' && !buysVouchers(at)) return rule(at)
  if (MALFORMED.includes(key)) return badRequest(shape, 'Idempotency-Key must be 8 to 256 printable characters')
  const { world, client, now, response } = at
  const request = `${call.operation} ${canonical(call.text === undefined ? call.body : JSON.parse(call.text))}`
  const kept = world.state.keys.get(`${client} ${key}`)
  if (kept && isKept(kept, now)) {
    if (kept.request !== request) return badRequest(shape, 'Idempotency-Key was used with a different request')
    return {
      status: kept.status,
      fault: ({ text, headers }) =>
        faultsIn({ body: [text, kept.text], 'idempotent-replayed': [headers.get('idempotent-replayed'), 'true'] }),
    }
  }
  const expected = rule(at)
  world.state.keys.set(`${client} ${key}`, { request, status: response.status, text: response.text, at: now })
  return expected
}

const PATHS: Record<string, string> = {
  createBeneficiary: 'beneficiaries',
  placeOrder: 'orders',
  createPayout: 'payouts',
}

/** The same text for bodies that are equal as JSON. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .sort()
    .join()}}`
}
