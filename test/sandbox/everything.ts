import type { Server } from '../harness.ts'
import { ADA, HUNDRED, NOON } from '../records.ts'
import { control, succeed } from './surface.ts'

/** A long script: every operation of the API and every control that writes, in one world. */

/** A request, and its response without headers of the connection. */
export interface Replayed {
  request: string
  status: number
  headers: Record<string, string>
  body: string
}

/** A stream between the two ends of a connection. */
const FOREIGN_HEADERS = new Set(['date', 'connection', 'content-length', 'content-encoding', 'transfer-encoding'])

/** Makes a world whose clock stands still at noon before the first write. */
export const makeAtNoon = async (server: Server, name: string): Promise<void> => {
  await succeed(server, 'PUT', `/worlds/${name}`)
  await succeed(server, 'POST', `/clock?world=${name}`, { now: NOON, frozen: true })
}

/** Sends the script to a world, and returns the responses. */
export const everything = async (server: Server, name: string): Promise<Replayed[]> => {
  const responses: Replayed[] = []
  let authorization = ''
  const ask = async <Body = { id: number | string }>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Body> => {
    const response = await server.request(path, {
      method,
      headers: { ...(authorization !== '' && { authorization }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    responses.push({
      request: `${method} ${path}`,
      status: response.status,
      headers: Object.fromEntries([...response.headers].filter(([header]) => !FOREIGN_HEADERS.has(header))),
      body: text,
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return (isJson ? JSON.parse(text) : text) as Body
  }
  const inWorld = <Body = { id: number | string }>(method: string, path: string, body?: unknown) =>
    ask<Body>(method, `/_sandbox${path}?world=${name}`, body)
  const logIn = async (username: string): Promise<string> => {
    const pair = await ask<{ access_token: string; refresh_token: string }>('POST', '/auth/login', {
      username,
      password: 'a password',
    })
    authorization = `Bearer ${pair.access_token}`
    return pair.refresh_token
  }

  const refreshToken = await logIn(`sbx_${name}`)
  const renewed = await ask<{ access_token: string }>('POST', '/auth/refresh', { refresh_token: refreshToken })
  authorization = `Bearer ${renewed.access_token}`

  for (const list of [
    'countries',
    'currencies',
    'categories',
    'subcategories',
    'products',
    'wallets',
    'transactions',
  ]) {
    await ask('GET', `/api/v1/${list}?limit=3`)
    await ask('GET', `/api/v1/${list}/1`)
    await ask('GET', `/api/v1/${list}/0`)
  }

  const { id: benId } = await ask('POST', '/api/v1/beneficiaries', ADA, { 'idempotency-key': 'everything no. 1' })
  await ask('POST', '/api/v1/beneficiaries', ADA, { 'idempotency-key': 'everything no. 1' })
  const { id: goneId } = await ask('POST', '/api/v1/beneficiaries', { ...ADA, email: 'grace@example.com' })
  await ask('POST', '/api/v1/beneficiaries', { email: 'nobody' })
  await ask('GET', '/api/v1/beneficiaries')
  await ask('GET', `/api/v1/beneficiaries/${benId}`)
  await ask('DELETE', `/api/v1/beneficiaries/${goneId}`)

  await ask('POST', '/api/v1/products/2/availability', { denomination: 50, quantity: 1 })
  await ask('POST', '/api/v1/products/2/discount', { denomination: 50 })
  await ask('POST', '/api/v1/products/2/charges', { denomination: 50, quantity: 1 })
  await ask('POST', '/api/v1/products/2/charges', { denomination: 50, quantity: 1 })
  await ask('POST', '/api/v1/products/2/charges', { denomination: 50, quantity: 1 }, { 'x-sandbox-fault': 'internal' })
  await inWorld('POST', '/faults', { error: 'charges.rate_failed', probability: 0.5 })
  for (let time = 0; time < 4; time++)
    await ask('POST', '/api/v1/products/2/charges', { denomination: 50, quantity: 2 })
  await inWorld('GET', '/faults')

  await inWorld('POST', '/clock', { advance: 'PT1M' })
  const { id: walletId } = await inWorld('POST', '/wallets', { currency: 'KWD' })
  await inWorld('POST', `/wallets/${walletId}/fund`, { amount: 12.345, remarks: 'Top-up' })
  await inWorld('PUT', '/pace', { payouts: 'manual', orders: 'manual' })

  const bought = { product_id: 2, denomination: 50, quantity: 1, client_reference: 'no. 1' }
  const { id: deliveredId } = await ask('POST', '/api/v1/orders', bought, { 'idempotency-key': 'everything no. 2' })
  await ask('POST', '/api/v1/orders', bought, { 'idempotency-key': 'everything no. 2' })
  await ask('GET', `/api/v1/orders/${deliveredId}/vouchers`)
  await ask('POST', '/api/v1/orders', { product_id: 9, denomination: 10, quantity: 1 })
  const delayed = { product_id: 5, denomination: 25, quantity: 3 }
  const { id: partlyId } = await ask('POST', '/api/v1/orders', delayed)
  await inWorld('POST', `/orders/${partlyId}/deliver`, { quantity: 1 })
  await inWorld('POST', `/orders/${partlyId}/fail`, { failure_reason: 'Out of stock' })
  await inWorld('POST', `/orders/${partlyId}/refund`, { remarks: 'Wrong brand' })
  const { id: cancelledId } = await ask('POST', '/api/v1/orders', delayed)
  await ask('POST', `/api/v1/orders/${cancelledId}/cancel`)
  await ask('GET', '/api/v1/orders')
  await ask('GET', `/api/v1/orders/${partlyId}`)

  const { id: paidId } = await ask('POST', '/api/v1/payouts', { ...HUNDRED, reference_id: 'no. 1' })
  await inWorld('POST', `/payouts/${paidId}/advance`, { to: 'completed' })
  await inWorld('POST', `/payouts/${paidId}/return`)
  const { id: failedId } = await ask('POST', '/api/v1/payouts', { ...HUNDRED, reference_id: 'no. 2', wallet_id: 2 })
  await inWorld('POST', `/payouts/${failedId}/advance`, { to: 'processing' })
  await inWorld('POST', `/payouts/${failedId}/fail`, { failure_code: 'account_closed' })
  const { id: withdrawnId } = await ask('POST', '/api/v1/payouts', { ...HUNDRED, reference_id: 'no. 3' })
  await ask('POST', `/api/v1/payouts/${withdrawnId}/cancel`)
  await inWorld('PUT', '/pace', { payouts: 'auto', orders: 'auto' })
  await inWorld('POST', '/clock', { advance: 'PT2.5S' })
  await ask('POST', '/api/v1/payouts', { ...HUNDRED, reference_id: 'no. 4' })
  await inWorld('POST', '/clock', { advance: 'PT5S' })
  await ask('GET', '/api/v1/payouts')
  await ask('GET', `/api/v1/payouts/${paidId}`)
  await ask('GET', '/api/v1/transactions?limit=100')
  await ask('GET', '/api/v1/wallets')
  const [event] = await ask<{ id: string }[]>('GET', '/api/v1/events?limit=100')
  await ask('GET', `/api/v1/events/${event?.id}`)
  await inWorld('PATCH', '/wallets/1', { threshold: 1_000_000 })
  await ask('GET', '/api/v1/events?type=wallet.low')
  const hook = { name: 'mine', url: 'http://127.0.0.1:9/', events: ['order.failed'] }
  const { id: hookId } = await ask('POST', '/api/v1/webhooks', hook)
  await ask('GET', '/api/v1/webhooks')
  await ask('GET', `/api/v1/webhooks/${hookId}`)
  await ask('POST', `/api/v1/webhooks/${hookId}/rotate`)
  await ask('PATCH', `/api/v1/webhooks/${hookId}`, { active: false })
  await ask('POST', `/api/v1/webhooks/${hookId}/ping`)
  await ask('POST', `/api/v1/events/${event?.id}/redeliver`)
  await inWorld('POST', '/webhooks/settle')
  await ask('GET', `/api/v1/webhooks/${hookId}/deliveries`)
  await ask('DELETE', `/api/v1/webhooks/${hookId}`)
  await ask('GET', '/api/v1/nowhere')
  await inWorld('GET', '/coverage')
  await inWorld('GET', '/clock')
  await inWorld('GET', '/pace')

  await logIn(`sbx_${name}.limited`)
  await ask('GET', '/api/v1/orders')
  await logIn(`sbx_${name}`)
  await ask('POST', '/auth/logout')
  await ask('GET', '/api/v1/countries')
  return responses
}

/** Everything that the sandbox reports about a world, besides its rows. */
export const viewOf = async (server: Server, name: string): Promise<Record<string, unknown>> => {
  const view: Record<string, unknown> = {}
  for (const path of ['clock', 'pace', 'faults', 'requests', 'coverage']) {
    view[path] = (await control(server, 'GET', `/${path}?world=${name}`)).body
  }
  return view
}
