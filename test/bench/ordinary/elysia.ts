import { Database } from 'bun:sqlite'
import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { and, count, desc, eq, getTableColumns, gte, inArray, isNull, type NotNull, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import {
  integer,
  real,
  type SQLiteIntegerBuilderInitial,
  type SQLiteTable,
  type SQLiteTextBuilderInitial,
  sqliteTable,
  text,
} from 'drizzle-orm/sqlite-core'
import { Elysia, t } from 'elysia'
import * as shop from './shop.ts'

/** An ordinary program: Elysia with drizzle on Bun, as a team would write it in an afternoon. */

const file = new Database(process.argv[2] as string)
for (const pragma of ['synchronous = FULL', 'foreign_keys = ON', 'cache_size = -65536']) file.run(`PRAGMA ${pragma}`)
const db = drizzle(file)
const pick = <T extends object, N extends keyof T>(all: T, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<T, N>
const strings = <N extends string>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, text().notNull()])) as Record<
    N,
    NotNull<SQLiteTextBuilderInitial<'', [string, ...string[]], undefined>>
  >
const integers = <N extends string>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, integer().notNull()])) as Record<
    N,
    NotNull<SQLiteIntegerBuilderInitial<''>>
  >
const json = <T>() => text({ mode: 'json' }).$type<T>().notNull()
const id = { id: integer().primaryKey() }

const Countries = sqliteTable('countries', {
  ...{ ...id, ...strings('name', 'official_name', 'alpha_2', 'alpha_3', 'numeric_code', 'dialing_prefix') },
})
const Currencies = sqliteTable('currencies', { ...strings('code'), ...integers('precision'), per_usd: real() })
const shown = {
  ...{ ...id, ...strings('name', 'category', 'sub_category', 'country_code', 'currency_code', 'image_url') },
  ...strings('delivery_mode', 'delivery_time', 'validity'),
  available_denominations: json<shop.Priced['available_denominations']>(),
}
const fees = { gst_percent: real().notNull(), fee_fixed: real().notNull(), fee_percent: real().notNull() }
const Products = sqliteTable('products', {
  ...shown,
  ...fees,
  ...integers('max_quantity', 'country_id', 'currency_id'),
})
const Clients = sqliteTable('clients', { ...id, ...strings('username', 'password_digest') })
const Wallets = sqliteTable('wallets', {
  ...id,
  ...integers('client_id', 'balance_minor'),
  ...strings('currency_code'),
})
const Entries = sqliteTable('entries', {
  ...{ ...id, ...integers('wallet_id', 'amount_minor', 'balance_minor'), ...strings('source', 'created_at') },
})
const Beneficiaries = sqliteTable('beneficiaries', {
  ...{ ...strings('id', 'email', 'first_name', 'last_name', 'created_at'), ...integers('client_id') },
  ...{ country: text(), phone: text(), metadata: json<Record<string, unknown>>() },
})
const Orders = sqliteTable('orders', {
  ...{ ...id, ...integers('client_id', 'product_id', 'wallet_id', 'entry_id', 'quantity') },
  ...{ client_reference: text(), denomination: real().notNull(), charges: json<shop.Order['charges']>() },
  ...strings('status', 'placed_at'),
})
const Vouchers = sqliteTable('vouchers', {
  ...{ ...id, ...integers('product_id'), denomination: real().notNull() },
  ...{ ...strings('card_number', 'pin_code'), order_id: integer() },
})
const Payouts = sqliteTable('payouts', {
  ...strings('id', 'reference_id', 'status', 'currency', 'email', 'first_name', 'last_name', 'created_at'),
  ...integers('client_id', 'wallet_id', 'entry_id', 'amount_minor', 'fees_minor'),
})
const Keys = sqliteTable('idempotency_keys', {
  ...{ ...integers('client_id'), ...strings('key', 'request', 'created_at'), body: json<shop.Key['body']>() },
})

const is = sql.placeholder
const columns = getTableColumns(Products)
const listed = pick(columns, Object.keys(shown) as (keyof typeof shown)[])
const priced = pick(columns, [
  'id',
  'name',
  'currency_code',
  'available_denominations',
  'gst_percent',
  'fee_fixed',
  'fee_percent',
  'max_quantity',
])
const client = db
  .select()
  .from(Clients)
  .where(eq(Clients.username, is('username')))
  .prepare()
const product = db
  .select(priced)
  .from(Products)
  .where(eq(Products.id, is('id')))
  .prepare()
const isOfClient = eq(Wallets.client_id, is('client'))
const wallet = db
  .select()
  .from(Wallets)
  .where(and(isOfClient, eq(Wallets.id, is('id'))))
  .prepare()
const inCurrency = desc(sql`${Wallets.currency_code} = ${is('currency')}`)
const walletFor = db.select().from(Wallets).where(isOfClient).orderBy(inCurrency, Wallets.id).limit(1).prepare()
const debit = db
  .update(Wallets)
  .set({ balance_minor: sql`${Wallets.balance_minor} - ${is('amount')}` })
  .where(and(eq(Wallets.id, is('id')), gte(Wallets.balance_minor, is('amount'))))
  .returning({ balance: Wallets.balance_minor })
  .prepare()
/** An insert of a whole row, with a placeholder for each column. */
const insertOf = <T extends SQLiteTable>(table: T, ...left: string[]) => {
  const names = Object.keys(getTableColumns(table)).filter((name) => !left.includes(name))
  return db.insert(table).values(Object.fromEntries(names.map((name) => [name, is(name)])) as T['$inferInsert'])
}
const insertEntry = insertOf(Entries, 'id').returning({ id: Entries.id }).prepare()
const insertOrder = insertOf(Orders, 'id').returning({ id: Orders.id }).prepare()
const insertBeneficiary = insertOf(Beneficiaries).prepare()
const insertPayout = insertOf(Payouts).prepare()
const insertKey = insertOf(Keys).prepare()
const stock = and(
  eq(Vouchers.product_id, is('product')),
  eq(Vouchers.denomination, is('denomination')),
  isNull(Vouchers.order_id),
)
const takeVouchers = db
  .update(Vouchers)
  .set({ order_id: sql`${is('order')}` })
  .where(
    inArray(
      Vouchers.id,
      db.select({ id: Vouchers.id }).from(Vouchers).where(stock).orderBy(Vouchers.id).limit(is('quantity')),
    ),
  )
  .returning({ id: Vouchers.id, card_number: Vouchers.card_number, pin_code: Vouchers.pin_code })
  .prepare()
const findKey = db
  .select()
  .from(Keys)
  .where(and(eq(Keys.client_id, is('client')), eq(Keys.key, is('key'))))
  .prepare()

const store: shop.Store = {
  countries: db.select().from(Countries).orderBy(Countries.id).all(),
  currencies: db.select().from(Currencies).all(),
  immediate: (work) => db.transaction(work, { behavior: 'immediate' }),
  client: (username) => client.get({ username }),
  product: (id) => product.get({ id }),
  wallet: (client, id) => wallet.get({ client, id }),
  walletFor: (client, currency) => walletFor.get({ client, currency }),
  debit: (id, amount) => debit.get({ id, amount })?.balance,
  insertEntry: (wallet_id, source, amount_minor, balance_minor, created_at) =>
    insertEntry.get({ wallet_id, source, amount_minor, balance_minor, created_at }).id,
  insertBeneficiary: (row) => void insertBeneficiary.run({ ...row }),
  insertOrder: (row) => insertOrder.get({ ...row }).id,
  takeVouchers: (order, product, denomination, quantity) =>
    takeVouchers.all({ order, product, denomination, quantity }),
  insertPayout: (row) => void insertPayout.run({ ...row }),
  findKey: (client, key) => findKey.get({ client, key }),
  insertKey: (row) => void insertKey.run({ ...row }),
}
const { country, charge, save, order, payout, payoutOf, logIn } = shop.shopOf(store)

const payoutsOf = eq(Payouts.client_id, is('client'))
const newest = [desc(Payouts.created_at), desc(Payouts.id)]
const payoutCount = db.select({ total: count() }).from(Payouts).where(payoutsOf).prepare()
const payoutPage = db
  .select()
  .from(Payouts)
  .where(payoutsOf)
  .orderBy(...newest)
  .limit(is('limit'))
  .offset(is('offset'))
  .prepare()
/** The statements of a list of products, by the filters that are set. */
const lists = new Map<string, ReturnType<typeof listBy>>()
const listBy = (names: string[]) => {
  const where = and(...names.map((name) => eq(columns[name as 'category'], is(name))))
  const rows = db.select(listed).from(Products).where(where).orderBy(desc(Products.id))
  return {
    count: db.select({ total: count() }).from(Products).where(where).prepare(),
    rows: rows.limit(is('limit')).offset(is('offset')).prepare(),
  }
}

// Its own integers: those of typebox take no text from a path or a query.
const Id = t.Object({ id: t.Integer({ minimum: 1 }) })
const pageOf = (limit: number, maximum: number) => ({
  page: t.Integer({ minimum: 1, default: 1 }),
  limit: t.Integer({ minimum: 1, maximum, default: limit }),
})
const filters = {
  category: t.Optional(t.String()),
  country_id: t.Optional(t.Integer()),
  currency_id: t.Optional(t.Integer()),
}
const ProductQuery = t.Object({ ...pageOf(50, 10_000), ...filters })
const PayoutQuery = t.Object(pageOf(20, 100))

type Headers = Record<string, string | number>
const pageHeaders = (headers: Headers, page: number, limit: number, total = 0): void => {
  headers['X-Page'] = page
  headers['X-Per-Page'] = limit
  headers['X-Total-Count'] = total
  headers['X-Total-Pages'] = Math.ceil(total / limit)
}

const api = new Elysia({ prefix: '/api/v1' })
  .derive(({ headers, set }) => {
    const nowMs = Date.now()
    const client = shop.clientOf(headers.authorization, nowMs)
    const { limit, remaining, reset } = shop.limitOf(client, nowMs)
    set.headers['X-RateLimit-Limit'] = `${limit}`
    set.headers['X-RateLimit-Remaining'] = `${remaining}`
    set.headers['X-RateLimit-Reset'] = `${reset}`
    if (remaining === 0) throw shop.tooMany()
    return { client }
  })
  .get('/countries', () => store.countries, { response: Type.Array(shop.Country) })
  .get('/countries/:id', ({ params }) => country(params.id), { params: Id, response: shop.Country })
  .get(
    '/products',
    ({ query: { page, limit, ...filters }, set }) => {
      const names = Object.keys(filters)
      const list = lists.get(`${names}`) ?? listBy(names)
      lists.set(`${names}`, list)
      const total = list.count.get(filters)?.total ?? 0
      const rows = list.rows.all({ ...filters, limit, offset: (page - 1) * limit })
      pageHeaders(set.headers as Headers, page, limit, total)
      set.headers['X-Page-Size'] = `${rows.length}`
      set.headers['X-Has-More'] = `${page * limit < total}`
      return rows
    },
    { query: ProductQuery, response: Type.Array(shop.ProductShape) },
  )
  .post('/products/:id/charges', ({ client, params, body }) => charge(client, params.id, body), {
    ...{ params: Id, body: shop.Purchase, response: shop.Price },
  })
  .post(
    '/beneficiaries',
    ({ client, body, set }) => {
      set.status = 201
      return save(client, body)
    },
    { body: shop.BeneficiaryRequest, response: { 201: shop.BeneficiaryShape } },
  )
  .post(
    '/orders',
    ({ client, body, set }) => {
      set.headers['Cache-Control'] = 'no-store'
      return order(client, body)
    },
    { body: shop.OrderRequest, response: shop.OrderShape },
  )
  .post(
    '/payouts',
    ({ client, body, headers, set }) => {
      set.status = 201
      return payout(client, body, headers['idempotency-key'])
    },
    { body: shop.PayoutRequest, response: { 201: shop.PayoutShape } },
  )
  .get(
    '/payouts',
    ({ client, query: { page, limit }, set }) => {
      pageHeaders(set.headers as Headers, page, limit, payoutCount.get({ client })?.total)
      return payoutPage.all({ client, limit, offset: (page - 1) * limit }).map(payoutOf)
    },
    { query: PayoutQuery, response: Type.Array(shop.PayoutShape) },
  )

const app = new Elysia()
  .onRequest(({ set }) => {
    set.headers['X-Request-Id'] = randomUUID()
  })
  .onError(({ error, code, set }) => {
    const isInvalid = code === 'VALIDATION' || code === 'PARSE'
    const invalid = isInvalid ? new shop.Refusal(400, 'VALIDATION_FAILURE', 'Invalid request') : undefined
    const refusal = error instanceof shop.Refusal ? error : (invalid ?? shop.internal())
    set.status = refusal.status
    return refusal.body
  })
  .post(
    '/auth/login',
    ({ body, set }) => {
      set.headers['Cache-Control'] = 'no-store'
      return logIn(body)
    },
    { body: shop.Credentials, response: shop.Tokens },
  )
  .use(api)
  .listen({ port: 0, hostname: '127.0.0.1' })
process.stdout.write(`ready url=http://127.0.0.1:${app.server?.port}\n`)
