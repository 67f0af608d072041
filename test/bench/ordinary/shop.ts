import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'

/** The code that both ordinary programs share; each brings its framework and its statements. */

const text = Type.String()
const money = Type.Number()
const optionalText = Type.Optional(Type.String({ maxLength: 256 }))
const id = Type.Integer({ minimum: 1 })
const nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Number>>(schema: T) =>
  Type.Union([schema, Type.Null()])

export const Id = Type.Object({ id })
export const Country = Type.Object({
  id,
  ...{ name: text, official_name: text, alpha_2: text, alpha_3: text, numeric_code: text, dialing_prefix: text },
})
const Denomination = Type.Object({ min_value: Type.Number(), max_value: Type.Number(), discount: Type.Number() })
export const ProductShape = Type.Object({
  id,
  ...{ name: text, category: text, sub_category: text, country_code: text, currency_code: text, image_url: text },
  ...{ delivery_mode: text, delivery_time: text, validity: text },
  available_denominations: Type.Array(Denomination),
})
export const Purchase = Type.Object({
  denomination: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
  quantity: id,
  wallet_id: Type.Optional(id),
})
export const Price = Type.Object({
  ...{ non_discounted_total: money, discount_amount: money, total_amount: money, discount: money, gst_amount: money },
  ...{ total_payable: money, max_quantity: Type.Integer(), net_amount: money, handling_fee_amount: money },
  charges_details: Type.Object({
    ...{ source_currency: text, destination_currency: text },
    ...{ forex_rate: nullable(Type.Number()), conversion_fee: nullable(Type.Number()) },
  }),
})
export const OrderRequest = Type.Composite([
  Type.Object({ product_id: id, client_reference: optionalText, email: optionalText }),
  Purchase,
])
const Voucher = Type.Object({ id, card_number: text, pin_code: text })
export const OrderShape = Type.Object({
  ...{ id, client_reference: nullable(text), transaction_id: id, product_id: id, product_name: text },
  ...{ denomination: money, quantity: id, currency_code: text, amount: money, charges: Price, wallet_id: id },
  ...{ status: text, placed_at: text, delivered_at: text },
  vouchers: Type.Array(Voucher),
})
const email = Type.String({ format: 'email', maxLength: 254 })
const name = Type.String({ minLength: 1, maxLength: 100 })
const Metadata = Type.Record(Type.String(), Type.Unknown())
export const BeneficiaryRequest = Type.Object({
  ...{ email, first_name: name, last_name: name },
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  phone: Type.Optional(Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$' })),
  metadata: Type.Optional(Metadata),
})
export const BeneficiaryShape = Type.Object({
  ...{ id: text, email: text, first_name: text, last_name: text, country: nullable(text), phone: nullable(text) },
  ...{ metadata: Metadata, total_payouts: Type.Integer(), total_amount: money },
  ...{ last_payout_at: nullable(text), created_at: text },
})
export const PayoutRequest = Type.Object({
  ...{ reference_id: name, wallet_id: id, amount: Type.Number({ exclusiveMinimum: 0 }), currency: name },
  ...{ beneficiary_email: email, beneficiary_first_name: name, beneficiary_last_name: name },
})
export const PayoutShape = Type.Object({
  ...{ id: text, reference_id: text, status: text, amount: money, currency: text, fees: money, total_amount: money },
  ...{ wallet_id: id, created_at: text },
  beneficiary: Type.Object({ email: text, first_name: text, last_name: text }),
})
const page = { page: Type.Integer({ minimum: 1, default: 1 }) }
export const ProductQuery = Type.Object({
  ...page,
  limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 50 }),
  ...{ category: Type.Optional(text), country_id: Type.Optional(id), currency_id: Type.Optional(id) },
})
export const PayoutQuery = Type.Object({ ...page, limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }) })
export const Credentials = Type.Object({ username: text, password: text })
export const Tokens = Type.Object({ access_token: text, refresh_token: text, token_type: text, expires_in: money })

/** A refusal, in the structured shape of the specification. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
  get body() {
    return { error: { name: this.code, code: this.code, message: this.message } }
  }
}
const notFound = (what: string): Refusal => new Refusal(404, 'NOT_FOUND', `${what} not found`)
const badRequest = (message: string): Refusal => new Refusal(400, 'BAD_REQUEST', message)

const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
const isPassword = (password: string, digest: string): boolean =>
  timingSafeEqual(Buffer.from(digestOf(password)), Buffer.from(digest))

interface Claims {
  client: number
  kind: 'access' | 'refresh'
  expiresAtMs: number
}

const ACCESS_MS = 3_600_000
const KNOWN_MAX = 10_000
const SECRET = randomBytes(32)
const signatureOf = (payload: string): string => createHmac('sha256', SECRET).update(payload).digest('base64url')
const tokenOf = (claims: Claims): string => {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${payload}.${signatureOf(payload)}`
}
const tokensOf = (client: number, nowMs: number): Static<typeof Tokens> => ({
  access_token: tokenOf({ client, kind: 'access', expiresAtMs: nowMs + ACCESS_MS }),
  refresh_token: tokenOf({ client, kind: 'refresh', expiresAtMs: nowMs + 168 * ACCESS_MS }),
  ...{ token_type: 'Bearer', expires_in: ACCESS_MS / 1_000 },
})

/** Tokens whose signature was verified: each is verified once. */
const known = new Map<string, Claims>()
const verified = (token: string): Claims | undefined => {
  const [payload = '', signature = ''] = token.split('.')
  const expected = Buffer.from(signatureOf(payload))
  const sent = Buffer.from(signature)
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return undefined
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(token, claims)
  return claims
}
/** @throws Refusal 401 */
export const clientOf = (authorization: string | undefined, nowMs: number): number => {
  const token = authorization?.startsWith('Bearer ') ? authorization.slice(7) : ''
  const claims = known.get(token) ?? verified(token)
  if (claims?.kind === 'access' && claims.expiresAtMs > nowMs) return claims.client
  throw new Refusal(401, 'UNAUTHORIZED', 'Invalid or expired access token')
}

/** The benchmark never reaches them, and every response counts and reports them. */
const LIMITS = [
  { limit: 9_999_999, windowMs: 60_000 },
  { limit: 9_999_999, windowMs: 3_600_000 },
]
const windows = new Map<number, { limit: number; windowMs: number; used: number; endsAtMs: number }[]>()
/** Counts a request, and returns the window with fewer requests left. */
export const limitOf = (client: number, nowMs: number): { limit: number; remaining: number; reset: number } => {
  let clientWindows = windows.get(client)
  if (!clientWindows) {
    clientWindows = LIMITS.map((each) => ({ ...each, used: 0, endsAtMs: nowMs + each.windowMs }))
    windows.set(client, clientWindows)
  }
  let tightest = clientWindows[0] as (typeof clientWindows)[number]
  for (const window of clientWindows) {
    if (window.endsAtMs <= nowMs) Object.assign(window, { used: 0, endsAtMs: nowMs + window.windowMs })
    window.used += 1
    if (window.limit - window.used < tightest.limit - tightest.used) tightest = window
  }
  const { limit, used, endsAtMs } = tightest
  return { limit, remaining: Math.max(0, limit - used), reset: Math.ceil(endsAtMs / 1_000) }
}
export const internal = (): Refusal => new Refusal(500, 'INTERNAL_SERVER_ERROR', 'Internal server error')
export const tooMany = (): Refusal => new Refusal(429, 'TOO_MANY_REQUESTS', 'Rate limit exceeded')

const HELD_MS = 300_000
const HELD_MAX = 10_000
const heldPrices = new Map<string, { price: Static<typeof Price>; untilMs: number }>()
/** The price held for the same purchase of a client; five minutes. */
const heldPrice = (key: string, nowMs: number): Static<typeof Price> | undefined => {
  const found = heldPrices.get(key)
  return found && found.untilMs > nowMs ? found.price : undefined
}
const hold = (key: string, price: Static<typeof Price>, nowMs: number): Static<typeof Price> => {
  if (heldPrices.size >= HELD_MAX) heldPrices.delete(heldPrices.keys().next().value as string)
  heldPrices.set(key, { price, untilMs: nowMs + HELD_MS })
  return price
}

export interface Priced {
  currency_code: string
  available_denominations: Static<typeof Denomination>[]
  gst_percent: number
  fee_fixed: number
  fee_percent: number
  max_quantity: number
}
interface Currency {
  code: string
  precision: number
  per_usd: number | null
}

type Currencies = ReadonlyMap<string, Currency>
const unitsOf = (currencies: Currencies, currency: string): number => 10 ** (currencies.get(currency)?.precision ?? 2)

/** @throws Refusal 400 and 404 */
const priceOf = (
  product: Priced,
  { denomination, quantity }: Static<typeof Purchase>,
  currency: string,
  currencies: Currencies,
): Static<typeof Price> => {
  const offer = product.available_denominations.find(
    ({ min_value, max_value }) => min_value <= denomination && denomination <= max_value,
  )
  if (!offer) throw notFound('Denomination')
  if (quantity > product.max_quantity) throw badRequest(`Quantity exceeds the maximum of ${product.max_quantity}`)
  const from = currencies.get(product.currency_code)
  const to = currencies.get(currency)
  if (!from?.per_usd || !to?.per_usd) throw badRequest(`No exchange rate from ${product.currency_code} to ${currency}`)
  const source = 10 ** from.precision
  const target = 10 ** to.precision
  const list = Math.round(denomination * source) * quantity
  const discount = Math.round((list * offer.discount) / 100)
  const rate = currency === product.currency_code ? null : to.per_usd / from.per_usd
  const net = Math.round(((list - discount) / source) * (rate ?? 1) * target)
  const gst = Math.round((net * product.gst_percent) / 100)
  const fee = Math.round(product.fee_fixed * (rate ?? 1) * target + (net * product.fee_percent) / 100)
  const conversion = rate === null ? null : Math.round(net * 0.005)
  return {
    non_discounted_total: list / source,
    discount_amount: discount / source,
    total_amount: (list - discount) / source,
    discount: offer.discount,
    gst_amount: gst / target,
    total_payable: (net + gst + fee + (conversion ?? 0)) / target,
    max_quantity: product.max_quantity,
    net_amount: net / target,
    handling_fee_amount: fee / target,
    charges_details: {
      source_currency: product.currency_code,
      destination_currency: currency,
      forex_rate: rate,
      conversion_fee: conversion === null ? null : conversion / target,
    },
  }
}

export interface PayoutRow {
  id: string
  reference_id: string
  wallet_id: number
  status: string
  amount_minor: number
  fees_minor: number
  currency: string
  email: string
  first_name: string
  last_name: string
  created_at: string
}
type Product = Priced & { id: number; name: string }
interface Wallet {
  id: number
  currency_code: string
}
export interface Beneficiary {
  id: string
  client_id: number
  email: string
  first_name: string
  last_name: string
  country: string | null
  phone: string | null
  metadata: Record<string, unknown>
  created_at: string
}
export interface Order {
  client_id: number
  product_id: number
  wallet_id: number
  entry_id: number
  client_reference: string | null
  denomination: number
  quantity: number
  charges: Static<typeof Price>
  status: string
  placed_at: string
}
export interface Key {
  client_id: number
  key: string
  request: string
  body: Static<typeof PayoutShape>
  created_at: string
}

/** The statements of a program, each prepared. */
export interface Store {
  countries: Static<typeof Country>[]
  currencies: Currency[]
  immediate: <T>(unit: () => T) => T
  client: (username: string) => { id: number; password_digest: string } | undefined
  product: (id: number) => Product | undefined
  wallet: (client: number, id: number) => Wallet | undefined
  /** The wallet in a currency, or else the first. */
  walletFor: (client: number, currency: string) => Wallet | undefined
  /** The balance that is left. Undefined if there was too little. */
  debit: (wallet: number, amountMinor: number) => number | undefined
  insertEntry: (wallet: number, source: string, amountMinor: number, balanceMinor: number, at: string) => number
  insertBeneficiary: (row: Beneficiary) => void
  insertOrder: (row: Order) => number
  takeVouchers: (order: number, product: number, denomination: number, quantity: number) => Static<typeof Voucher>[]
  insertPayout: (row: PayoutRow & { client_id: number; entry_id: number }) => void
  findKey: (client: number, key: string) => Key | undefined
  insertKey: (row: Key) => void
}

/** The decisions of the program, whatever serves it. */
export const shopOf = (store: Store) => {
  // Reference data changes with a release only.
  const currencies = new Map(store.currencies.map((currency) => [currency.code, currency]))
  const countries = new Map(store.countries.map((country) => [country.id, country]))
  const productOf = (id: number): Product => {
    const product = store.product(id)
    if (!product) throw notFound('Product')
    return product
  }
  const walletOf = (client: number, id: number | undefined, currency: string): Wallet => {
    const wallet = id === undefined ? store.walletFor(client, currency) : store.wallet(client, id)
    if (!wallet) throw badRequest('Wallet not found')
    return wallet
  }
  const pay = (wallet: Wallet, amountMinor: number, source: string, at: string): number => {
    const balanceMinor = store.debit(wallet.id, amountMinor)
    if (balanceMinor === undefined) throw badRequest('Insufficient balance')
    return store.insertEntry(wallet.id, source, -amountMinor, balanceMinor, at)
  }
  const payoutOf = (row: PayoutRow): Static<typeof PayoutShape> => {
    const { amount_minor, fees_minor, email, first_name, last_name, ...rest } = row
    const units = unitsOf(currencies, row.currency)
    const { id, reference_id, wallet_id, status, currency, created_at } = rest
    const amounts = { amount: amount_minor / units, fees: fees_minor / units }
    const beneficiary = { email, first_name, last_name }
    const total_amount = (amount_minor + fees_minor) / units
    return { id, reference_id, status, ...amounts, total_amount, currency, wallet_id, created_at, beneficiary }
  }
  const makePayout = (client: number, body: Static<typeof PayoutRequest>): Static<typeof PayoutShape> => {
    const { reference_id, currency, beneficiary_email, beneficiary_first_name, beneficiary_last_name } = body
    const wallet = walletOf(client, body.wallet_id, currency)
    if (wallet.currency_code !== currency) throw badRequest('The wallet has another currency')
    const amount_minor = Math.round(body.amount * unitsOf(currencies, currency))
    const fees_minor = Math.max(1, Math.round(amount_minor * 0.015))
    const created_at = new Date().toISOString()
    const entry_id = pay(wallet, amount_minor + fees_minor, 'payout', created_at)
    const person = { email: beneficiary_email, first_name: beneficiary_first_name, last_name: beneficiary_last_name }
    const ids = { id: `pyt_${randomUUID()}`, reference_id, wallet_id: wallet.id }
    const row = { ...ids, status: 'created', amount_minor, fees_minor, currency, ...person, created_at }
    store.insertPayout({ ...row, client_id: client, entry_id })
    return payoutOf(row)
  }

  return {
    payoutOf,
    logIn: ({ username, password }: Static<typeof Credentials>) => {
      const client = store.client(username)
      if (!client || !isPassword(password, client.password_digest))
        throw new Refusal(401, 'UNAUTHORIZED', 'Invalid credentials')
      return tokensOf(client.id, Date.now())
    },
    country: (id: number) => {
      const country = countries.get(id)
      if (!country) throw notFound('Country')
      return country
    },
    charge: (client: number, id: number, body: Static<typeof Purchase>) => {
      const nowMs = Date.now()
      const key = `${client} ${id} ${body.denomination} ${body.quantity} ${body.wallet_id}`
      const price = heldPrice(key, nowMs)
      if (price) return price
      const product = productOf(id)
      const { currency_code } = walletOf(client, body.wallet_id, product.currency_code)
      return hold(key, priceOf(product, body, currency_code, currencies), nowMs)
    },
    save: (client: number, body: Static<typeof BeneficiaryRequest>) => {
      const { email, first_name, last_name, country = null, phone = null, metadata = {} } = body
      const names = { id: `ben_${randomUUID()}`, email, first_name, last_name, country, phone, metadata }
      const saved = { ...names, created_at: new Date().toISOString() }
      store.insertBeneficiary({ ...saved, client_id: client })
      return { ...saved, total_payouts: 0, total_amount: 0, last_payout_at: null }
    },
    order: (client: number, body: Static<typeof OrderRequest>) =>
      store.immediate(() => {
        const product = productOf(body.product_id)
        const wallet = walletOf(client, body.wallet_id, product.currency_code)
        const charges = priceOf(product, body, wallet.currency_code, currencies)
        const { denomination, quantity, client_reference = null } = body
        const placed_at = new Date().toISOString()
        const amount = charges.total_payable
        const paidMinor = Math.round(amount * unitsOf(currencies, wallet.currency_code))
        const transaction_id = pay(wallet, paidMinor, 'order', placed_at)
        const bought = {
          product_id: product.id,
          wallet_id: wallet.id,
          client_reference,
          denomination,
          quantity,
          charges,
        }
        const order = { ...bought, status: 'DELIVERED', placed_at }
        const id = store.insertOrder({ ...order, client_id: client, entry_id: transaction_id })
        const vouchers = store.takeVouchers(id, product.id, denomination, quantity)
        if (vouchers.length < quantity) throw badRequest('Out of stock')
        const { name: product_name, currency_code } = product
        return { id, ...order, transaction_id, product_name, currency_code, amount, delivered_at: placed_at, vouchers }
      }),
    payout: (client: number, body: Static<typeof PayoutRequest>, key: string | undefined) =>
      store.immediate(() => {
        if (key === undefined) return makePayout(client, body)
        const request = digestOf(JSON.stringify(body))
        const known = store.findKey(client, key)
        if (known && known.request !== request) throw badRequest('Idempotency-Key was used with a different request')
        if (known) return known.body
        const payout = makePayout(client, body)
        store.insertKey({ client_id: client, key, request, body: payout, created_at: payout.created_at })
        return payout
      }),
  }
}
