import fc from 'fast-check'
import type { FaultRule } from '../model.ts'
import type { Expected } from '../play.ts'
import { command, whoever, worldNames } from './command.ts'
import { ask } from './sessions.ts'

/** Faults that a world has in store, and those that a request asks for (contract C15). */

interface RuleBody {
  error?: string
  delay_ms?: number
  drop?: boolean
  match?: { method?: string; path?: string }
  times?: number
}

const good: fc.Arbitrary<RuleBody> = fc.record(
  {
    error: fc.constantFrom(
      'internal',
      'rate_limited',
      'charges.rate_failed',
      'charges.rate_missing',
      'orders.insufficient_balance',
      'payouts.duplicate_reference',
      'beneficiaries.not_found',
    ),
    delay_ms: fc.constant(1),
    match: fc.record(
      {
        method: fc.constantFrom('GET', 'post'),
        path: fc.constantFrom('/api/v1/orders', '/api/v1/products/:id/charges', '/api/v1/payouts', '/status'),
      },
      { requiredKeys: [] },
    ),
    times: fc.integer({ min: 1, max: 2 }),
  },
  { requiredKeys: ['error', 'times'] },
)
/** Rules that can never strike, or that say what is none. */
const BAD: readonly unknown[] = [
  {},
  { match: {} },
  { error: 'no.such.error' },
  { error: 'internal', match: { path: '/livez' } },
  { error: 'internal', match: { path: '/readyz' } },
  { drop: true, match: { path: '/_sandbox/reset' } },
  { error: 'internal', match: { path: '/api/v1/no-such-route' } },
  { error: 'internal', match: { method: 'BREW' } },
  { error: 'internal', times: 0 },
  { error: 'internal', probability: 0 },
  { error: 'internal', probability: 2 },
  { error: 'charges.rate_failed', match: { path: '/api/v1/orders' } },
  { delay_ms: -1 },
  { error: 'internal', more: 1 },
]

/** Whether a path and a method are documented together, so that a rule can strike there. */
const POSTED = ['/api/v1/products/:id/charges']
const canStrike = ({ error, match }: RuleBody): boolean => {
  const method = match?.method?.toUpperCase()
  const path = match?.path
  if (path === '/status' && method === 'POST') return false
  if (path !== undefined && POSTED.includes(path) && method === 'GET') return false
  return error !== undefined && isDocumentedAt(error, method, path)
}
const PLACES: Record<string, readonly string[]> = {
  'charges.rate_failed': ['POST /api/v1/products/:id/charges'],
  'charges.rate_missing': ['POST /api/v1/products/:id/charges'],
  'orders.insufficient_balance': ['POST /api/v1/orders'],
  'payouts.duplicate_reference': ['POST /api/v1/payouts'],
  'beneficiaries.not_found': ['GET /api/v1/beneficiaries/:id'],
}
const isDocumentedAt = (error: string, method: string | undefined, path: string | undefined): boolean => {
  if (error === 'rate_limited') return path !== '/status'
  const places = PLACES[error]
  if (!places) return true
  return places.some((place) => place.startsWith(method ?? '') && place.endsWith(path ?? ''))
}

const addRule = command('add a fault', ['addFault'], 2, {
  args: fc.record({
    world: worldNames,
    rule: fc.oneof(
      { weight: 5, arbitrary: good },
      { weight: 1, arbitrary: fc.constant<RuleBody>({ drop: true, times: 1 }) },
    ),
  }),
  run: async (play, { world: name, rule }) => {
    await play.control({ operation: 'addFault', body: rule }, name, ({ faults }) => {
      if (rule.drop !== true && !canStrike(rule)) return { status: 400 }
      faults.push(ruleOf(rule))
      return { status: 201 }
    })
  },
})
const ruleOf = ({ error = undefined, delay_ms = 0, drop = false, match = {}, times }: RuleBody): FaultRule => ({
  error: error ?? null,
  delayMs: delay_ms,
  drop,
  method: match.method?.toUpperCase() ?? null,
  path: match.path ?? null,
  timesLeft: times ?? null,
})

/** What each of these headers comes to at the charges of a product. */
const ASKED: readonly [string, Expected][] = [
  ['charges.rate_failed', { status: 500, body: { error: 'Failed to fetch exchange rate' } }],
  ['charges.not_found', { status: 404, body: { error: 'Product not found' } }],
  ['internal', { status: 500 }],
  ['no.such.error', { status: 400 }],
  ['orders.insufficient_balance', { status: 400 }],
]

export const faultCommands = [
  addRule,
  command('add a fault that can never strike', ['addFault'], 1, {
    args: fc.record({ world: worldNames, nth: fc.nat(BAD.length - 1) }),
    run: async (play, { world, nth }) => {
      await play.control({ operation: 'addFault', body: BAD[nth] }, world, () => ({ status: 400 }))
    },
  }),
  command('list the faults', ['listFaults', 'listErrors'], 1, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world }) => {
      await play.control({ operation: 'listFaults' }, world, ({ faults }) => ({
        status: 200,
        fault: ({ json }) =>
          (json as unknown[]).length === faults.length ? undefined : `lists other rules than ${faults.length}`,
      }))
      await play.open({ operation: 'listErrors' }, () => ({ status: 200 }))
    },
  }),
  command('remove a fault', ['removeFault'], 1, {
    args: fc.record({ world: worldNames, nth: fc.nat(3) }),
    run: async (play, { world: name, nth }) => {
      const { json } = await play.control({ operation: 'listFaults' }, name, () => ({ status: 200 }))
      const id = (json as { id: number }[])[nth]?.id ?? 1_000_000
      await play.control({ operation: 'removeFault', id }, name, (world) => {
        if (id === 1_000_000) return { status: 404 }
        world.faults.splice(nth, 1)
        return { status: 204 }
      })
    },
  }),
  command('clear the faults', ['clearFaults'], 2, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world: name }) => {
      await play.control({ operation: 'clearFaults' }, name, (world) => {
        world.faults = []
        return { status: 204 }
      })
    },
  }),
  command('ask for a fault', ['calculateCharges'], 1, {
    args: fc.record({ who: whoever, nth: fc.nat(ASKED.length - 1) }),
    run: async (play, { who, nth }) => {
      const [name, expected] = ASKED[nth] ?? ['internal', { status: 500 }]
      const call = { operation: 'calculateCharges', id: 2, body: { denomination: 50, quantity: 1 } }
      await ask(play, who, { ...call, headers: { 'x-sandbox-fault': name } }, () => expected)
    },
  }),
  command('look whether it lives', ['isAlive', 'isReady', 'getStatus', 'getFrontPage'], 2, {
    args: fc.record({}),
    run: async (play) => {
      // Supervisors are outside of faults (contract C1).
      await play.open({ operation: 'isAlive' }, () => ({ status: 200 }))
      await play.open({ operation: 'isReady' }, () => ({ status: 200 }))
      await play.open({ operation: 'getStatus' }, () => ({ status: 200 }), play.model.world('default'))
      await play.open({ operation: 'getFrontPage' }, () => ({ status: 200 }), play.model.world('default'))
    },
  }),
]
