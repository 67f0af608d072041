import { PAYEE } from '../records.ts'
import { type Exchange, FRESH_DIGITS, fingerprintOf } from './load.ts'
import {
  BENEFICIARIES,
  DUTIFUL,
  INDEXED_BENEFICIARIES,
  type Preparation,
  type Prepared,
  SHARED_BENEFICIARIES,
} from './raw.ts'
import { type Subject, WALLET } from './subject.ts'

/** What is asked of both servers. Scrip is asked everything once, and its responses are what both have to give. */

/** One row of the table. */
export interface Row {
  name: string
  connections: number
  exchanges: readonly Exchange[]
  /** What raw is asked instead: for what it cannot do, the insert of one row. */
  rawExchanges?: readonly Exchange[]
  /** What the ordinary stacks are asked, where they can serve it. */
  asks?: readonly Ask[]
}

/** One request, before it is bytes. */
export interface Ask {
  path: string
  body?: string
  /** Headers besides the usual ones. */
  headers?: Record<string, string>
}

interface Product {
  id: number
  available_denominations: { min_value: number; max_value: number }[]
}

/** A product and the whole amounts that it is sold at. */
interface Ranged {
  id: number
  from: number
  to: number
}

const COUNTRIES = '/api/v1/countries'
const PRODUCT_PAGE = '/api/v1/products?limit=50'
const ALL_PRODUCTS = '/api/v1/products?limit=10000'
const SORTED_BY_NAME = encodeURIComponent('{"field":"name","direction":"ASC"}')

export const CONNECTIONS = 32
/** How many products are on sale. */
export const PRODUCTS = 10_000
/** More purchases than Scrip keeps charges of, so that coming round again finds none that is kept. */
const PURCHASES = 20_000
/** How many different beneficiaries are sent. */
const DIFFERENT = 1_000
/** How many questions are asked at once while the rows are made. */
const ASKED_AT_ONCE = 64
/** Rows that raw is asked a second time, with its duties. */
const DUTIFULLY = new Set(['countries/{id}', 'products?limit=50', 'charges, all different', 'charges, the same'])
/** Headers that say nothing that could be prepared. */
const UNPREPARED = new Set(['date', 'content-length', 'x-request-id'])

/** Asks a server everything that the rows will, and keeps its responses. */
export class Interview {
  readonly responses: Preparation['responses'] = {}
  beneficiaryHeaders: Preparation['beneficiaryHeaders'] = {}

  private constructor(
    private readonly url: string,
    readonly token: string,
    private readonly sells: boolean,
  ) {}

  static async begin({ served: { url }, username, password, sells }: Subject): Promise<Interview> {
    return new Interview(url, await logIn(url, username, password), sells)
  }

  /** Every row of the table. */
  async rows(): Promise<Row[]> {
    const countries = await this.#json<{ id: number }[]>(COUNTRIES)
    const products = await this.#json<Product[]>(ALL_PRODUCTS)
    if (products.length !== PRODUCTS) throw new Error(`${products.length} products are on sale, not ${PRODUCTS}`)
    const purchases = differentPurchases(await this.#payable(products))
    const same = purchases.slice(0, 1)
    const row = async (name: string, asks: Ask[], connections = CONNECTIONS): Promise<Row> => ({
      name,
      connections,
      asks,
      exchanges: await this.#exchanges(asks),
    })
    const rows = [
      await row('countries', [{ path: COUNTRIES }]),
      await row(
        'countries/{id}',
        countries.map(({ id }) => ({ path: `/api/v1/countries/${id}` })),
      ),
      await row('products?limit=50', [{ path: PRODUCT_PAGE }]),
      await row('products?limit=10000', [{ path: ALL_PRODUCTS }]),
      await row('charges, all different', purchases),
      await row('charges, the same', [...same, ...same]),
    ]
    rows.push(...rows.filter(({ name }) => DUTIFULLY.has(name)).map((row) => this.#dutifully(row)))
    rows.push(...(await this.#variants()))
    const beneficiaries = await row('beneficiaries', differentBeneficiaries())
    for (const connections of [1, 32, 64]) {
      rows.push({ ...beneficiaries, name: `beneficiaries, ${connections}`, connections })
    }
    const { asks: _, ...unasked } = beneficiaries
    const shared = { 'raw sharing': SHARED_BENEFICIARIES, 'raw sharing, indexed': INDEXED_BENEFICIARIES }
    for (const [how, path] of Object.entries(shared)) {
      const rawExchanges = differentBeneficiaries().map((ask, index) => ({
        ...(beneficiaries.exchanges[index] as Exchange),
        request: wireBytes({ ...ask, path }, this.token),
      }))
      rows.push({ ...unasked, name: `beneficiaries, ${how}`, rawExchanges })
    }
    for (const [name, exchange] of Object.entries(this.#movements())) {
      for (const connections of [1, 32, 64]) {
        rows.push({
          name: `${name}, ${connections}`,
          connections,
          exchanges: [exchange],
          rawExchanges: beneficiaries.exchanges,
        })
      }
    }
    await this.#expectCache(same, 'HIT')
    await this.#expectCache(purchases.slice(1, 2), 'MISS')
    return rows
  }

  /**
   * What raw is asked plainly: compressed, known already, and of products what was not asked before. For that each
   * request has a parameter of its own that means nothing.
   */
  async #variants(): Promise<Row[]> {
    const accepting = (coding: string) => ({ 'accept-encoding': coding })
    const etag = (await this.#ask({ path: COUNTRIES })).headers.get('etag') ?? ''
    const variants: [name: string, ask: Ask, rawAsk: Ask][] = [
      ['countries, gzip', { path: COUNTRIES, headers: accepting('gzip') }, { path: COUNTRIES }],
      ['countries, 304', { path: COUNTRIES, headers: { 'if-none-match': etag } }, { path: COUNTRIES }],
      ['products?limit=10000, gzip', { path: ALL_PRODUCTS, headers: accepting('gzip') }, { path: ALL_PRODUCTS }],
      ['products?limit=10000, zstd', { path: ALL_PRODUCTS, headers: accepting('zstd') }, { path: ALL_PRODUCTS }],
      ...['', '&country_id=105', `&sort=${SORTED_BY_NAME}`, '&search=kettle'].map((query): [string, Ask, Ask] => [
        `products?limit=50${query.replace(/=.*/, '')}, first time`,
        { path: `${PRODUCT_PAGE}${query}&unknown=${UNNUMBERED}` },
        { path: PRODUCT_PAGE },
      ]),
    ]
    return Promise.all(
      variants.map(async ([name, ask, rawAsk]) => ({
        name,
        connections: CONNECTIONS,
        exchanges: [numbered(await this.#exchange(ask))],
        rawExchanges: [await this.#exchange(rawAsk)],
      })),
    )
  }

  /** The same, held to what raw takes when it does its duties. */
  #dutifully({ asks = [], ...row }: Row): Row {
    const rawExchanges = row.exchanges.map((exchange, index) => {
      const { path, ...ask } = asks[index] as Ask
      return { ...exchange, request: wireBytes({ path: DUTIFUL + path, ...ask }, this.token) }
    })
    return { ...row, name: `${row.name}, dutiful raw`, rawExchanges }
  }

  /** An order that is delivered at once, and a payout; each has a reference that must be another one each time. */
  #movements(): Record<string, Exchange> {
    const reference = `bench-${UNNUMBERED}`
    const order = { product_id: 1, denomination: 100, quantity: 1, client_reference: reference }
    const payout = { reference_id: reference, wallet_id: WALLET, amount: 1.25, currency: 'USD', ...PAYEE }
    return {
      ...(this.sells && { orders: movement({ path: '/api/v1/orders', body: JSON.stringify(order) }, this.token, 200) }),
      payouts: movement({ path: '/api/v1/payouts', body: JSON.stringify(payout) }, this.token, 201),
    }
  }

  /** The products that have a range, and that the client can pay: for some there is no exchange rate. */
  async #payable(products: readonly Product[]): Promise<Ranged[]> {
    const ranged = products.flatMap(({ id, available_denominations }) =>
      available_denominations
        .filter(({ min_value, max_value }) => min_value < max_value)
        .slice(0, 1)
        .map(({ min_value, max_value }) => ({ id, from: Math.ceil(min_value), to: Math.floor(max_value) })),
    )
    const responses = await Promise.all(ranged.map(({ id, from }) => this.#send(purchase(id, from))))
    return ranged.filter((_, index) => responses[index]?.ok)
  }

  async #exchanges(asks: readonly Ask[]): Promise<Exchange[]> {
    const exchanges: Exchange[] = []
    for (let start = 0; start < asks.length; start += ASKED_AT_ONCE) {
      exchanges.push(...(await Promise.all(asks.slice(start, start + ASKED_AT_ONCE).map((ask) => this.#exchange(ask)))))
    }
    return exchanges
  }

  async #exchange(ask: Ask): Promise<Exchange> {
    const response = await this.#ask(ask)
    const bytes = Buffer.from(await response.arrayBuffer())
    const body = bytes.toString()
    if (ask.headers === undefined) this.#prepare(ask, response, body)
    else await this.#expectPacked(ask, bytes, response.headers.get('content-encoding'))
    return {
      request: wireBytes(ask, this.token),
      status: response.status,
      bodyLength: bytes.length,
      fingerprint: fingerprintOf(body),
    }
  }

  /** Keeps a response for raw to give. */
  #prepare(ask: Ask, { headers }: Response, body: string): void {
    const prepared: Prepared = { body, headers: {} }
    for (const [name, value] of headers) if (!UNPREPARED.has(name)) prepared.headers[name] = value
    if (ask.path === BENEFICIARIES) this.beneficiaryHeaders = prepared.headers
    else this.responses[ask.body === undefined ? ask.path : `${ask.path} ${ask.body}`] = prepared
  }

  /** What is compressed has to be what is plain. */
  async #expectPacked({ path }: Ask, bytes: Uint8Array<ArrayBuffer>, coding: string | null): Promise<void> {
    if (coding === null) return
    const plain = Buffer.from(await (await this.#ask({ path })).arrayBuffer())
    if (!plain.equals(coding === 'zstd' ? Bun.zstdDecompressSync(bytes) : Bun.gunzipSync(bytes)))
      throw new Error(`${path} is another one when it is compressed`)
  }

  /** The rows of charges measure what they say only while what is kept and what is not are as they were meant. */
  async #expectCache([ask]: Ask[], expected: string): Promise<void> {
    const cache = ask && (await this.#ask(ask)).headers.get('x-cache')
    if (cache !== expected) throw new Error(`expected X-Cache ${expected} of ${JSON.stringify(ask)}, got ${cache}`)
  }

  async #json<T>(path: string): Promise<T> {
    return (await (await this.#ask({ path })).json()) as T
  }

  async #ask(ask: Ask): Promise<Response> {
    const response = await this.#send(ask)
    if (!response.ok && response.status !== 304)
      throw new Error(`${JSON.stringify(ask)}: ${response.status} ${await response.text()}`)
    return response
  }

  #send(ask: Ask): Promise<Response> {
    return send(this.url, this.token, ask)
  }
}

/** Asks what the generator will, and leaves the response as it came. */
export const send = (url: string, token: string, { path, body, headers }: Ask): Promise<Response> =>
  fetch(url + path, {
    headers: {
      authorization: `Bearer ${token}`,
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    decompress: false,
    ...(body !== undefined && { method: 'POST', body }),
  })

/** Logs in and returns the access token. */
export const logIn = async (url: string, username: string, password: string): Promise<string> => {
  const response = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (!response.ok) throw new Error(`logging in as ${username}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { access_token: string }).access_token
}

/** Stands where each request has a number of its own. */
export const UNNUMBERED = '0'.repeat(FRESH_DIGITS)

/** The exchange with the place of its number, if it has one. */
export const numbered = (exchange: Exchange): Exchange => {
  const freshAt = Buffer.from(exchange.request).lastIndexOf(UNNUMBERED)
  return freshAt === -1 ? exchange : { ...exchange, freshAt }
}

const movement = (ask: Ask, token: string, status: number): Exchange =>
  numbered({ request: wireBytes(ask, token), status })

const purchase = (productId: number, denomination: number): Ask => ({
  path: `/api/v1/products/${productId}/charges`,
  body: JSON.stringify({ denomination, quantity: 1 }),
})

/** One card of every product at its lowest denomination, then at one more, and so on. */
const differentPurchases = (products: readonly Ranged[]): Ask[] => {
  const purchases: Ask[] = []
  for (let step = 0; purchases.length < PURCHASES; step++) {
    const offering = products.filter(({ from, to }) => from + step <= to)
    if (offering.length === 0) throw new Error(`the catalog has only ${purchases.length} different purchases`)
    purchases.push(...offering.map(({ id, from }) => purchase(id, from + step)))
  }
  return purchases.slice(0, PURCHASES)
}

const differentBeneficiaries = (): Ask[] =>
  Array.from({ length: DIFFERENT }, (_, number) => ({
    path: BENEFICIARIES,
    body: JSON.stringify({
      email: `ada.${number}@example.com`,
      first_name: 'Ada',
      last_name: `Lovelace ${number}`,
      country: 'GB',
      phone: '+442079460958',
      metadata: { employee: `E-${number}` },
    }),
  }))

/** The headers are those of an ordinary client; the host is the same for all servers. */
export const wireBytes = ({ path, body, headers = {} }: Ask, token: string): Uint8Array => {
  const lines = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Accept: application/json',
    'User-Agent: bench',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}
