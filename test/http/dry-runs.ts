import type { Served } from '../docs/document.ts'

/** The operations that have a dry run, each with a call that succeeds. */

export const DRY_RUN = { 'x-dry-run': 'true' }

export interface Call {
  method: string
  path: string
  body?: object
}

/** Records that exist before the call. */
export interface Records {
  beneficiary: string
  pendingOrder: number
  payout: string
  webhook: string
  event: string
}

const post = (path: string, body?: object): Call => ({ method: 'POST', path, ...(body && { body }) })

/** By the id of the operation. `product` is sold at once, for the denomination. */
export const callsOf = (
  records: Records,
  { product, denomination, receiver }: { product: number; denomination: number; receiver: string },
): Record<string, Call> => ({
  createBeneficiary: post('/api/v1/beneficiaries', { email: 'a@b.example', first_name: 'A', last_name: 'B' }),
  deleteBeneficiary: { method: 'DELETE', path: `/api/v1/beneficiaries/${records.beneficiary}` },
  checkAvailability: post(`/api/v1/products/${product}/availability`, { denomination, quantity: 2 }),
  calculateCharges: post(`/api/v1/products/${product}/charges`, { denomination, quantity: 2 }),
  getDiscounts: post(`/api/v1/products/${product}/discount`, { denomination }),
  placeOrder: post('/api/v1/orders', { product_id: product, denomination, quantity: 2 }),
  cancelOrder: post(`/api/v1/orders/${records.pendingOrder}/cancel`),
  createPayout: post('/api/v1/payouts', {
    reference_id: 'next',
    wallet_id: 1,
    amount: 10,
    currency: 'USD',
    beneficiary_id: records.beneficiary,
  }),
  cancelPayout: post(`/api/v1/payouts/${records.payout}/cancel`),
  createWebhook: post('/api/v1/webhooks', { name: 'n', url: receiver, events: ['*'] }),
  updateWebhook: { method: 'PATCH', path: `/api/v1/webhooks/${records.webhook}`, body: { active: false } },
  deleteWebhook: { method: 'DELETE', path: `/api/v1/webhooks/${records.webhook}` },
  rotateWebhookSecret: post(`/api/v1/webhooks/${records.webhook}/rotate`),
  pingWebhook: post(`/api/v1/webhooks/${records.webhook}/ping`),
  redeliverEvent: post(`/api/v1/events/${records.event}/redeliver`),
})

/** The operations in the document: a new one fails until it is called here. */
export const writingIn = (operations: readonly Served[]): string[] =>
  operations
    .filter(({ method, path }) => method !== 'GET' && path.startsWith('/api/v1/'))
    .map(({ operationId }) => operationId)

type Ask = (
  path: string,
  init: { method?: string; body?: string; headers?: Record<string, string> },
) => Promise<Response>

export const send = (ask: Ask, { method, path, body }: Call, headers: Record<string, string> = {}): Promise<Response> =>
  ask(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })

const read = async <T>(response: Response): Promise<T> => {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Makes the records, with a pending order of another product. */
export const prepare = async (
  ask: Ask,
  pending: { product_id: number; denomination: number; quantity: number },
  receiver: string,
): Promise<Records> => {
  const make = async <Id>(path: string, body: object): Promise<Id> =>
    (await read<{ id: Id }>(await send(ask, post(`/api/v1/${path}`, body)))).id
  const beneficiary = await make<string>('beneficiaries', { email: 'b@c.example', first_name: 'B', last_name: 'C' })
  const webhook = await make<string>('webhooks', { name: 'w', url: receiver, events: ['*'] })
  const pendingOrder = await make<number>('orders', pending)
  const payout = await make<string>('payouts', {
    reference_id: 'first',
    wallet_id: 1,
    amount: 10,
    currency: 'USD',
    beneficiary_id: beneficiary,
  })
  const [event] = await read<{ id: string }[]>(await ask('/api/v1/events?type=order.created', {}))
  return { beneficiary, pendingOrder, payout, webhook, event: event?.id ?? 'none' }
}

const SECRETS = new Set(['card_number', 'pin_code', 'claim_url', 'secret'])

/** A response without its secrets, which a dry run does not show. */
export const openParts = (body: string): unknown =>
  body === '' ? '' : JSON.parse(body, (name, value) => (SECRETS.has(name) ? 'secret' : value))

/** The offset at which the header of an SQLite file counts its commits, empty ones included. */
const COMMIT_COUNTERS = [24, 92]

/** A database in a form that can be compared byte for byte. */
export const withoutCounters = (image: Uint8Array): Uint8Array => {
  for (const start of COMMIT_COUNTERS) image.fill(0, start, start + 4)
  return image
}
