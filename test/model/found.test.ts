// Runs in process alone: what it proves is logic, which is the same behind a socket.

import { describe, expect, test } from 'bun:test'
import type { Setup } from './program.ts'
import { playScript, type Step } from './runner.ts'

/** What the model has found, or was made to find: short scripts that no longer end in a finding. */

const PLAIN: Setup = { limits: 'off', catalog: 'seeded', keeps: false }
const EDGES: Setup = { ...PLAIN, catalog: 'edges' }
const KEPT: Setup = { ...EDGES, keeps: true }
const LIMITED: Setup = { ...PLAIN, limits: 'documented' }

const sandbox = { world: 'default', client: 'sandbox' } as const
const step = (does: string, given: object = {}): Step => ({ does, with: given })
const asSandbox = (does: string, given: object = {}): Step => step(does, { who: sandbox, ...given })

const person = (email: string) => ({ email, first_name: 'Ada', last_name: 'Lovelace' })
const payee = (email: string) => ({
  reference_id: 'salary 1',
  wallet_id: 1,
  amount: 1,
  currency: 'USD',
  beneficiary_email: email,
  beneficiary_first_name: 'Ada',
  beneficiary_last_name: 'Lovelace',
})
const readEverything: Step[] = [
  asSandbox('get a product', { id: '1' }),
  asSandbox('list the products', { page: {}, filter: {} }),
  asSandbox('ask what a purchase costs', { id: '2', denomination: 10, quantity: 1, wallet: 2 }),
]
const HALF = '\ud800@example.com'

/** Which sentence, of which setup, by which steps. */
const FOUND: Record<string, readonly [sentence: string, setup: Setup, steps: readonly Step[]][]> = {
  'worlds, from the first request on': [
    ['a reset leaves everything readable', PLAIN, [step('reset a world', { world: 'default' }), ...readEverything]],
    [
      'a snapshot of the default world, restored into it, leaves everything readable',
      PLAIN,
      [
        asSandbox('get a wallet', { id: '1' }),
        step('keep a snapshot', { world: 'default', name: 'kept' }),
        step('restore a snapshot', { world: 'default', name: 'kept' }),
        ...readEverything,
      ],
    ],
  ],
  'the price of a purchase': [
    [
      'is not nothing: 5 cards of 1 VND from a wallet in USD are too small an amount',
      EDGES,
      [
        asSandbox('ask what a purchase costs', { id: '2', denomination: 1, quantity: 5, wallet: 1 }),
        asSandbox('place an order', { body: { product_id: 2, denomination: 1, quantity: 5, wallet_id: 1 } }),
      ],
    ],
    [
      'is not nothing: a discount of 100 % makes too small an amount',
      EDGES,
      [asSandbox('place an order', { body: { product_id: 6, denomination: 1, quantity: 1 } })],
    ],
    [
      'that leaves the range is too large an amount, in these words everywhere',
      EDGES,
      [
        asSandbox('ask what a purchase costs', { id: '8', denomination: 1_000_000_000, quantity: 1_000_000_000 }),
        asSandbox('place an order', { body: { product_id: 8, denomination: 1_000_000_000, quantity: 1_000_000_000 } }),
      ],
    ],
  ],
  'half a surrogate pair': [
    ['in the e-mail of a beneficiary is refused', PLAIN, [asSandbox('save a beneficiary', { body: person(HALF) })]],
    [
      'in the e-mail of an order is refused',
      PLAIN,
      [asSandbox('place an order', { body: { product_id: 1, denomination: 100, quantity: 1, email: HALF } })],
    ],
    ['in the e-mail of a payout is refused', PLAIN, [asSandbox('pay somebody', { body: payee(HALF) })]],
  ],
  'a body': [
    [
      'that is blank is none that discount can read',
      PLAIN,
      ['', ' '].map((blank) => asSandbox('ask for the discounts of a product', { id: '1', body: {}, blank })),
    ],
  ],
  'a damaged voucher': [
    [
      'hides its own codes and no order',
      KEPT,
      [
        asSandbox('place an order', { body: { product_id: 1, denomination: 10, quantity: 2 } }),
        step('damage a voucher on the disk', { nth: 0 }),
        asSandbox('get an order', { nth: 0 }),
        asSandbox('list the orders', { page: {}, filter: {} }),
      ],
    ],
  ],
  'a restart': [
    [
      'keeps the pace of a sandbox with a data folder',
      KEPT,
      [
        step('set the pace', { world: 'default', pace: { payouts: 'manual', orders: 'auto' } }),
        step('restart the program', { how: 'stop' }),
        step('order what will be delivered later', { world: 'default', product_id: 3, quantity: 1 }),
        step('advance a payout', { world: 'default', nth: 0 }),
      ],
    ],
    [
      'remembers that a product was changed: the clock does not go back',
      KEPT,
      [
        step('change a product', { world: 'default', id: '1', body: { active: false } }),
        step('restart the program', { how: 'kill' }),
        step('move a clock', { world: 'default', move: { now: '2000-01-01T00:00:00Z' } }),
      ],
    ],
  ],
  'a snapshot that was restored': [
    [
      'knows nothing of a refresh since: its token is refused, and ends no login',
      PLAIN,
      [
        asSandbox('get a wallet', { id: '1' }),
        step('keep a snapshot', { world: 'default', name: 'kept' }),
        step('refresh', sandbox),
        step('restore a snapshot', { world: 'default', name: 'kept' }),
        step('refresh', sandbox),
      ],
    ],
  ],
  limits: [
    ['are not used up by a logout', LIMITED, [asSandbox('get a wallet', { id: '1' }), step('log out', sandbox)]],
  ],
}

for (const [subject, cases] of Object.entries(FOUND)) {
  describe(subject, () => {
    test.each(cases)('%s', async (_, setup, steps) => {
      const { lines, problem } = await playScript({ setup, steps })
      expect({ problem, ...(problem && { lines }) }).toEqual({ problem: undefined })
    })
  })
}
