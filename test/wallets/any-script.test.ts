import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRates, ratesFrom } from '../../src/charges/rates.ts'
import type { Tx } from '../../src/db/database.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { deliver, failOrder } from '../../src/orders/delivery.ts'
import { findOrder } from '../../src/orders/queries.ts'
import { applyEvent } from '../../src/payouts/progress.ts'
import { findPayout } from '../../src/payouts/queries.ts'
import { generatedSupply } from '../../src/sandbox/seed/vouchers.ts'
import { fund } from '../../src/wallets/ledger.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import type { World } from '../../src/worlds/world.ts'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { forFile, openProgram, type Program, type TestWorld } from '../harness.ts'
import { ORDERS } from '../orders/orders.ts'
import { ADA, PAYOUTS } from '../payouts/payouts.ts'
import { expectSoundBooks } from './books.ts'
import { type Code, Model, type ModelProduct, type ModelWallet, PRECISION, type Rates } from './model.ts'

/** Whatever is ordered, paid, cancelled, failed and returned while time passes and rates change, the books hold. */

/** TEST_SEED tries other scripts, or makes a failure happen again. */
const SUPPLY = generatedSupply(() => undefined)

const seed = Number(process.env.TEST_SEED ?? 20_300_101)
const RUNS = 60
const STEPS_MAX = 40

const USD = 139
const KWD = 71
const START = '2030-01-01T00:00:00Z'

const PRODUCTS: readonly ModelProduct[] = [
  // biome-ignore format: a table reads better in rows
  { id: 1, currency: 'USD', instant: true, stock: null, quantityMax: 20, least: 100, most: 10_000, discount: 250n, gst: 1_800n, feeFixed: 50n, feeShare: 110n },
  // biome-ignore format: see above
  { id: 2, currency: 'JPY', instant: false, stock: null, quantityMax: 20, least: 100, most: 10_000, discount: 125n, gst: 1_000n, feeFixed: 5n, feeShare: 0n },
  // biome-ignore format: see above
  { id: 3, currency: 'KWD', instant: false, stock: 12, quantityMax: 20, least: 500, most: 50_000, discount: 775n, gst: 0n, feeFixed: 105n, feeShare: 150n },
  // biome-ignore format: see above
  { id: 4, currency: 'EUR', instant: false, stock: 5, quantityMax: 5, least: 2_500, most: 10_000, discount: 0n, gst: 1_900n, feeFixed: 490n, feeShare: 0n },
]
const RATES: readonly Rates[] = [
  { USD: 100_000_000n, EUR: 92_000_000n, JPY: 15_235_000_000n, KWD: 30_680_000n },
  { USD: 100_000_000n, EUR: 131_234_567n, JPY: 9_876_543_210n, KWD: 50_000_001n },
  { USD: 100_000_000n, EUR: 99_000n, JPY: 12_345n, KWD: 12_345_678_901n },
]
const FIRST_RATES = RATES[0] as Rates
/** The wallets of a sandbox world that take part, and two more: a small one with three decimals, and one on credit. */
const WALLETS: readonly ModelWallet[] = [
  { id: 1, currency: 'USD', amount: 10_000_000n, reserved: 0n, creditLimit: 0n },
  { id: 2, currency: 'EUR', amount: 10_000_000n, reserved: 0n, creditLimit: 0n },
  { id: 4, currency: 'JPY', amount: 10_000_000n, reserved: 0n, creditLimit: 0n },
  { id: 6, currency: 'KWD', amount: 200_000n, reserved: 0n, creditLimit: 0n },
  { id: 7, currency: 'USD', amount: 0n, reserved: 0n, creditLimit: 50_000n },
]

const major = (minor: bigint | number, code: Code): number => Number(minor) / 10 ** Number(PRECISION[code])
const decimal = (e8: bigint): string => `${e8 / 100_000_000n}.${String(e8 % 100_000_000n).padStart(8, '0')}`

type Step =
  | { do: 'order'; product: number; denomination: number; quantity: number; walletId: number | undefined }
  | { do: 'pay'; currency: Code; amount: bigint; walletId: number }
  | { do: 'cancel order' | 'fail order' | 'cancel payout' | 'fail payout' | 'return payout'; which: number }
  | { do: 'deliver'; which: number; quantity: number }
  | { do: 'wait'; milliseconds: number }
  | { do: 'change rates'; to: number }

const walletIds = fc.constantFrom(...WALLETS.map(({ id }) => id))
const which = fc.nat(40)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      product: fc.nat(PRODUCTS.length - 1),
      denomination: fc.nat(),
      quantity: fc.integer({ min: 1, max: 8 }),
      walletId: fc.option(walletIds, { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      currency: fc.constantFrom<Code[]>('USD', 'EUR', 'JPY', 'KWD'),
      amount: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 50_000n), fc.bigInt(1n, 5_000_000n)),
      walletId: walletIds,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel order', 'fail order', 'cancel payout', 'fail payout', 'return payout'),
      which,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), which, quantity: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      milliseconds: fc.oneof(fc.constantFrom(1, 999, 1_000, 2_000, 5_000), fc.nat(7_000)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change rates' as const), to: fc.nat(RATES.length - 1) }) },
)

/** Plays a script to a world and to the model, and compares after each step. */
class Play {
  readonly orderIds: number[] = []
  readonly payoutIds: string[] = []
  #reference = 0

  constructor(
    private readonly program: Program,
    private readonly client: TestWorld,
    readonly world: World,
    readonly model: Model,
  ) {}

  /** Does a step, and answers whether it was taken: by the program and by the model. */
  async take(step: Step): Promise<[boolean, boolean]> {
    const { model, client } = this
    switch (step.do) {
      case 'order': {
        const product = model.productAt(step.product)
        const denomination = product.least + (step.denomination % (product.most - product.least + 1))
        const response = await client.post(ORDERS, {
          product_id: product.id,
          denomination: major(denomination, product.currency),
          quantity: step.quantity,
          ...(step.walletId !== undefined && { wallet_id: step.walletId }),
        })
        const body = (await response.json()) as { id: number }
        if (response.status === 200) this.orderIds.push(body.id)
        return [response.status === 200, model.order(product, denomination, step.quantity, step.walletId)]
      }
      case 'pay': {
        const response = await client.post(PAYOUTS, {
          reference_id: `r${++this.#reference}`,
          wallet_id: step.walletId,
          amount: major(step.amount, step.currency),
          currency: step.currency,
          ...ADA,
        })
        const body = (await response.json()) as { id: string }
        if (response.status === 201) this.payoutIds.push(body.id)
        return [response.status === 201, model.payout(step.currency, step.amount, step.walletId)]
      }
      case 'cancel order': {
        const index = indexIn(this.orderIds, step.which)
        return [await this.#posted(`${ORDERS}/${this.orderIds[index]}/cancel`), model.cancelOrder(index)]
      }
      case 'cancel payout': {
        const index = indexIn(this.payoutIds, step.which)
        return [await this.#posted(`${PAYOUTS}/${this.payoutIds[index]}/cancel`), model.cancelPayout(index)]
      }
      case 'fail order': {
        const index = indexIn(this.orderIds, step.which)
        return [await this.#operated(this.#failOrder(index)), model.failOrder(index)]
      }
      case 'deliver': {
        const index = indexIn(this.orderIds, step.which)
        return [await this.#operated(this.#deliver(index, step.quantity)), model.deliver(index, step.quantity)]
      }
      case 'fail payout': {
        const index = indexIn(this.payoutIds, step.which)
        return [await this.#operated(this.#applyEvent(index, 'failed')), model.failPayout(index)]
      }
      case 'return payout': {
        const index = indexIn(this.payoutIds, step.which)
        return [await this.#operated(this.#applyEvent(index, 'returned')), model.returnPayout(index)]
      }
      case 'wait':
        await client.clock({ advance: `PT${(step.milliseconds / 1_000).toFixed(3)}S` })
        expect((await client.get('/api/v1/wallets')).status).toBe(200)
        model.pass(step.milliseconds)
        return [true, true]
      case 'change rates':
        rates = RATES[step.to] ?? FIRST_RATES
        model.rates = rates
        return [true, true]
    }
  }

  async #posted(path: string): Promise<boolean> {
    return (await this.client.post(path)).status === 200
  }

  async #operated(work: ((tx: Tx) => unknown) | undefined): Promise<boolean> {
    if (!work) return false
    try {
      await this.world.db.write(work)
      return true
    } catch (error) {
      if (error instanceof DomainError && error.failure.code === 'transition_refused') return false
      throw error
    }
  }

  #orderWork(index: number, work: (tx: Tx, order: NonNullable<ReturnType<typeof findOrder>>) => unknown) {
    const order = findOrder(this.world.db.query, 1, this.orderIds[index] ?? 0)
    return order && ((tx: Tx) => work(tx, order))
  }

  get #delivering() {
    const { seals, reference } = this.program.deps
    return { supply: SUPPLY, seals, reference }
  }

  #deliver(index: number, quantity: number) {
    const nowMs = this.world.clock.nowMs()
    return this.#orderWork(index, (tx, order) => deliver(tx, this.world, this.#delivering, order, quantity, nowMs))
  }

  #failOrder(index: number) {
    const nowMs = this.world.clock.nowMs()
    return this.#orderWork(index, (tx, order) => failOrder(tx, this.world, this.#delivering, order, 'none left', nowMs))
  }

  #applyEvent(index: number, event: 'failed' | 'returned') {
    const payout = findPayout(this.world.db.query, 1, this.payoutIds[index] ?? '')
    const moving = { reference: this.program.deps.reference, byClock: () => true }
    const details = { actorType: 'operator', nowMs: this.world.clock.nowMs() } as const
    return payout && ((tx: Tx) => applyEvent(tx, moving, this.world, payout, event, details))
  }
}

/** Steps name what was made before them, whatever there is by then. */
const indexIn = (made: readonly unknown[], nth: number): number => (made.length === 0 ? 0 : nth % made.length)

const heldIn = (world: World) =>
  world.db.sqlite
    .query<{ id: number; amount: number; reserved: number }, []>(
      'SELECT id, amount_minor AS amount, reserved_minor AS reserved FROM wallets WHERE id NOT IN (3, 5) ORDER BY id',
    )
    .all()
    .map(({ id, amount, reserved }) => ({ id, amount: BigInt(amount), reserved: BigInt(reserved) }))
const heldBy = (model: Model) => model.wallets.map(({ id, amount, reserved }) => ({ id, amount, reserved }))

const movementsIn = (world: World) =>
  world.db.sqlite
    .query<{ wallet: number; amount: number; type: string }, []>(
      `SELECT wallet_id AS wallet, amount_minor AS amount, transaction_type AS type FROM transactions
       WHERE source_type <> 'funding' ORDER BY id`,
    )
    .all()
    .map(({ wallet, amount, type }) => ({ wallet, amount: BigInt(type === 'CREDIT' ? amount : -amount) }))
const paidOutIn = (world: World, code: Code): bigint =>
  BigInt(
    world.db.sqlite
      .query<{ sum: number }, [string]>(
        `SELECT coalesce(sum(amount_minor), 0) AS sum FROM journal_lines l JOIN currencies c ON c.id = l.currency_id
         WHERE l.account = 'payouts' AND c.currency = ?`,
      )
      .get(code)?.sum ?? 0,
  )
const leftIn = async (client: TestWorld, product: ModelProduct, count: number): Promise<boolean> => {
  const response = await client.post(`/api/v1/products/${product.id}/availability`, {
    denomination: major(product.least, product.currency),
    quantity: count,
  })
  return ((await response.json()) as { is_available: boolean }).is_available
}

let rates = FIRST_RATES
const products = PRODUCTS.map((product) => {
  const { id, currency, instant, stock, quantityMax, least, most, discount, gst, feeFixed, feeShare } = product
  return catalogEntry({
    id,
    currency,
    stock,
    delivery_time: instant ? 'instant' : '48 hours',
    max_quantity: quantityMax,
    gst_percent: Number(gst) / 100,
    handling_fee: { fixed: major(feeFixed, currency), percent: Number(feeShare) / 100 },
    denominations: [
      { min_value: major(least, currency), max_value: major(most, currency), discount: Number(discount) / 100 },
    ],
  })
})
const sources = new Map(
  RATES.map((table) => {
    const perUsd = Object.fromEntries(Object.entries(table).map(([code, e8]) => [code, decimal(e8)]))
    const { perBaseE8 } = parseRates(JSON.stringify({ base: 'USD', rates: perUsd }))
    return [table, ratesFrom((code) => perBaseE8.get(code))]
  }),
)
const program = forFile(
  openProgram({
    flags: ['--catalog', fileOf({ products })],
    outside: { rates: () => (from, to) => sources.get(rates)?.(from, to) },
  }),
)

test('holds for any script', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: 'max' }), async (script) => {
      rates = FIRST_RATES
      const { client, world } = await program.open(START)
      await world.db.write((tx) => {
        const nowMs = world.clock.nowMs()
        const shared = { clientId: 1, creditLimitMinor: 0 }
        const wallet = openWallet(tx, { ...shared, currencyId: KWD, type: 'PREPAID' }, nowMs)
        fund(tx, undefined, wallet, 200_000, { remarks: null, nowMs })
        openWallet(tx, { ...shared, currencyId: USD, type: 'POSTPAID', creditLimitMinor: 50_000 }, nowMs)
      })
      const play = new Play(program, client, world, new Model(WALLETS, PRODUCTS, FIRST_RATES))
      for (const [index, step] of script.entries()) {
        const [taken, expected] = await play.take(step)
        expect({ index, ...step, taken }).toEqual({ index, ...step, taken: expected })
        expect(heldIn(world)).toEqual(heldBy(play.model))
      }
      expect(movementsIn(world)).toEqual(play.model.movements)
      expectSoundBooks(world.db.sqlite)
      // In the end everything ends: nothing is reserved any more but for orders that wait for their operator.
      await play.take({ do: 'wait', milliseconds: 10_000 })
      expect(heldIn(world)).toEqual(heldBy(play.model))
      for (const code of Object.keys(PRECISION) as Code[]) {
        expect([code, paidOutIn(world, code)]).toEqual([code, play.model.paidOut(code)])
      }
      for (const product of PRODUCTS) {
        const left = play.model.left(product)
        if (left === null) continue
        expect(await leftIn(client, product, left + 1)).toBe(false)
        if (left > 0 && left <= product.quantityMax) expect(await leftIn(client, product, left)).toBe(true)
      }
      expectSoundBooks(world.db.sqlite)
    }),
    { seed, numRuns: RUNS },
  )
})
