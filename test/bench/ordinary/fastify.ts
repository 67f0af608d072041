import { randomUUID } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify, { type FastifyReply } from 'fastify'
import * as shop from './shop.ts'

/** An ordinary program: Fastify with better-sqlite3 on Node, as a team would write it in an afternoon. */

const db = new Database(process.argv[2] as string)
for (const pragma of ['synchronous = FULL', 'foreign_keys = ON', 'cache_size = -65536']) db.pragma(pragma)
const query = <T>(sql: string) => db.prepare<unknown[], T>(sql)
const insert = (table: string, ...columns: string[]) =>
  db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map((column) => `@${column}`)})`)

type Text<T, N extends keyof T> = Omit<T, N> & { [name in N]: string }
type Product = NonNullable<ReturnType<shop.Store['product']>>
const client = query<{ id: number; password_digest: string }>('SELECT * FROM clients WHERE username = ?')
const product = query<Text<Product, 'available_denominations'>>(
  `SELECT id, name, currency_code, available_denominations, gst_percent, fee_fixed, fee_percent, max_quantity
   FROM products WHERE id = ?`,
)
const wallet = query<{ id: number; currency_code: string }>('SELECT * FROM wallets WHERE client_id = ? AND id = ?')
const walletFor = query<{ id: number; currency_code: string }>(
  'SELECT * FROM wallets WHERE client_id = ? ORDER BY currency_code = ? DESC, id LIMIT 1',
)
const debit = query<{ balance_minor: number }>(
  'UPDATE wallets SET balance_minor = balance_minor - ? WHERE id = ? AND balance_minor >= ? RETURNING balance_minor',
)
const insertEntry = db.prepare(
  'INSERT INTO entries (wallet_id, source, amount_minor, balance_minor, created_at) VALUES (?, ?, ?, ?, ?)',
)
const person = ['email', 'first_name', 'last_name', 'created_at']
const insertBeneficiary = insert('beneficiaries', 'id', 'client_id', ...person, 'country', 'phone', 'metadata')
const bought = ['client_reference', 'denomination', 'quantity', 'charges', 'status', 'placed_at']
const insertOrder = insert('orders', 'client_id', 'product_id', 'wallet_id', 'entry_id', ...bought)
const takeVouchers = query<ReturnType<shop.Store['takeVouchers']>[number]>(
  `UPDATE vouchers SET order_id = ? WHERE id IN (SELECT id FROM vouchers WHERE product_id = ? AND denomination = ?
   AND order_id IS NULL ORDER BY id LIMIT ?) RETURNING id, card_number, pin_code`,
)
const paid = ['reference_id', 'wallet_id', 'entry_id', 'status', 'amount_minor', 'fees_minor', 'currency']
const insertPayout = insert('payouts', 'id', 'client_id', ...paid, ...person)
const findKey = query<Text<shop.Key, 'body'>>('SELECT * FROM idempotency_keys WHERE client_id = ? AND key = ?')
const insertKey = insert('idempotency_keys', 'client_id', 'key', 'request', 'body', 'created_at')
const unit = db.transaction((work: () => unknown) => work())

const store: shop.Store = {
  countries: query<Static<typeof shop.Country>>('SELECT * FROM countries ORDER BY id').all(),
  currencies: query<shop.Store['currencies'][number]>('SELECT * FROM currencies').all(),
  immediate: (work) => unit.immediate(work) as ReturnType<typeof work>,
  client: (username) => client.get(username),
  product: (id) => {
    const row = product.get(id)
    return row && { ...row, available_denominations: JSON.parse(row.available_denominations) }
  },
  wallet: (client, id) => wallet.get(client, id),
  walletFor: (client, currency) => walletFor.get(client, currency),
  debit: (id, amountMinor) => debit.get(amountMinor, id, amountMinor)?.balance_minor,
  insertEntry: (...values) => Number(insertEntry.run(...values).lastInsertRowid),
  insertBeneficiary: (row) => void insertBeneficiary.run({ ...row, metadata: JSON.stringify(row.metadata) }),
  insertOrder: (row) => Number(insertOrder.run({ ...row, charges: JSON.stringify(row.charges) }).lastInsertRowid),
  takeVouchers: (...values) => takeVouchers.all(...values),
  insertPayout: (row) => void insertPayout.run(row),
  findKey: (client, key) => {
    const row = findKey.get(client, key)
    return row && { ...row, body: JSON.parse(row.body) }
  },
  insertKey: (row) => void insertKey.run({ ...row, body: JSON.stringify(row.body) }),
}
const { country, charge, save, order, payout, payoutOf, logIn } = shop.shopOf(store)

const payoutCount = query<{ total: number }>('SELECT count(*) total FROM payouts WHERE client_id = ?')
const payoutPage = query<shop.PayoutRow>(
  'SELECT * FROM payouts WHERE client_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?',
)
/** The statements of a list of products, by the filters that are set. */
const lists = new Map<string, ReturnType<typeof listWhere>>()
const listWhere = (where: string) => ({
  count: query<{ total: number }>(`SELECT count(*) total FROM products ${where}`),
  rows: query<{ available_denominations: string }>(
    `SELECT ${Object.keys(shop.ProductShape.properties)} FROM products ${where} ORDER BY id DESC LIMIT ? OFFSET ?`,
  ),
})

const app = Fastify({ genReqId: () => randomUUID(), keepAliveTimeout: 75_000 })
app.decorateRequest('client', 0)
declare module 'fastify' {
  interface FastifyRequest {
    client: number
  }
}
app.addHook('onRequest', (request, reply, done) => {
  reply.header('X-Request-Id', request.id)
  done()
})
app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
  const invalid =
    (error.statusCode ?? 500) < 500 ? new shop.Refusal(400, 'VALIDATION_FAILURE', error.message) : undefined
  const refusal = error instanceof shop.Refusal ? error : (invalid ?? shop.internal())
  reply.code(refusal.status).send(refusal.body)
})
const pageHeaders = (reply: FastifyReply, page: number, limit: number, total: number): FastifyReply =>
  reply
    .header('X-Page', page)
    .header('X-Per-Page', limit)
    .header('X-Total-Count', total)
    .header('X-Total-Pages', Math.ceil(total / limit))
const arrayOf = <T extends object>(items: T) => ({ 200: { type: 'array', items } })

app.post<{ Body: Static<typeof shop.Credentials> }>(
  '/auth/login',
  { schema: { body: shop.Credentials, response: { 200: shop.Tokens } } },
  ({ body }, reply) => void reply.header('Cache-Control', 'no-store').send(logIn(body)),
)
app.register(
  (api, _options, done) => {
    api.addHook('onRequest', (request, reply, next) => {
      const nowMs = Date.now()
      request.client = shop.clientOf(request.headers.authorization, nowMs)
      const { limit, remaining, reset } = shop.limitOf(request.client, nowMs)
      reply.header('X-RateLimit-Limit', limit)
      reply.header('X-RateLimit-Remaining', remaining).header('X-RateLimit-Reset', reset)
      if (remaining === 0) throw shop.tooMany()
      next()
    })
    api.get(
      '/countries',
      { schema: { response: arrayOf(shop.Country) } },
      (_request, reply) => void reply.send(store.countries),
    )
    api.get<{ Params: Static<typeof shop.Id> }>(
      '/countries/:id',
      { schema: { params: shop.Id, response: { 200: shop.Country } } },
      ({ params }, reply) => void reply.send(country(params.id)),
    )
    api.get<{ Querystring: Static<typeof shop.ProductQuery> }>(
      '/products',
      { schema: { querystring: shop.ProductQuery, response: arrayOf(shop.ProductShape) } },
      ({ query: { page, limit, ...filters } }, reply) => {
        const columns = Object.keys(filters)
        const where = columns.length === 0 ? '' : `WHERE ${columns.map((name) => `${name} = ?`).join(' AND ')}`
        const list = lists.get(where) ?? listWhere(where)
        lists.set(where, list)
        const { total } = list.count.get(...Object.values(filters)) ?? { total: 0 }
        const rows = list.rows.all(...Object.values(filters), limit, (page - 1) * limit)
        pageHeaders(reply, page, limit, total)
          .header('X-Page-Size', rows.length)
          .header('X-Has-More', String(page * limit < total))
          .send(rows.map((row) => ({ ...row, available_denominations: JSON.parse(row.available_denominations) })))
      },
    )
    api.post<{ Params: Static<typeof shop.Id>; Body: Static<typeof shop.Purchase> }>(
      '/products/:id/charges',
      { schema: { params: shop.Id, body: shop.Purchase, response: { 200: shop.Price } } },
      ({ client, params, body }, reply) => void reply.send(charge(client, params.id, body)),
    )
    api.post<{ Body: Static<typeof shop.BeneficiaryRequest> }>(
      '/beneficiaries',
      { schema: { body: shop.BeneficiaryRequest, response: { 201: shop.BeneficiaryShape } } },
      ({ client, body }, reply) => void reply.code(201).send(save(client, body)),
    )
    api.post<{ Body: Static<typeof shop.OrderRequest> }>(
      '/orders',
      { schema: { body: shop.OrderRequest, response: { 200: shop.OrderShape } } },
      ({ client, body }, reply) => void reply.header('Cache-Control', 'no-store').send(order(client, body)),
    )
    api.post<{ Body: Static<typeof shop.PayoutRequest>; Headers: { 'idempotency-key'?: string } }>(
      '/payouts',
      { schema: { body: shop.PayoutRequest, response: { 201: shop.PayoutShape } } },
      ({ client, body, headers }, reply) => void reply.code(201).send(payout(client, body, headers['idempotency-key'])),
    )
    api.get<{ Querystring: Static<typeof shop.PayoutQuery> }>(
      '/payouts',
      { schema: { querystring: shop.PayoutQuery, response: arrayOf(shop.PayoutShape) } },
      ({ client, query: { page, limit } }, reply) => {
        const { total } = payoutCount.get(client) ?? { total: 0 }
        const rows = payoutPage.all(client, limit, (page - 1) * limit)
        pageHeaders(reply, page, limit, total).send(rows.map(payoutOf))
      },
    )
    done()
  },
  { prefix: '/api/v1' },
)
app.listen({ port: 0, host: '127.0.0.1' }).then((url) => process.stdout.write(`ready url=${url}\n`))
