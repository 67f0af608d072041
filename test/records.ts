import type { Static } from '@sinclair/typebox'
import type { BeneficiarySchema } from '../src/beneficiaries/contract.ts'
import type { EventSchema } from '../src/events/contract.ts'
import type { OrderSchema } from '../src/orders/contract.ts'
import type { PayoutSchema } from '../src/payouts/contract.ts'
import type { TransactionSchema, WalletSchema } from '../src/wallets/contract.ts'
import type { TestWorld } from './harness.ts'

/** Example bodies, and records made with them, so that a test shows only its own values. */

export type Beneficiary = Static<typeof BeneficiarySchema>
/** Statuses are texts here, so that a test does not depend on the program's list. */
export type Order = Omit<Static<typeof OrderSchema>, 'status' | 'charges'> & { status: string; charges: object }
export type PayoutEvent = Omit<Static<typeof PayoutSchema>['events'][number], 'from_status' | 'to_status'> & {
  from_status: string | null
  to_status: string
}
export type Payout = Omit<Static<typeof PayoutSchema>, 'status' | 'events'> & { status: string; events: PayoutEvent[] }
export type PublishedEvent = Omit<Static<typeof EventSchema>, 'type' | 'data'> & {
  type: string
  data: Record<string, unknown>
}
export type Transaction = Static<typeof TransactionSchema>
export type Wallet = Static<typeof WalletSchema>

/** Times at which the clocks of worlds stand still. */
export const START = '2030-01-01T00:00:00.000Z'
export const NOON = '2030-01-01T12:00:00.000Z'

export const BENEFICIARIES = '/api/v1/beneficiaries'
export const ORDERS = '/api/v1/orders'
export const PAYOUTS = '/api/v1/payouts'

export const ADA = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
/** Ada, as a payee who is not saved. */
export const PAYEE = {
  beneficiary_email: 'ada@example.com',
  beneficiary_first_name: 'Ada',
  beneficiary_last_name: 'Lovelace',
}
/** A payout of 100 USD from the USD wallet: 101.50 with its fees. */
export const HUNDRED = { reference_id: 'bonus', wallet_id: 1, amount: 100, currency: 'USD', ...PAYEE }

/** The price of two cards of 100 INR, as the specification publishes it. */
export const PUBLISHED_PRICE = {
  non_discounted_total: 200,
  discount_amount: 5,
  total_amount: 195,
  discount: 2.5,
  gst_amount: 35.1,
  total_payable: 230.1,
  max_quantity: 50,
  net_amount: 195,
  handling_fee_amount: 0,
  charges_details: { source_currency: 'INR', destination_currency: 'INR', forex_rate: null, conversion_fee: null },
}

/** Products of the seeded catalog, named after their peculiarity. */
export const INSTANT = { product_id: 2, denomination: 50, quantity: 1 } // USD, 4 %
export const OVERNIGHT = { product_id: 4, denomination: 10, quantity: 1 } // KWD, 24 hours
export const PHYSICAL = { product_id: 5, denomination: 25, quantity: 1 } // EUR
export const THREE_LEFT = { product_id: 9, denomination: 10, quantity: 1 } // USD
export const NONE_LEFT = { product_id: 8, denomination: 50, quantity: 1 } // USD
/** Three cards that the clock delivers, or an operator. */
export const DELAYED = { ...PHYSICAL, quantity: 3 }

/** Saves a beneficiary. */
export const save = (world: TestWorld, change: object = {}): Promise<Beneficiary> =>
  world.make(BENEFICIARIES, { ...ADA, ...change })

/** Saves Ada and returns her identifier. */
export const saveAda = async (world: TestWorld): Promise<string> => (await save(world)).id
/** Saves Grace and returns her identifier. */
export const saveGrace = async (world: TestWorld, change: object = {}): Promise<string> =>
  (await save(world, { email: 'grace@example.com', first_name: 'Grace', last_name: 'Hopper', ...change })).id

export const place = (world: TestWorld, body: object): Promise<Order> => world.make(ORDERS, body)
export const getOrder = (world: TestWorld, id: number): Promise<Order> => world.read(`${ORDERS}/${id}`)

export const pay = (world: TestWorld, body: object = HUNDRED): Promise<Payout> => world.make(PAYOUTS, body)
export const getPayout = (world: TestWorld, id: string): Promise<Payout> => world.read(`${PAYOUTS}/${id}`)

/** The six headers of a page. */
export const pageOf = ({ headers }: Response): (string | null)[] =>
  ['x-page', 'x-per-page', 'x-total-count', 'x-total-pages', 'x-page-size', 'x-has-more'].map((name) =>
    headers.get(name),
  )

/** The number of records in a list. */
export const countOf = async (world: TestWorld, list = BENEFICIARIES): Promise<number> =>
  Number((await world.get(`${list}?limit=1`)).headers.get('x-total-count'))
