// Runs with --all alone: it takes long.

import { expect, test } from 'bun:test'
import { forFile, startServer } from '../harness.ts'
import { PAYEE } from '../records.ts'
import { Dice } from '../rigs/dice.ts'
import { control, expectSoundWorld, succeed } from './surface.ts'

/** Documents by chance, most of them with something unusual: each is loaded whole, or refused (contract C15). */

const server = forFile(await startServer('--rate-limit', 'off'))

const DOCUMENTS = 300
const WORLD = 'by-chance'

const AMOUNTS = [-1, -0.01, 0, 0.001, 0.01, 1, 1.5, 3, 10, 50, 99.99, 1_000, 1_000_000, 1_000_000_000, 1e15, -1e15]
const TIMES = ['-P2D', '-PT90M', '-PT1S', '2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2999-01-01T00:00:00Z']
const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD', 'INR']
const CLIENTS = ['sandbox', 'limited', 'acme']
const ORDER_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'PARTIALLY_DELIVERED', 'FAILED', 'CANCELLED']
const PAYOUT_STATUSES = ['created', 'queued', 'processing', 'settling', 'completed', 'failed', 'cancelled', 'expired']
const NAMED = `pyt_${'1'.repeat(25)}`

/** Makes documents of which most members are missing, and most of the others lawful. */
class Maker {
  constructor(private readonly dice: Dice) {}

  document(): object {
    return {
      ...this.maybe(0.3, () => ({ clients: this.some(2, () => this.client()) })),
      ...this.maybe(0.4, () => ({ wallets: this.some(3, () => this.wallet()) })),
      ...this.maybe(0.3, () => ({ products: this.some(2, () => this.product()) })),
      ...this.maybe(0.4, () => ({ clock: { frozen: true, ...this.member('now', TIMES) } })),
      ...this.maybe(0.6, () => ({ orders: this.some(3, () => this.order()) })),
      ...this.maybe(0.6, () => ({ payouts: this.some(3, () => this.payout()) })),
    }
  }

  private client(): object {
    return {
      name: this.dice.pick(['acme', 'limited']),
      ...this.member('id', [1, 2, 3, 9_007_199_254_740_991]),
      ...this.member('max_quantity', [null, 1, 5]),
      ...this.maybe(0.2, () => ({ discounts: { 2: this.amount(5) } })),
    }
  }

  private wallet(): object {
    return {
      currency: this.dice.pick(CURRENCIES),
      ...this.member('id', [1, 2, 7]),
      ...this.member('client', CLIENTS),
      ...this.member('type', ['PREPAID', 'POSTPAID']),
      ...this.member('default', [true, false]),
      ...this.maybe(0.2, () => ({ credit_limit: this.amount(100) })),
      ...this.maybe(0.4, () => ({ amount: this.amount(10_000) })),
      ...this.maybe(0.2, () => ({ threshold: this.amount(100) })),
      ...this.member('created_at', TIMES),
    }
  }

  private product(): object {
    return {
      id: this.dice.pick([2, 5, 9]),
      ...this.member('active', [true, false]),
      ...this.member('stock', [null, 0, 1, 1_000_000_000]),
      ...this.member('max_quantity', [1, 3]),
      ...this.maybe(0.2, () => ({ gst_percent: this.amount(18) })),
      ...this.maybe(0.2, () => ({ handling_fee: { fixed: this.amount(1), percent: this.amount(1) } })),
    }
  }

  private order(): object {
    return {
      product_id: this.dice.pick([2, 2, 2, 5, 9]),
      denomination: this.amount(50),
      quantity: this.dice.pick([1, 1, 2, 3, 1_000_000]),
      ...this.member('client', CLIENTS),
      ...this.member('status', ORDER_STATUSES),
      ...this.member('client_reference', ['first', 'second']),
      ...this.member('id', [1, 2, 9_007_199_254_740_991]),
      ...this.member('wallet_id', [1, 2, 7]),
      ...this.member('delivered_quantity', [0, 1, 2]),
      ...this.member('refunded_vouchers', [[], [1], [2], [1, 1]]),
      ...this.member('placed_at', TIMES),
      ...this.member('delivered_at', TIMES),
      ...this.member('failed_at', TIMES),
      ...this.member('cancelled_at', TIMES),
      ...this.maybe(0.1, () => ({ charges: this.charges() })),
    }
  }

  private charges(): object {
    const total = this.amount(50)
    return {
      ...{ non_discounted_total: 50, discount_amount: this.amount(0), discount: 0, total_amount: total },
      ...{ net_amount: total, gst_amount: this.amount(0), handling_fee_amount: this.amount(0), total_payable: total },
      ...{ max_quantity: 100 },
      charges_details: {
        ...{ source_currency: 'USD', destination_currency: this.dice.pick(['USD', 'USD', 'EUR']) },
        ...{ forex_rate: this.dice.pick([null, null, 0.92]), conversion_fee: this.dice.pick([null, null, 1]) },
      },
    }
  }

  private payout(): object {
    return {
      ...{ amount: this.amount(10), currency: this.dice.pick(CURRENCIES) },
      ...PAYEE,
      ...this.member('client', CLIENTS),
      ...this.member('id', [NAMED]),
      ...this.member('reference_id', [NAMED, 'first']),
      ...this.member('status', PAYOUT_STATUSES),
      ...this.member('returned', [true, false]),
      ...this.member('wallet_id', [1, 2, 7]),
      ...this.member('created_at', TIMES),
      ...this.maybe(0.1, () => ({ price: this.price() })),
    }
  }

  private price(): object {
    return {
      ...{ fees: this.amount(0), forex_rate: this.dice.pick([null, 0.92]), paid: this.amount(10) },
      ...{ paid_amount: this.amount(10), conversion_fee: this.dice.pick([null, 1]) },
      beneficiary_total: this.amount(10),
    }
  }

  private some(max: number, make: () => object): object[] {
    return Array.from({ length: 1 + this.dice.below(max) }, make)
  }

  private maybe(part: number, make: () => object): object {
    return this.dice.chance(part) ? make() : {}
  }

  private member(name: string, values: readonly unknown[]): object {
    return this.maybe(0.15, () => ({ [name]: this.dice.pick(values) }))
  }

  private amount(usual: number): number {
    return this.dice.chance(0.9) ? usual : this.dice.pick(AMOUNTS)
  }
}

const SEED = 91

test(`${DOCUMENTS} documents of seed ${SEED}: 200 with a sound world that tells the same document, or 400`, async () => {
  const maker = new Maker(new Dice(SEED))
  await succeed(server, 'PUT', `/worlds/${WORLD}`)
  const counts = { loaded: 0, refused: 0 }
  for (let index = 0; index < DOCUMENTS; index++) {
    const document = maker.document()
    const { status, body } = await control(server, 'PUT', `/scenario?world=${WORLD}`, document)
    if (status === 400) {
      counts.refused++
      expect(body).toMatchObject({ error: { code: 'VALIDATION_FAILURE', messages: {} } })
      continue
    }
    expect({ status, document }).toEqual({ status: 200, document })
    counts.loaded++
    await expectSoundWorld(server, WORLD)
    const told = await succeed(server, 'GET', `/scenario?world=${WORLD}`)
    await succeed(server, 'PUT', `/scenario?world=${WORLD}`, told)
    expect(await succeed<unknown>(server, 'GET', `/scenario?world=${WORLD}`)).toEqual(told)
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(DOCUMENTS / 10)
})
