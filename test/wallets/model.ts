/**
 * What wallets must hold after any script of orders, payouts, cancels and time that passes: the contract (C9, C11 to
 * C13) once more, in whole numbers of any size, and without a ledger, a clock or a database.
 */

export type Code = 'USD' | 'EUR' | 'JPY' | 'KWD'
export const PRECISION: Record<Code, bigint> = { USD: 2n, EUR: 2n, JPY: 0n, KWD: 3n }
/** Units for one USD, in units of 1e-8. */
export type Rates = Record<Code, bigint>

export interface ModelProduct {
  id: number
  currency: Code
  instant: boolean
  stock: number | null
  quantityMax: number
  /** Minor units, or basis points. */
  least: number
  most: number
  discount: bigint
  gst: bigint
  feeFixed: bigint
  feeShare: bigint
}

export interface ModelWallet {
  id: number
  currency: Code
  amount: bigint
  reserved: bigint
  creditLimit: bigint
}

interface ModelOrder {
  product: ModelProduct
  wallet: ModelWallet
  quantity: bigint
  delivered: bigint
  paid: bigint
  placedAt: number
  /** Until then the clock moves it. */
  state: 'under way' | 'partly' | 'ended'
}

interface ModelPayout {
  wallet: ModelWallet
  currency: Code
  amount: bigint
  paid: bigint
  paidAmount: bigint
  createdAt: number
  state: 'under way' | 'completed' | 'returned' | 'ended'
}

/** Half away from zero; nothing here is negative. */
const divided = (numerator: bigint, denominator: bigint): bigint => (numerator * 2n + denominator) / (denominator * 2n)
const E8 = 100_000_000n

export class Model {
  readonly wallets: ModelWallet[]
  readonly orders: ModelOrder[] = []
  readonly payouts: ModelPayout[] = []
  /** Every movement of a wallet: which, and by how much. */
  readonly movements: { wallet: number; amount: bigint }[] = []
  readonly #taken = new Map<number, number>()
  now = 0

  constructor(
    wallets: readonly ModelWallet[],
    private readonly products: readonly ModelProduct[],
    public rates: Rates,
  ) {
    this.wallets = wallets.map((wallet) => ({ ...wallet }))
  }

  /** Whether an order is taken. */
  order(product: ModelProduct, denomination: number, quantity: number, walletId: number | undefined): boolean {
    const wallet = this.wallets.find(({ id, currency }) =>
      walletId === undefined ? currency === product.currency : id === walletId,
    )
    if (!wallet || quantity > product.quantityMax) return false
    const paid = this.#price(product, BigInt(denomination) * BigInt(quantity), wallet.currency)
    if (paid === 0n || wallet.amount - paid < -wallet.creditLimit) return false
    const taken = (this.#taken.get(product.id) ?? 0) + quantity
    if (product.stock !== null && taken > product.stock) return false
    this.#taken.set(product.id, taken)
    this.#move(wallet, -paid)
    wallet.reserved += paid
    const order: ModelOrder = {
      product,
      wallet,
      quantity: BigInt(quantity),
      delivered: 0n,
      paid,
      placedAt: this.now,
      state: 'under way',
    }
    this.orders.push(order)
    if (product.instant && quantity <= 5) this.#deliverAll(order)
    return true
  }

  cancelOrder(index: number): boolean {
    const order = this.orders[index]
    if (order?.state !== 'under way' || this.now - order.placedAt >= 2_000) return false
    this.#giveUp(order)
    return true
  }

  /** An operator hands out some cards. */
  deliver(index: number, quantity: number): boolean {
    const order = this.orders[index]
    if (!order || order.state === 'ended') return false
    order.delivered += BigInt(quantity)
    order.state = 'partly'
    if (order.delivered >= order.quantity) this.#deliverAll(order)
    return true
  }

  /** An operator gives an order up. */
  failOrder(index: number): boolean {
    const order = this.orders[index]
    if (!order || order.state === 'ended') return false
    this.#giveUp(order)
    return true
  }

  /** Whether a payout is taken. */
  payout(currency: Code, amount: bigint, walletId: number): boolean {
    const wallet = this.wallets.find(({ id }) => id === walletId)
    if (!wallet) return false
    const share = divided(amount * 150n, 10_000n)
    const net = this.#converted(amount + (share === 0n ? 1n : share), currency, wallet.currency)
    const paid = net + (currency === wallet.currency ? 0n : divided(net * 50n, 10_000n))
    if (net === 0n || wallet.amount - paid < -wallet.creditLimit) return false
    this.#move(wallet, -paid)
    wallet.reserved += paid
    const converted = this.#converted(amount, currency, wallet.currency)
    const paidAmount = converted === 0n ? 1n : converted
    this.payouts.push({ wallet, currency, amount, paid, paidAmount, createdAt: this.now, state: 'under way' })
    return true
  }

  cancelPayout(index: number): boolean {
    const payout = this.payouts[index]
    if (payout?.state !== 'under way' || this.now - payout.createdAt >= 3_000) return false
    this.#refundPayout(payout)
    return true
  }

  /** A payout that was begun comes to nothing. */
  failPayout(index: number): boolean {
    const payout = this.payouts[index]
    if (payout?.state !== 'under way' || this.now - payout.createdAt < 2_000) return false
    this.#refundPayout(payout)
    return true
  }

  /** A completed payout comes back. */
  returnPayout(index: number): boolean {
    const payout = this.payouts[index]
    if (payout?.state !== 'completed') return false
    this.#move(payout.wallet, payout.paidAmount)
    payout.state = 'returned'
    return true
  }

  pass(milliseconds: number): void {
    this.now += milliseconds
    for (const order of this.orders) {
      if (order.state === 'under way' && this.now - order.placedAt >= 5_000) this.#deliverAll(order)
    }
    for (const payout of this.payouts) {
      if (payout.state !== 'under way' || this.now - payout.createdAt < 5_000) continue
      payout.wallet.reserved -= payout.paid
      payout.state = 'completed'
    }
  }

  /** What the beneficiaries of a currency have in the end. */
  paidOut(code: Code): bigint {
    return this.payouts
      .filter(({ currency, state }) => currency === code && state === 'completed')
      .reduce((sum, { amount }) => sum + amount, 0n)
  }

  left(product: ModelProduct): number | null {
    return product.stock === null ? null : product.stock - (this.#taken.get(product.id) ?? 0)
  }

  productAt(index: number): ModelProduct {
    const product = this.products[index % this.products.length]
    if (!product) throw new Error('no products')
    return product
  }

  #move(wallet: ModelWallet, amount: bigint): void {
    wallet.amount += amount
    this.movements.push({ wallet: wallet.id, amount })
  }

  #deliverAll(order: ModelOrder): void {
    order.wallet.reserved -= order.paid
    order.delivered = order.quantity
    order.state = 'ended'
  }

  #giveUp(order: ModelOrder): void {
    const undelivered = order.quantity - order.delivered
    order.wallet.reserved -= order.paid
    const back = divided(order.paid * undelivered, order.quantity)
    if (back > 0n) this.#move(order.wallet, back)
    this.#taken.set(order.product.id, (this.#taken.get(order.product.id) ?? 0) - Number(undelivered))
    order.state = 'ended'
  }

  #refundPayout(payout: ModelPayout): void {
    payout.wallet.reserved -= payout.paid
    this.#move(payout.wallet, payout.paid)
    payout.state = 'ended'
  }

  #price(product: ModelProduct, list: bigint, currency: Code): bigint {
    const total = list - divided(list * product.discount, 10_000n)
    const net = this.#converted(total, product.currency, currency)
    const gst = divided(net * product.gst, 10_000n)
    const rate = this.#rate(product.currency, currency)
    // The fixed part at the rate and the share of net over one denominator, rounded once.
    const below = 10n ** PRECISION[product.currency] * E8
    const fixed = product.feeFixed * rate * 10n ** PRECISION[currency]
    const fee = divided(fixed * 10_000n + net * product.feeShare * below, below * 10_000n)
    const conversion = product.currency === currency ? 0n : divided(net * 50n, 10_000n)
    return net + gst + fee + conversion
  }

  #rate(from: Code, to: Code): bigint {
    return from === to ? E8 : divided(this.rates[to] * E8, this.rates[from])
  }

  #converted(amount: bigint, from: Code, to: Code): bigint {
    if (from === to) return amount
    return divided(amount * this.#rate(from, to) * 10n ** PRECISION[to], E8 * 10n ** PRECISION[from])
  }
}
