import type { TestWorld } from '../harness.ts'

/** Purchases of the seeded catalog. */

/** Delivered in the answer. */
export const INSTANT = { product_id: 2, denomination: 50, quantity: 1 }
/** Paid from the wallet in EUR, and delivered by the clock, or by hand. */
export const DELAYED = { product_id: 5, denomination: 25, quantity: 3 }
/** Of which there are three. */
export const SCARCE = { product_id: 9, denomination: 10, quantity: 1 }

export interface Order {
  id: number
  status: string
  amount: number
  wallet_id: number
  vouchers: { card_number: string; pin_code: string; claim_url: string }[]
}

/** Places an order that is expected to succeed. */
export const placed = async (world: TestWorld, body: object): Promise<Order> => {
  const response = await world.post('/api/v1/orders', body)
  if (response.status !== 200) throw new Error(`order: ${response.status} ${await response.text()}`)
  return (await response.json()) as Order
}

export interface Payout {
  id: string
  status: string
  failure_code: string | null
  failure_reason: string | null
  events: { event_type: string; actor_type: string; to_status: string; message: string | null }[]
}

/** Makes a payout that is expected to succeed: 101.50 USD with its fees. */
export const paid = async (world: TestWorld, reference = 'bonus'): Promise<Payout> => {
  const response = await world.post('/api/v1/payouts', {
    reference_id: reference,
    wallet_id: 1,
    amount: 100,
    currency: 'USD',
    beneficiary_email: 'ada@example.com',
    beneficiary_first_name: 'Ada',
    beneficiary_last_name: 'Lovelace',
  })
  if (response.status !== 201) throw new Error(`payout: ${response.status} ${await response.text()}`)
  return (await response.json()) as Payout
}

/** What a wallet holds. */
export const amountIn = async (world: TestWorld, walletId: number): Promise<number | undefined> => {
  const wallets = await world.read<{ id: number; amount: number }[]>('/api/v1/wallets')
  return wallets.find(({ id }) => id === walletId)?.amount
}
