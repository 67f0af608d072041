import { type Exchange, FRESH_DIGITS, fingerprintOf } from './load.ts'
import { BENEFICIARIES, type Preparation, type Prepared } from './raw.ts'

/** What is asked of both servers. Scrip is asked everything once, and its answers are what both have to give. */

/** One row of the table. */
export interface Row {
  name: string
  connections: number
  exchanges: readonly Exchange[]
  /** What raw is asked instead: for what it cannot do, the insert of one row. */
  rawExchanges?: readonly Exchange[]
}

/** One request, before it is bytes. */
interface Ask {
  path: string
  body?: string
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

export const CONNECTIONS = 32
/** More purchases than Scrip keeps charges of, so that coming round again finds none that is kept. */
const PURCHASES = 20_000
/** How many different beneficiaries are sent. */
const DRAFTS = 1_000
/** How many questions are asked at once while the rows are made. */
const ASKED_AT_ONCE = 64
/** Headers that say nothing that could be prepared. */
const UNPREPARED = new Set(['date', 'content-length', 'x-request-id'])

/** Asks a server everything that the rows will, and keeps its answers. */
export class Interview {
  readonly answers: Preparation['answers'] = {}
  beneficiaryHeaders: Preparation['beneficiaryHeaders'] = {}

  private constructor(
    private readonly url: string,
    readonly token: string,
  ) {}

  static async begin(url: string): Promise<Interview> {
    const body = JSON.stringify({ username: 'sandbox', password: 'sandbox' })
    const response = await fetch(`${url}/auth/login`, { method: 'POST', body })
    const { access_token } = (await response.json()) as { access_token: string }
    return new Interview(url, access_token)
  }

  /** Every row of the table. */
  async rows(): Promise<Row[]> {
    const countries = await this.#json<{ id: number }[]>('/api/v1/countries')
    const products = await this.#json<Product[]>('/api/v1/products?limit=10000')
    const purchases = differentPurchases(await this.#payable(products))
    const same = purchases.slice(0, 1)
    const row = async (name: string, asks: Ask[], connections = CONNECTIONS): Promise<Row> => ({
      name,
      connections,
      exchanges: await this.#exchanges(asks),
    })
    const rows = [
      await row('countries', [{ path: '/api/v1/countries' }]),
      await row(
        'countries/{id}',
        countries.map(({ id }) => ({ path: `/api/v1/countries/${id}` })),
      ),
      await row('products?limit=50', [{ path: '/api/v1/products?limit=50' }]),
      await row('products?limit=10000', [{ path: '/api/v1/products?limit=10000' }]),
      await row('charges, all different', purchases),
      await row('charges, the same', [...same, ...same]),
    ]
    const beneficiaries = await row('beneficiaries', differentDrafts())
    for (const connections of [1, 32, 64]) {
      rows.push({ ...beneficiaries, name: `beneficiaries, ${connections}`, connections })
    }
    await this.#fund()
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

  /** An order that is delivered at once, and a payout; each has a reference that must be another one each time. */
  #movements(): Record<string, Exchange> {
    const reference = `bench-${'0'.repeat(FRESH_DIGITS)}`
    const order = { product_id: 1, denomination: 100, quantity: 1, client_reference: reference }
    const payout = {
      reference_id: reference,
      wallet_id: WALLET,
      amount: 1.25,
      currency: 'USD',
      beneficiary_email: 'ada@example.com',
      beneficiary_first_name: 'Ada',
      beneficiary_last_name: 'Lovelace',
    }
    return {
      orders: movement({ path: '/api/v1/orders', body: JSON.stringify(order) }, this.token, 200),
      payouts: movement({ path: '/api/v1/payouts', body: JSON.stringify(payout) }, this.token, 201),
    }
  }

  /** More than all rounds can spend. */
  async #fund(): Promise<void> {
    for (const wallet of [WALLET, RUPEES]) {
      const body = JSON.stringify({ amount: 1_000_000_000 })
      const response = await fetch(`${this.url}/_sandbox/wallets/${wallet}/fund`, { method: 'POST', body })
      if (!response.ok) throw new Error(`funding wallet ${wallet}: ${response.status} ${await response.text()}`)
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
    const answers = await Promise.all(ranged.map(({ id, from }) => this.#send(purchase(id, from))))
    return ranged.filter((_, index) => answers[index]?.ok)
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
    const body = await response.text()
    const prepared: Prepared = { body, headers: {} }
    for (const [name, value] of response.headers) if (!UNPREPARED.has(name)) prepared.headers[name] = value
    if (ask.path === BENEFICIARIES) this.beneficiaryHeaders = prepared.headers
    else this.answers[ask.body === undefined ? ask.path : `${ask.path} ${ask.body}`] = prepared
    return {
      request: wireBytes(ask, this.token),
      status: response.status,
      bodyLength: Buffer.byteLength(body),
      fingerprint: fingerprintOf(body),
    }
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
    if (!response.ok) throw new Error(`${JSON.stringify(ask)}: ${response.status} ${await response.text()}`)
    return response
  }

  #send({ path, body }: Ask): Promise<Response> {
    return fetch(this.url + path, {
      headers: { authorization: `Bearer ${this.token}` },
      ...(body !== undefined && { method: 'POST', body }),
    })
  }
}

/** The wallets that pay for payouts and for orders: in USD and in INR. */
const [WALLET, RUPEES] = [1, 3]

const movement = (ask: Ask, token: string, status: number): Exchange => {
  const request = wireBytes(ask, token)
  return { request, status, freshAt: Buffer.from(request).lastIndexOf('0'.repeat(FRESH_DIGITS)) }
}

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

const differentDrafts = (): Ask[] =>
  Array.from({ length: DRAFTS }, (_, number) => ({
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
const wireBytes = ({ path, body }: Ask, token: string): Uint8Array => {
  const lines = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Accept: application/json',
    'User-Agent: bench',
  ]
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}
