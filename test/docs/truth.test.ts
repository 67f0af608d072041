import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer, type TestWorld } from '../harness.ts'
import { folderOfFile } from '../program.ts'
import { openReceiver } from '../webhooks/webhooks.ts'
import { operationsOf, readDocument, refusalsIn, type Served, successOf } from './document.ts'
import { faultsOf, headerFaultsOf } from './schemas.ts'

/**
 * The document is true: the tests provoke the success and every documented refusal of each operation, and compare the
 * response with the document. A new operation, or a new refusal, fails here until a test provokes it.
 */

const folder = folderOfFile()
const catalogFile = join(folder, 'catalog.json')
const ratesFile = join(folder, 'rates.json')
const HUGE = {
  id: 1,
  name: 'Everything',
  category: 'Groceries',
  sub_category: 'Supermarkets',
  country: 'IND',
  currency: 'INR',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  terms: '',
  details: '',
  how_to_use: '',
  active: true,
  stock: null,
  max_quantity: 1_000_000_000,
  gst_percent: 0,
  handling_fee: { fixed: 0, percent: 0 },
  denominations: [
    { min_value: 1, max_value: 1, discount: 100 },
    { min_value: 2, max_value: 1_000_000_000, discount: 0 },
  ],
}
writeFileSync(catalogFile, JSON.stringify({ products: [HUGE] }))
writeFileSync(ratesFile, JSON.stringify({ base: 'USD', rates: { INR: '80000000' } }))

const receiver = openReceiver()
const RECEIVER_URL = receiver.url

const servers = {
  plain: await startServer(),
  /** One request, then none for an hour. */
  tight: await startServer('--rate-limit', '1/h'),
  /** Its control API needs a token. */
  closed: await startServer('--sandbox-token', 'open sesame'),
  strict: await startServer('--strict'),
  /** Prices and rates beyond the range of amounts, and a product that costs nothing. */
  huge: await startServer('--catalog', catalogFile, '--rates', ratesFile),
}
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop()
  receiver.stop()
})
const operations = operationsOf(await readDocument(servers.plain))

/** The call of an operation that differs from the documented example for the record 1. */
interface Call {
  id?: string | number
  query?: string
  body?: unknown
  headers?: Record<string, string>
}
type Scene = (world: TestWorld) => Call | Promise<Call>

const exampleOf = ({ requestBody }: Served): unknown => requestBody?.content['application/json']?.example
const examples = new Map(operations.map((operation) => [operation.operationId, exampleOf(operation) as object]))

const created = async (response: Response): Promise<{ id: string | number }> => {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string | number }
}
const succeeds = async (pending: Promise<Response>): Promise<void> => {
  const response = await pending
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}
const savedBeneficiary = async (world: TestWorld): Promise<Call> => {
  const { id } = await created(await world.post('/api/v1/beneficiaries', examples.get('createBeneficiary')))
  return { id }
}
const placedOrder = async (world: TestWorld, change: object = {}): Promise<Call> => {
  const { id } = await created(await world.post('/api/v1/orders', { ...examples.get('placeOrder'), ...change }))
  return { id }
}
const createdPayout = async (world: TestWorld): Promise<Call> => {
  const { id } = await created(await world.post('/api/v1/payouts', examples.get('createPayout')))
  return { id }
}
const order =
  (change: object): Scene =>
  () => ({ body: { ...examples.get('placeOrder'), ...change } })
const payout =
  (change: object): Scene =>
  () => ({ body: { ...examples.get('createPayout'), ...change } })

const keptSnapshot = async (world: TestWorld): Promise<Call> => {
  const id = `of-${world.name}`
  await succeeds(world.request(`/_sandbox/snapshots/${id}?world=${world.name}`, { method: 'PUT' }))
  return { id }
}
const manualPace = (world: TestWorld): Promise<void> =>
  succeeds(
    world.request(`/_sandbox/pace?world=${world.name}`, {
      method: 'PUT',
      body: '{"payouts":"manual","orders":"manual"}',
    }),
  )
const unsettledPayout = async (world: TestWorld): Promise<Call> => {
  await manualPace(world)
  return createdPayout(world)
}
const completedPayout = async (world: TestWorld): Promise<Call> => {
  const call = await createdPayout(world)
  await world.clock({ advance: 'PT1H' })
  return call
}
const undeliveredOrder = (world: TestWorld, change: object = {}) =>
  placedOrder(world, { product_id: 5, denomination: 25, quantity: 1, ...change })
/** A wallet that was funded, which is an event. */
const funded = (world: TestWorld): Promise<void> => succeeds(world.control('/wallets/1/fund', { amount: 250 }))
const happened = async (world: TestWorld): Promise<Call> => {
  await funded(world)
  const [event] = await world.read<{ id: string }[]>('/api/v1/events')
  return { id: event?.id ?? 'none' }
}
const hooked = async (world: TestWorld): Promise<Call> => {
  const { id } = await created(await world.post('/api/v1/webhooks', examples.get('createWebhook')))
  return { id }
}
/** The event of an order, for which there is a webhook. */
const ordered = async (world: TestWorld): Promise<Call> => {
  await hooked(world)
  await placedOrder(world)
  const [event] = await world.read<{ id: string }[]>('/api/v1/events?type=order.created')
  return { id: event?.id ?? 'none' }
}
const inboxed = async (world: TestWorld): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const path = `/_sandbox/inbox/hooks?world=${world.name}`
  await succeeds(servers.plain.request(path, { method: 'POST', body: '{}', headers }))
}
/** A webhook whose receiver has acknowledged a ping. */
const pinged = async (world: TestWorld): Promise<Call> => {
  const body = { ...examples.get('createWebhook'), url: RECEIVER_URL }
  const { id } = await created(await world.post('/api/v1/webhooks', body))
  await succeeds(world.post(`/api/v1/webhooks/${id}/ping`))
  await succeeds(world.control('/webhooks/settle'))
  return { id }
}
/** A scenario whose second step gets another response than it expects. */
const STOPPING = {
  steps: [
    { name: 'wallets', method: 'GET', path: '/api/v1/wallets' },
    { name: 'cancelled', method: 'POST', path: '/api/v1/orders/{{wallets.0.id}}/cancel' },
  ],
}

const sending =
  (body: object): Scene =>
  () => ({ body })

/** A request after a login, which is number 1 in the request log. */
const logged = async (world: TestWorld): Promise<Call> => {
  await succeeds(world.get('/api/v1/countries/1'))
  return { id: 2 }
}
/** A call that needs other preparations than the documented example. */
const listing =
  (prepare: (world: TestWorld) => Promise<unknown>): Scene =>
  async (world) => {
    await prepare(world)
    return {}
  }

const addedClient = async (world: TestWorld): Promise<Call> => {
  const added = (await (await world.control('/clients', examples.get('addSandboxClient'))).json()) as {
    client_id: number
  }
  return { id: added.client_id }
}

/** Successes that need more than the documented example. */
const SUCCESSES: Record<string, Scene> = {
  refresh: async (world) => {
    const credentials = { username: `sbx_${world.name}`, password: 'a password' }
    return { body: await (await world.post('/auth/login', credentials)).json() }
  },
  listBeneficiaries: listing(savedBeneficiary),
  getBeneficiary: savedBeneficiary,
  deleteBeneficiary: savedBeneficiary,
  listProducts: () => ({ query: 'limit=10000' }),
  listOrders: listing((world) => placedOrder(world)),
  getOrder: (world) => placedOrder(world),
  listVouchers: (world) => placedOrder(world),
  cancelOrder: (world) => undeliveredOrder(world),
  listPayouts: listing(createdPayout),
  getPayout: createdPayout,
  cancelPayout: createdPayout,
  listEvents: listing(funded),
  redeliverEvent: happened,
  listWebhooks: listing(hooked),
  getWebhook: hooked,
  updateWebhook: hooked,
  deleteWebhook: hooked,
  rotateWebhookSecret: hooked,
  pingWebhook: hooked,
  listDeliveries: pinged,
  getEvent: happened,
  makeWorld: async (world) => ({ id: `${world.name}-copy`, body: { from: world.name } }),
  dropWorld: (world) => ({ id: world.name }),
  listSnapshots: listing(keptSnapshot),
  keepSnapshot: (world) => ({ id: `of-${world.name}` }),
  getSnapshot: keptSnapshot,
  deleteSnapshot: keptSnapshot,
  restoreSnapshot: keptSnapshot,
  getClock: listing((world) => world.clock({ frozen: true })),
  listFaults: listing((world) => succeeds(world.control('/faults', examples.get('addFault')))),
  removeFault: async (world) => created(await world.control('/faults', examples.get('addFault'))),
  listRequests: listing(logged),
  getRequest: logged,
  replayRequest: logged,
  listSandboxClients: listing(addedClient),
  editSandboxClient: addedClient,
  advancePayout: unsettledPayout,
  failPayout: async (world) => {
    const call = await unsettledPayout(world)
    await succeeds(world.control(`/payouts/${call.id}/advance`, { to: 'processing' }))
    return call
  },
  returnPayout: completedPayout,
  deliverOrder: (world) => undeliveredOrder(world, { quantity: 2 }),
  failOrder: (world) => undeliveredOrder(world),
  refundOrder: async (world) => ({ ...(await placedOrder(world)), body: {} }),
  listWorldOrders: listing((world) => placedOrder(world)),
  listWorldPayouts: listing(createdPayout),
  listDue: listing(createdPayout),
  listWorldEvents: listing(funded),
  redeliverWorldEvent: ordered,
  listWorldWebhooks: listing(hooked),
  listInbox: listing(inboxed),
  receiveInInbox: () => ({ id: 'hooks', body: {} }),
  setInboxReply: () => ({ id: 'hooks' }),
}

/** Refusals by their stable names. */
const REFUSALS: Record<string, Scene> = {
  'requests.client_unknown': () => ({ body: { method: 'GET', path: '/status', client: 'sbx_nobody.here' } }),
  'reconcile.body_unreadable': () => ({ body: 'x'.repeat(8_388_609) }),
  'reconcile.validation': sending({ reference: 'a', type: 'order', currency: 'USD' }),
  'reconcile.client_unknown': () => ({ query: 'client=nobody' }),
  'requests.path_wrong': () => ({ body: { method: 'GET', path: '/_sandbox/reset' } }),
  'requests.headers_wrong': () => ({ body: { method: 'GET', path: '/status', headers: { 'x y': '1' } } }),
  'auth.credentials_missing': () => ({ body: { username: 'sandbox' } }),
  'auth.credentials_wrong': (world) => ({ body: { username: `sbx_${world.name}`, password: 'another' } }),
  'auth.too_many_failures': async (world) => {
    const body = { username: `sbx_${world.name}`, password: 'another' }
    for (let count = 0; count < 10; count++) await world.post('/auth/login', body)
    return { body }
  },
  'auth.validation': () => ({ body: { username: '\0', password: 'x', refresh_token: '\0' } }),
  'auth.foreign': () => ({
    body: { username: 'sbx_of-a-stranger', password: 'x' },
    headers: { origin: 'https://elsewhere.example' },
  }),
  'auth.refresh_token_missing': () => ({ body: {} }),
  'auth.refresh_token_wrong': () => ({ body: { refresh_token: 'a.b.c' } }),
  'beneficiaries.list_validation': () => ({ query: 'limit=101' }),
  'beneficiaries.email_missing': () => ({ body: { first_name: 'Ada', last_name: 'Lovelace' } }),
  'beneficiaries.email_invalid': () => ({ body: { email: 'ada@', first_name: 'Ada', last_name: 'Lovelace' } }),
  'products.list_validation': () => ({ query: 'limit=10001' }),
  'availability.validation': () => ({ body: { denomination: 100 } }),
  'discount.validation': () => ({ body: { denomination: 0.001 } }),
  'discount.denomination_not_offered': () => ({ body: { denomination: 101 } }),
  'charges.validation': () => ({ body: { denomination: 0.001, quantity: 1 } }),
  'charges.denomination_not_offered': () => ({ body: { denomination: 101, quantity: 1 } }),
  'charges.quantity_exceeded': () => ({ body: { denomination: 100, quantity: 51 } }),
  'charges.wallet_not_found': () => ({ body: { denomination: 100, quantity: 1, wallet_id: 5 } }),
  'charges.rate_missing': () => ({ id: 10, body: { denomination: 500, quantity: 1, wallet_id: 1 } }),
  'charges.amount_too_large': () => ({ body: { denomination: 1_000_000_000, quantity: 1_000_000 } }),
  'charges.amount_too_small': () => ({ id: 1, body: { denomination: 1, quantity: 1 } }),
  'wallets.list_validation': () => ({ query: 'type=GIFT' }),
  'transactions.list_validation': () => ({ query: 'created_from=yesterday' }),
  'orders.list_validation': () => ({ query: 'limit=101' }),
  'orders.validation': () => ({ body: { product_id: 1, denomination: 100 } }),
  'orders.product_not_found': order({ product_id: 2_147_483_647 }),
  'orders.denomination_not_offered': order({ denomination: 101 }),
  'orders.quantity_exceeded': order({ quantity: 51 }),
  'orders.wallet_not_found': order({ wallet_id: 5 }),
  'orders.rate_missing': order({ product_id: 10, denomination: 500, quantity: 1, wallet_id: 1 }),
  'orders.amount_too_large': order({ denomination: 1_000_000_000, quantity: 1_000_000 }),
  'orders.amount_too_small': order({ product_id: 1, denomination: 1, quantity: 1 }),
  'orders.insufficient_balance': order({ product_id: 12, denomination: 1_000, quantity: 1_000 }),
  'orders.insufficient_stock': order({ product_id: 9, denomination: 10, quantity: 4 }),
  'orders.duplicate_reference': async (world) => {
    await placedOrder(world)
    return {}
  },
  'orders.not_cancellable': (world) => placedOrder(world),
  'payouts.list_validation': () => ({ query: 'limit=101' }),
  'payouts.validation': payout({ amount: undefined }),
  'payouts.wallet_not_found': payout({ wallet_id: 5 }),
  'payouts.beneficiary_not_found': payout({
    beneficiary_id: 'ben_nobody',
    beneficiary_email: undefined,
    beneficiary_first_name: undefined,
    beneficiary_last_name: undefined,
    beneficiary_country: undefined,
  }),
  'payouts.rate_missing': payout({ currency: 'KES' }),
  'payouts.amount_too_large': payout({ amount: 1_000_000_000, wallet_id: 3 }),
  'payouts.amount_too_small': payout({ amount: 0.01, currency: 'INR' }),
  'payouts.insufficient_balance': payout({ amount: 1_000_000 }),
  'payouts.duplicate_reference': async (world) => {
    await createdPayout(world)
    return {}
  },
  'payouts.not_cancellable': async (world) => {
    const call = await createdPayout(world)
    await world.clock({ advance: 'PT1M' })
    return call
  },
  'events.list_validation': () => ({ query: 'limit=101' }),
  'webhooks.list_validation': () => ({ query: 'limit=101' }),
  'webhooks.validation': sending({ name: 'x', events: ['*'] }),
  'webhooks.too_many': async (world) => {
    for (let count = 0; count < 20; count++) await hooked(world)
    return {}
  },
  'webhooks.update_body_unreadable': async (world) => ({ ...(await hooked(world)), body: 'no JSON' }),
  'webhooks.update_validation': async (world) => ({ ...(await hooked(world)), body: { active: 'yes' } }),
  'webhooks.not_active': async (world) => {
    const call = await hooked(world)
    await succeeds(world.request(`/api/v1/webhooks/${call.id}`, { method: 'PATCH', body: '{"active":false}' }))
    return call
  },
  'webhooks.deliveries_validation': async (world) => ({ ...(await hooked(world)), query: 'limit=101' }),
  'worlds.validation': () => ({ id: 'No-Name' }),
  'worlds.source_not_found': () => ({ id: 'copy', body: { from: 'nowhere' } }),
  'worlds.not_found': () => ({ id: 'nowhere' }),
  'worlds.default_kept': () => ({ id: 'default' }),
  'snapshots.validation': () => ({ id: 'No-Name' }),
  'snapshots.world_not_found': async (world) => ({ ...(await keptSnapshot(world)), query: 'world=nowhere' }),
  'snapshots.not_found': () => ({ id: 'nothing' }),
  'faults.validation': sending({ error: 'nothing' }),
  'pace.validation': sending({ payouts: 'fast' }),
  'product.validation': sending({ stock: -1 }),
  'rates.validation': sending({ base: 'USD', rates: { EUR: 'much' } }),
  'clients.validation': sending({ name: 'Shop' }),
  'client_edit.validation': sending({ rate_limit: 'fast' }),
  'scenario.stopped': sending(STOPPING),
  'worlds.stopped': () => ({ id: 'copy', body: { scenario: STOPPING } }),
  'scenario.validation': sending({ steps: [{ method: 'GET' }] }),
  'wallet_open.validation': sending({ currency: 'XXX' }),
  'wallet_fund.validation': sending({}),
  'inbox_receive.validation': () => ({ id: 'x'.repeat(65) }),
  'inbox_reply.validation': sending({ status: 100 }),
  'event_make.validation': sending({}),
  'event_make.not_found': sending({ type: 'ping', client: 'nobody' }),
  'wallet_update.validation': sending({ threshold: 'much' }),
  'payout_advance.validation': sending({ to: 'nowhere' }),
  'payout_advance.transition_refused': completedPayout,
  'payout_fail.validation': sending({ failure_code: '' }),
  'payout_fail.transition_refused': completedPayout,
  'payout_return.validation': sending({ failure_reason: '' }),
  'payout_return.transition_refused': unsettledPayout,
  'order_deliver.validation': sending({ quantity: 0 }),
  'order_deliver.transition_refused': (world) => placedOrder(world),
  'order_fail.validation': sending({ failure_reason: '' }),
  'order_fail.transition_refused': (world) => placedOrder(world),
  'order_refund.validation': sending({ remarks: '' }),
  'order_refund.refused': async (world) => {
    const call = await placedOrder(world)
    await succeeds(world.control(`/orders/${call.id}/refund`, {}))
    return call
  },
  'world_events.not_found': () => ({ query: 'after=evt_1' }),
  'requests.unrepeatable': async (world) => {
    await succeeds(
      world.post('/api/v1/beneficiaries', { ...examples.get('createBeneficiary'), metadata: { token: 'x' } }),
    )
    return { query: 'format=scenario' }
  },
  'requests.validation': () => ({ query: 'format=xml' }),
  'coverage.validation': () => ({ query: 'format=xml' }),
  'clock.validation': async (world) => {
    await savedBeneficiary(world)
    return { body: { now: '2000-01-01T00:00:00Z' } }
  },
}
const ON_HUGE = /^(?:charges|orders|payouts)\.amount_too_(?:large|small)$/
/** The errors that no single request provokes: unexpected errors, a full disk, too many or too large worlds, a long document. */
const UNPROVOKED =
  /^internal$|^unavailable$|\.rate_failed$|\.exhausted$|\.(?:world_|snapshot_)?damaged$|\.too_l(?:arge|ong)$/

/** Sends a call, to the control API without the token of a client. */
const send = (world: TestWorld, operation: Served, call: Call): Promise<Response> => {
  const { method, tags, path, parameters } = operation
  const takesWorld = tags.includes('Sandbox') && parameters.some(({ name }) => name === 'world')
  const ofWorld = takesWorld && !call.query?.includes('world=') ? `world=${world.name}` : ''
  const query = [call.query ?? '', ofWorld].filter((part) => part !== '').join('&')
  const body = 'body' in call ? call.body : exampleOf(operation)
  return world.request(`${path.replace(/\{\w+\}/, String(call.id ?? 1))}${query && `?${query}`}`, {
    method,
    headers: { ...call.headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The beginning of a response that stays open. */
const textOf = async (response: Response): Promise<string> => {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  const reader = response.body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return Buffer.from(first?.value ?? []).toString()
}

/** The same for everybody until the next release: caches may keep it. */
const FOR_ALL = new Set(['getFrontPage', 'getCardPicture'])

/** Compares a response with the documented response of its status. */
const conforms = async (operation: Served, status: number, response: Response): Promise<unknown> => {
  const text = await textOf(response)
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${text}`)
  const documented = operation.responses[status]
  if (!documented) throw new Error(`${status} is not documented`)
  for (const [name, { required, schema }] of Object.entries(documented.headers ?? {})) {
    const value = response.headers.get(name)
    if (value === null) expect({ name, required }).toEqual({ name, required: false })
    else expect({ name, faults: headerFaultsOf(schema, value) }).toEqual({ name, faults: [] })
  }
  const known = Object.keys(documented.headers ?? {}).map((name) => name.toLowerCase())
  const ours = [...response.headers.keys()].filter((name) => /^(?:x-(?!accel-)|idempotent-|retry-|www-)/.test(name))
  expect(ours.filter((name) => !known.includes(name))).toEqual([])
  const isForAll = response.ok && FOR_ALL.has(operation.operationId)
  expect(response.headers.get('cache-control')).toBe(isForAll ? 'no-cache' : 'no-store')
  expect(response.headers.has('etag')).toBe(isForAll)
  const [content] = Object.entries(documented.content ?? {})
  if (!content) {
    expect(text).toBe('')
    return undefined
  }
  const [type, { schema }] = content
  expect(response.headers.get('content-type')).toStartWith(type)
  const body: unknown = type === 'application/json' ? JSON.parse(text) : text
  expect(faultsOf(schema, body)).toEqual([])
  return body
}

/** The values in refusals differ; their texts do not. */
const wordsOf = (body: unknown): string =>
  JSON.stringify(body)
    .replace(/\d+/g, 'N')
    .replace(/\b[A-Z]{3} to [A-Z]{3}\b/, 'ONE to OTHER')

/** The refusals that are the same for all operations, each with a request that provokes it. */
const provoke = async (operation: Served, name: string, body: unknown): Promise<Response> => {
  if (JSON.stringify(body).includes('"wrld"')) {
    return send(await servers.plain.world(), operation, { query: 'wrld=x' })
  }
  const scene = REFUSALS[name]
  if (scene) {
    const world = await (ON_HUGE.test(name) ? servers.huge : servers.plain).world()
    return send(world, operation, await scene(world))
  }
  if (name === 'rate_limited') {
    const world = await servers.tight.world()
    await world.get('/api/v1/countries/1')
    return send(world, operation, {})
  }
  const world = await (name.endsWith('.token_wrong') ? servers.closed : servers.plain).world()
  const [parameter] = operation.parameters.filter((each) => each.in === 'path')
  switch (name.split('.').at(-1)) {
    case 'fault_unknown':
      return send(world, operation, { headers: { 'x-sandbox-fault': 'nothing.like_it' } })
    case 'parameter_unknown':
      return send(await servers.strict.world(), operation, { query: 'pretty=1' })
    case 'unauthorized':
      return send(world, operation, { headers: { authorization: 'Bearer a.b.c' } })
    case 'feature_disabled':
      return send(await world.limited(), operation, {})
    case 'invalid_id':
      return send(world, operation, { id: '01' })
    case 'not_found':
    case 'delete_not_found':
    case 'cancel_not_found':
    case 'update_not_found':
    case 'rotate_not_found':
    case 'ping_not_found':
    case 'deliveries_not_found':
    case 'redeliver_not_found':
      return send(world, operation, { id: parameter?.schema.type === 'string' ? 'nobody' : 2_147_483_647 })
    case 'body_unreadable':
      return send(world, operation, { body: 'no JSON' })
    case 'body_encoded':
      return send(world, operation, { headers: { 'content-encoding': 'gzip' } })
    case 'idempotency_key_malformed':
      return send(world, operation, { headers: { 'idempotency-key': 'short' } })
    case 'idempotency_key_reused': {
      const headers = { 'idempotency-key': 'a key of my own' }
      await send(world, operation, { headers })
      // Without a body, an operation is told from another by its path.
      return send(world, operation, operation.requestBody ? { headers, body: {} } : { headers, id: 2 })
    }
    case 'dry_run_malformed':
      return send(world, operation, { headers: { 'x-dry-run': 'yes' } })
    case 'dry_run_with_key':
      return send(world, operation, { headers: { 'x-dry-run': 'true', 'idempotency-key': 'a key of my own' } })
    case 'world_not_found':
      return send(world, operation, { query: 'world=nowhere' })
    case 'token_wrong':
      return send(world, operation, {})
    case 'foreign':
      return send(world, operation, { headers: { origin: 'https://elsewhere.example' } })
    default:
      throw new Error(`say in this file how ${name} is provoked`)
  }
}

describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (id, operation) => {
  const { status } = successOf(operation)
  test(`returns ${status} as documented`, async () => {
    const world = await servers.plain.world()
    const call = (await SUCCESSES[id]?.(world)) ?? {}
    await conforms(operation, status, await send(world, operation, call))
  })

  const provoked = refusalsIn(operation).filter(({ name }) => !UNPROVOKED.test(name))
  test.each(provoked.map((refusal) => [refusal.status, refusal.name, refusal] as const))(
    'refuses with %d %s as documented',
    async (_, name, refusal) => {
      const body = await conforms(operation, refusal.status, await provoke(operation, name, refusal.body))
      expect(wordsOf(body)).toBe(wordsOf(refusal.body))
    },
  )
})

/** Requested by the number in the example: the same record in every world. */
const REFERENCE = new Set(['getCountry', 'getCurrency', 'getCategory', 'getSubcategory'])
/** The examples that are too large to show, or count all documented outcomes. */
const NOT_SHOWN = new Set(['getSnapshot', 'getCoverage'])

/** The members that differ in each response: names, times, codes, secrets and addresses. */
const MADE_UP: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'a time'],
  [/^eyJ[\w-]*\.[\w-]+\.[\w-]+$/, 'a token'],
  [/^ben_\w+$|^pyt_\w+$|^evt_\w+$|^whk_\w+$|^req_.+$/, 'a id'],
  [/^whsec_.+$/, 'a secret'],
  [/TEST[A-Z0-9]{12}/, 'a card'],
  [/^[A-Z0-9]{4}$/, 'a pin'],
  [/^[0-9a-z]{32}$/, 'a password'],
  [/^(?:default|checkout|prepared)$/, 'WORLD'],
  [/^sbx_checkout/, 'sbx_WORLD'],
]

/** A response without the members that differ each time. */
const factsOf = (value: unknown, world: TestWorld): unknown => {
  if (Array.isArray(value)) return value.map((item) => factsOf(item, world))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, name === 'duration_ms' ? 0 : factsOf(member, world)]),
    )
  }
  if (typeof value !== 'string') return value
  const text = value
    .replaceAll(servers.plain.url, 'http://127.0.0.1:4747')
    .replace(new RegExp(`(?:of-)?${world.name}(?!\\d)(?:-copy)?`), 'WORLD')
  return MADE_UP.reduce((kept, [pattern, word]) => kept.replace(pattern, word), text)
}

/** An example shows some items of a list, and some of these members. */
const SHOWN_IN_PART = new Set(['worlds', 'headers', 'rates', 'products', 'payouts', 'amounts'])

/** The part of a response that an example shows. */
const shownOf = (received: unknown, example: unknown): unknown => {
  if (Array.isArray(received) && Array.isArray(example)) {
    return example.map((item) => {
      const parts = received.map((each) => partsOf(each, item))
      return parts.find((each) => Bun.deepEquals(each, item)) ?? parts[0]
    })
  }
  return partsOf(received, example)
}

const partsOf = (received: unknown, example: unknown): unknown => {
  if (!isRecord(received) || !isRecord(example)) return received
  return Object.fromEntries(
    Object.entries(received).map(([name, member]) => {
      const shown = example[name]
      if (!SHOWN_IN_PART.has(name)) return [name, partsOf(member, shown)]
      return [name, isRecord(member) && isRecord(shown) ? picked(member, Object.keys(shown)) : shownOf(member, shown)]
    }),
  )
}

const picked = (record: Record<string, unknown>, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, record[name]]))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const examined = operations.filter((operation) => {
  const { example } = successOf(operation).response.content?.['application/json'] ?? {}
  return example !== undefined && !NOT_SHOWN.has(operation.operationId)
})

test.each(examined.map((operation) => [operation.operationId, operation] as const))(
  'the example of %s matches the response',
  async (id, operation) => {
    const world = await servers.plain.world()
    const { example } = successOf(operation).response.content?.['application/json'] ?? {}
    const fixed = REFERENCE.has(id) && isRecord(example) ? { id: Number(example.id) } : {}
    const call = (await SUCCESSES[id]?.(world)) ?? fixed
    const received: unknown = await (await send(world, operation, call)).json()
    const [facts, shown] = [factsOf(received, world), factsOf(example, world)]
    expect(shownOf(facts, shown)).toEqual(shown)
  },
)

test('every operation whose requests may ask for a fault documents the 400 for an unknown one', async () => {
  for (const operation of operations) {
    const world = await servers.plain.world()
    const headers = { 'x-sandbox-fault': 'nothing.like_it' }
    const { status } = await send(world, operation, { ...(await SUCCESSES[operation.operationId]?.(world)), headers })
    const named = refusalsIn(operation).map(({ name }) => name)
    const isExempt = /^\/(?:_sandbox|livez|readyz)/.test(operation.path)
    expect({ operation: operation.operationId, isRefused: status === 400 }).toMatchObject({ isRefused: !isExempt })
    expect({ operation: operation.operationId, isDocumented: named.includes('fault_unknown') }).toMatchObject({
      isDocumented: !isExempt,
    })
  }
})

test('no scene belongs to a removed operation', () => {
  const ids = operations.map(({ operationId }) => operationId)
  const names = operations.flatMap((operation) => refusalsIn(operation).map(({ name }) => name))
  expect(Object.keys(SUCCESSES).filter((id) => !ids.includes(id))).toEqual([])
  expect(Object.keys(REFUSALS).filter((name) => !names.includes(name))).toEqual([])
})

const replayable = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))

test.each(replayable.map((operation) => [operation.operationId, operation] as const))(
  'a replayed response of %s has the documented header',
  async (id, operation) => {
    const world = await servers.plain.world()
    const call = { ...(await SUCCESSES[id]?.(world)), headers: { 'idempotency-key': `again ${id}` } }
    const { status } = successOf(operation)
    const first = await conforms(operation, status, await send(world, operation, call))
    const second = await send(world, operation, call)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await conforms(operation, status, second)).toEqual(first)
  },
)
