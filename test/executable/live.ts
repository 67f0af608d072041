import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogEntry } from '../catalog/entry.ts'
import { bearer, inFolder, login, type Pair, type Place, type Running, run, start } from '../program.ts'
import { PAYEE } from '../records.ts'

/** Live mode as an operator runs it: a server, and commands on the same folder. */

/** Sold at once when its codes are in stock. */
export const TEA = catalogEntry({
  name: 'Tea',
  category: 'Food & Dining',
  sub_category: 'Cafes & Bakeries',
  denominations: [{ min_value: 10, max_value: 50, discount: 2.5 }],
})
/** Waits for its operator. */
export const HAMPER = { ...TEA, id: 2, name: 'Hamper', delivery_time: '3 days', currency: 'EUR', country: 'DEU' }

export const codesOf = (productId: number, ...cards: string[]): string =>
  cards
    .map(
      (card_number) => `${JSON.stringify({ product_id: productId, denomination: 10, card_number, pin_code: '1' })}\n`,
    )
    .join('')

export interface Credentials {
  client_id: number
  username: string
  password: string
}

/** A data folder in memory. */
interface Stock {
  credentials: Credentials
  files: ReadonlyMap<string, { bytes: Uint8Array; mode: number }>
}
let stock: Stock | undefined

/** A data folder, and the commands that are run on it. */
export class Operator {
  constructor(
    readonly folder: string,
    readonly dataDir = join(folder, 'data'),
  ) {}

  /** Runs a command on the data, and returns its exit code and output. */
  run(args: string[], place: Place = {}) {
    return run([...args, '--data-dir', this.dataDir], place)
  }

  /** Runs a command that has to succeed, and returns what it prints for scripts. */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.run([...args, '--json'])
    expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' })
    return JSON.parse(stdout) as T
  }

  /** Writes a file and returns its path. */
  file(name: string, content: unknown): string {
    const path = join(this.folder, name)
    const isText = typeof content === 'string' || content instanceof Uint8Array
    writeFileSync(path, isText ? content : JSON.stringify(content), { mode: 0o600 })
    return path
  }

  /** A client with 1,000.00 USD, the catalog of this file, and codes of both products: made once, then copied. */
  async stocked(): Promise<Credentials> {
    stock ??= await this.#stocked()
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 })
    for (const [name, { bytes, mode }] of stock.files) writeFileSync(join(this.dataDir, name), bytes, { mode })
    return stock.credentials
  }

  async #stocked(): Promise<Stock> {
    const credentials = await this.json<Credentials>('client', 'add', 'acme')
    await this.json('wallet', 'add', 'acme', 'USD')
    await this.json('wallet', 'fund', '1', '1000')
    await this.json('catalog', 'import', this.file('catalog.json', { products: [TEA, HAMPER] }))
    const codes = codesOf(1, 'TEA-1', 'TEA-2', 'TEA-3') + codesOf(2, 'BOX-1', 'BOX-2', 'BOX-3')
    await this.json('vouchers', 'import', this.file('codes.jsonl', codes))
    await this.json('rates', 'set', 'USD/EUR=0.8')
    const files = readdirSync(this.dataDir).map((name) => {
      const path = join(this.dataDir, name)
      return [name, { bytes: readFileSync(path), mode: statSync(path).mode & 0o777 }] as const
    })
    return { credentials, files: new Map(files) }
  }

  serve(...flags: string[]): Promise<Running> {
    return start(['--mode', 'live', '--data-dir', this.dataDir, ...flags])
  }

  /** A server on {@link stocked} data, and its client. */
  async trading(...flags: string[]): Promise<{ server: Running; customer: Customer; credentials: Credentials }> {
    const credentials = await this.stocked()
    const server = await this.serve(...flags)
    return { server, customer: await Customer.of(server, credentials), credentials }
  }

  /** The path of a backup of {@link stocked} data. */
  async backedUp(): Promise<string> {
    await this.stocked()
    const backup = join(this.folder, 'backup.sqlite')
    await this.json('backup', backup)
    return backup
  }
}

export const asOperator = (work: (operator: Operator) => Promise<void>): Promise<void> =>
  inFolder((folder) => work(new Operator(folder)))
export const operatorTest = (sentence: string, work: (operator: Operator) => Promise<void>): void =>
  test(sentence, () => asOperator(work))

/** A test that begins with {@link Operator.stocked} data. */
export const stockedTest = (
  sentence: string,
  work: (operator: Operator, credentials: Credentials) => Promise<void>,
): void => operatorTest(sentence, async (operator) => work(operator, await operator.stocked()))

/** A client of a live server. */
export class Customer {
  private constructor(
    private readonly server: Running,
    readonly pair: Pair,
  ) {}

  static async of(server: Running, { username, password }: Credentials): Promise<Customer> {
    const response = await login(server, username, password)
    expect(response.status).toBe(200)
    return new Customer(server, (await response.json()) as Pair)
  }

  get(path: string): Promise<Response> {
    return this.server.request(`/api/v1${path}`, bearer(this.pair))
  }

  async read<T = Record<string, unknown>>(path: string): Promise<T> {
    return (await (await this.get(path)).json()) as T
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.server.request(`/api/v1${path}`, { method: 'POST', ...bearer(this.pair), body: JSON.stringify(body) })
  }

  /** Places an order that has to succeed. */
  async order(product_id: number, quantity: number): Promise<Order> {
    const response = await this.post('/orders', { product_id, denomination: 10, quantity })
    const order = (await response.json()) as Order
    expect({ status: response.status, order }).toMatchObject({ status: 200 })
    return order
  }

  /** Makes a payout that has to succeed. */
  async payout(reference_id: string, beneficiary_id?: string, wallet_id = 1): Promise<{ id: string; status: string }> {
    const whom = beneficiary_id ? { beneficiary_id } : PAYEE
    const response = await this.post('/payouts', { reference_id, wallet_id, amount: 100, currency: 'USD', ...whom })
    expect(response.status).toBe(201)
    return (await response.json()) as { id: string; status: string }
  }

  /** The amount that the wallet can spend, and the amount that is reserved. */
  async wallet(): Promise<[number, number]> {
    const { amount, reserved_amount } = await this.read<{ amount: number; reserved_amount: number }>('/wallets/1')
    return [amount, reserved_amount]
  }
}

export interface Order {
  id: number
  status: string
  amount: number
  vouchers: { card_number: string }[]
}
