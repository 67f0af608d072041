import type { TestWorld } from '../harness.ts'

export const PAYOUTS = '/api/v1/payouts'

/** An event of a payout as it is on the wire (contract C13). */
export interface EventBody {
  event_type: string
  from_status: string | null
  to_status: string
  actor_type: string
  message: string | null
  created_at: string
}

/** A payout as it is on the wire (contract C13). */
export interface PayoutBody {
  id: string
  reference_id: string
  status: string
  amount: number
  currency: string
  fees: number
  total_amount: number
  wallet_id: number
  beneficiary: Record<string, string | null>
  failure_code: string | null
  failure_reason: string | null
  events: EventBody[]
  created_at: string
  queued_at: string | null
  submitted_at: string | null
  completed_at: string | null
  failed_at: string | null
  cancelled_at: string | null
}

/** A person who is paid without being saved. */
export const ADA = {
  beneficiary_email: 'ada@example.com',
  beneficiary_first_name: 'Ada',
  beneficiary_last_name: 'Lovelace',
}

/** A payout of 100 USD from the USD wallet: 101.50 with its fees. */
export const HUNDRED = { reference_id: 'bonus', wallet_id: 1, amount: 100, currency: 'USD', ...ADA }

/** Makes a payout that is expected to succeed. */
export const pay = async (world: TestWorld, body: object = HUNDRED): Promise<PayoutBody> => {
  const response = await world.post(PAYOUTS, body)
  if (response.status !== 201) throw new Error(`payout: ${response.status} ${await response.text()}`)
  return (await response.json()) as PayoutBody
}

export const getPayout = async (world: TestWorld, id: string): Promise<PayoutBody> => {
  const response = await world.get(`${PAYOUTS}/${id}`)
  if (response.status !== 200) throw new Error(`payout ${id}: ${response.status} ${await response.text()}`)
  return (await response.json()) as PayoutBody
}

/** How many payouts a client has. */
export const payoutCountOf = async (world: TestWorld): Promise<number> =>
  Number((await world.get(`${PAYOUTS}?limit=1`)).headers.get('x-total-count'))

/** Saves a beneficiary and answers its id. */
export const save = async (world: TestWorld, change: object = {}): Promise<string> => {
  const response = await world.post('/api/v1/beneficiaries', {
    email: 'grace@example.com',
    first_name: 'Grace',
    last_name: 'Hopper',
    ...change,
  })
  if (response.status !== 201) throw new Error(`beneficiary: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}
