import type { TestWorld } from '../harness.ts'

export const ORDERS = '/api/v1/orders'

/** A voucher as it is on the wire (contract C12). */
export interface VoucherBody {
  voucher_reference_number: string
  card_number: string
  pin_code: string | null
  claim_url: string | null
  expires_at: string | null
}

/** An order as it is on the wire (contract C12). */
export interface OrderBody {
  id: number
  ref: string
  client_reference: string
  transaction_id: number
  product_id: number
  amount: number
  charges: object
  wallet_id: number
  status: string
  vouchers: VoucherBody[]
  placed_at: string
  delivered_at: string | null
  cancelled_at: string | null
}

/** Products of the seeded catalog, by what is special about them. */
export const INSTANT = { product_id: 2, denomination: 50 } // USD, 4 %
export const DELAYED = { product_id: 4, denomination: 10 } // KWD, 24 hours
export const PHYSICAL = { product_id: 5, denomination: 25 } // EUR
export const THREE_LEFT = { product_id: 9, denomination: 10 } // USD
export const NONE_LEFT = { product_id: 8, denomination: 50 } // USD

/** Places an order that is expected to succeed. */
export const place = async (world: TestWorld, body: object): Promise<OrderBody> => {
  const response = await world.post(ORDERS, body)
  if (response.status !== 200) throw new Error(`order: ${response.status} ${await response.text()}`)
  return (await response.json()) as OrderBody
}

export const getOrder = async (world: TestWorld, id: number): Promise<OrderBody> => {
  const response = await world.get(`${ORDERS}/${id}`)
  if (response.status !== 200) throw new Error(`order ${id}: ${response.status} ${await response.text()}`)
  return (await response.json()) as OrderBody
}

/** How many orders a client has. */
export const orderCountOf = async (world: TestWorld): Promise<number> =>
  Number((await world.get(`${ORDERS}?limit=1`)).headers.get('x-total-count'))
