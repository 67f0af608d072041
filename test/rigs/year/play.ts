import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Dice } from '../dice.ts'
import { Company, type Customer, minorOf } from './company.ts'
import { catalogOf, codesOf, type Product, productsOf } from './goods.ts'

/**
 * Plays eleven months and the days of the twelfth, up to now, on the data folder of FOLDER, and writes what is known of it
 * to `played.json`: a process of its own, because it sets its clock. Usage: play.ts FOLDER SIZE SEED
 */

export interface Size {
  products: number
  /** Days of each month on which something happens. */
  days: readonly number[]
  orders: number
  payouts: number
  /** Codes of each product that come every month. */
  codes: number
}

export interface Played {
  customers: Customer[]
  acts: string[]
  months: string[]
  counts: Record<string, number>
}

const CLIENTS = [
  { name: 'acme', currency: 'USD', fund: '60000' },
  { name: 'bolt', currency: 'EUR', fund: '60000', postpaid: '5000' },
  { name: 'cord', currency: 'INR', fund: '5000000' },
] as const
const HOUR_MS = 3_600_000
const PAYEES = 40

class Year {
  readonly customers: Customer[] = []
  readonly #tokens = new Map<string, string>()
  readonly #openOrders: { customer: Customer; id: number; quantity: number }[] = []
  readonly #openPayouts: { customer: Customer; id: string; amountMinor: number; totalMinor: number }[] = []
  readonly #delivered: { customer: Customer; id: number }[] = []
  readonly counts = {
    orders: 0,
    payouts: 0,
    refused: 0,
    delivered: 0,
    refunds: 0,
    failed: 0,
    returned: 0,
    cancelled: 0,
  }

  constructor(
    private readonly company: Company,
    private readonly dice: Dice,
    private readonly size: Size,
    private readonly products: readonly Product[],
  ) {}

  async open(): Promise<void> {
    const { company, products } = this
    await company.act('catalog', 'import', company.file('catalog.json', catalogOf(products)))
    await company.act('rates', 'set', 'USD/EUR=0.92', 'USD/INR=83.5')
    for (const { name, currency, ...terms } of CLIENTS) {
      const { password } = await company.act<{ password: string }>('client', 'add', name)
      const limit = 'postpaid' in terms ? ['--postpaid', terms.postpaid] : []
      const { id } = await company.act<{ id: number }>('wallet', 'add', name, currency, ...limit)
      await company.act('wallet', 'threshold', String(id), '1000')
      this.customers.push({ name, password, walletId: id, currency, movements: [] })
    }
    await company.act('client', 'discount', 'acme', '1', '7.5')
    await company.act('client', 'limits', 'bolt', '--max-quantity', '5')
  }

  async beginMonth(month: string): Promise<void> {
    const { company, products, size } = this
    await company.act('vouchers', 'import', company.file('codes.jsonl', codesOf(products, month, size.codes)))
    for (const customer of this.customers) {
      const amount = CLIENTS.find(({ name }) => name === customer.name)?.fund ?? '0'
      await company.act('wallet', 'fund', String(customer.walletId), amount, '--remarks', `Invoice ${month}`)
      this.#move(customer, minorOf(amount))
    }
  }

  /** A day from its morning on; the operator works in the evening. */
  async day(): Promise<void> {
    const { company, dice, size } = this
    const morningMs = company.nowMs
    for (const customer of this.customers) this.#tokens.set(customer.name, await company.logIn(customer))
    const all = size.orders + size.payouts
    for (let count = 0; count < all; count++) {
      company.nowMs = morningMs + Math.floor((count / all) * HOUR_MS * 0.9)
      const customer = dice.pick(this.customers)
      if (dice.below(all) < size.orders) await this.#order(customer)
      else await this.#payout(customer)
    }
    company.nowMs = morningMs + 9 * HOUR_MS
    await this.#deliver()
    await this.#pay()
    company.nowMs = morningMs + 10 * HOUR_MS
  }

  async endMonth(number: number): Promise<void> {
    const { company, dice } = this
    for (const [index, { customer, id }] of this.#delivered.splice(0).entries()) {
      if (index > 0 && !dice.chance(0.02)) continue
      const refunded = await company.act<{ refunded_amount: number }>('orders', 'refund', String(id))
      this.#move(customer, minorOf(refunded.refunded_amount))
      this.counts.refunds += 1
    }
    const bolt = this.customers.find(({ name }) => name === 'bolt')
    if (number % 4 === 3 && bolt)
      await company.act('wallet', 'limit', String(bolt.walletId), String(5_000 + number * 500))
    const customer = dice.pick(this.customers)
    await company.act('wallet', 'adjust', String(customer.walletId), '-12.50', '--remarks', 'Charged twice')
    this.#move(customer, -1_250)
    if (number === 6) {
      const { password } = await company.act<{ password: string }>('client', 'rotate', 'cord')
      const cord = this.customers.find(({ name }) => name === 'cord')
      if (cord) cord.password = password
    }
  }

  async #order(customer: Customer): Promise<void> {
    const { id: product_id, value: denomination } = this.dice.pick(this.products)
    const quantity = 1 + this.dice.below(3)
    const purchase = { product_id, denomination, quantity }
    const { status, body } = await this.company.ask('/api/v1/orders', this.#tokens.get(customer.name), purchase)
    if (status !== 200) return this.#refused('order', status, body)
    this.counts.orders += 1
    this.#move(customer, -minorOf(body.amount))
    const order = { customer, id: Number(body.id), quantity }
    if (body.status === 'DELIVERED') this.#delivered.push(order)
    else this.#openOrders.push(order)
  }

  async #payout(customer: Customer): Promise<void> {
    const number = this.dice.below(PAYEES)
    const { status, body } = await this.company.ask('/api/v1/payouts', this.#tokens.get(customer.name), {
      reference_id: `bonus-${this.counts.payouts}`,
      wallet_id: customer.walletId,
      amount: (1_000 + this.dice.below(9_000)) / 100,
      currency: customer.currency,
      beneficiary_email: `payee-${number}@example.com`,
      beneficiary_first_name: 'Payee',
      beneficiary_last_name: `Number ${number}`,
    })
    if (status !== 201) return this.#refused('payout', status, body)
    this.counts.payouts += 1
    this.#move(customer, -minorOf(body.total_amount))
    const [amountMinor, totalMinor] = [minorOf(body.amount), minorOf(body.total_amount)]
    this.#openPayouts.push({ customer, id: String(body.id), amountMinor, totalMinor })
  }

  /** Only purchases of sold-out products may be refused. */
  #refused(what: string, status: number, body: unknown): void {
    const text = JSON.stringify(body)
    if (status !== 400 || !/Insufficient|quantity/.test(text)) throw new Error(`${what}: ${status} ${text}`)
    this.counts.refused += 1
  }

  async #deliver(): Promise<void> {
    for (const { customer, id, quantity } of this.#openOrders.splice(0)) {
      if (quantity > 1 && this.dice.chance(0.05)) {
        await this.company.act('orders', 'deliver', String(id), '1')
        const row = await this.company.act<{ refunded_amount: number }>('orders', 'fail', String(id))
        this.#move(customer, minorOf(row.refunded_amount))
        this.counts.failed += 1
        continue
      }
      await this.company.act('orders', 'deliver', String(id))
      this.#delivered.push({ customer, id })
      this.counts.delivered += 1
    }
  }

  async #pay(): Promise<void> {
    const { company, dice, counts } = this
    for (const { customer, id, amountMinor, totalMinor } of this.#openPayouts.splice(0)) {
      const chance = dice.below(100)
      if (chance < 3) {
        await company.act('payouts', 'cancel', id)
        this.#move(customer, totalMinor)
        counts.cancelled += 1
      } else if (chance < 6) {
        await company.act('payouts', 'advance', id, '--to', 'processing')
        await company.act('payouts', 'fail', id, '--code', 'account_closed')
        this.#move(customer, totalMinor)
        counts.failed += 1
      } else {
        await company.act('payouts', 'advance', id, '--to', 'completed')
        if (chance >= 9) continue
        await company.act('payouts', 'return', id)
        this.#move(customer, amountMinor)
        counts.returned += 1
      }
    }
  }

  #move({ movements }: Customer, minor: number): void {
    movements.push({ atMs: this.company.nowMs, minor })
  }
}

const play = async (folder: string, size: Size, seed: number): Promise<Played> => {
  const today = new Date()
  const todayMs = today.getTime()
  const firstOf = (number: number): number => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 11 + number, 1)
  const company = new Company(folder, join(folder, 'data'), firstOf(0))
  const year = new Year(company, new Dice(seed), size, productsOf(size.products))
  await year.open()
  const months = Array.from({ length: 12 }, (_, number) => new Date(firstOf(number)).toISOString().slice(0, 7))
  for (const [number, month] of months.entries()) {
    company.nowMs = firstOf(number) + HOUR_MS
    await year.beginMonth(month)
    for (const day of size.days) {
      const morningMs = firstOf(number) + (day - 1) * 24 * HOUR_MS + 8 * HOUR_MS
      if (morningMs + 12 * HOUR_MS > todayMs) break
      company.nowMs = morningMs
      await year.day()
    }
    await year.endMonth(number)
  }
  company.close()
  return { customers: year.customers, acts: company.acts, months, counts: year.counts }
}

const [folder = '', size = '', seed = '1'] = process.argv.slice(2)
if (import.meta.main) {
  const played = await play(folder, JSON.parse(size) as Size, Number(seed))
  writeFileSync(join(folder, 'played.json'), JSON.stringify(played))
  process.exit(0)
}
