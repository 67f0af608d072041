import fc from 'fast-check'
import { badRequest, faultsIn, forbidden, invalid, isPathId, memberFaults, notFound } from '../expect.ts'
import { type ClientName, type Order, type World, within } from '../model.ts'
import { type At, type Expected, isInSpan, type Play, type Rule, type Who } from '../play.ts'
import { buysVouchers, isDenomination, isId, isLeftOut, isQuantity } from './catalog.ts'
import { charged, checkPurchase, keyOf, type Purchase, priced } from './charges.ts'
import { byIdDown, command, pathIds, pick, sent, which, whoever } from './command.ts'
import { keys, once } from './once.ts'
import { listing } from './request.ts'
import { ask } from './sessions.ts'

/** Orders and their vouchers (contract C12). */

const LIST = { limitDefault: 10, limitMax: 100 }
const INSTANT_QUANTITY_MAX = 5
const PROCESSING_AFTER_MS = 2_000

export const ownOrders = (world: World, client: ClientName): Order[] =>
  world.state.orders.filter((order) => order.client === client)

const ORDER_MEMBERS = {
  product_id: [Array.from({ length: 14 }, (_, nth) => nth + 1), [471, 2_147_483_647, 0, -1, 1.5, '1', null, {}]],
  denomination: [
    [1, 10, 25, 50, 100, 1_000],
    [0, 0.01, -1, 99.99, 0.001, 1e-7, 1e21, null, '100', true, [], {}],
  ],
  quantity: [
    [1, 2, 3, 5, 6],
    [51, 1_000_000_000, 0, -1, 1.5, null, '1', {}],
  ],
  wallet_id: [
    [undefined, undefined, null, 1, 2, 3, 4, 6],
    [5, 99, 0, 1.5, '1', 2_147_483_648],
  ],
  ref: [
    [undefined, undefined, undefined, undefined, null, 'gift 1', 'gift 2', '~'],
    ['', 1, 'é', 'a\u0000', '\ud800', 'x'.repeat(256)],
  ],
  email: [
    [undefined, null, 'ada@example.com'],
    ['ada@', '', 1, '\ud800@example.com'],
  ],
} as const
const isGoodReference = (value: unknown): boolean => typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value)

export type OrderBody = Record<string, unknown>

/** The expected response to the request for an order (contract C12), refusals first. */
export const placed =
  (body: OrderBody): Rule =>
  (at): Expected => {
    if (!buysVouchers(at)) return forbidden
    const { product_id, denomination, quantity, wallet_id, ref, client_reference, email } = body
    const bad = [
      ...(isId(product_id) ? [] : ['product_id']),
      ...(isDenomination(denomination) ? [] : ['denomination']),
      ...(isQuantity(quantity) ? [] : ['quantity']),
      ...(isLeftOut(wallet_id) || isId(wallet_id) ? [] : ['wallet_id']),
      ...(isLeftOut(ref) || isGoodReference(ref) ? [] : ['ref']),
      ...(isLeftOut(client_reference) || isGoodReference(client_reference) ? [] : ['client_reference']),
      ...(isLeftOut(email) || email === 'ada@example.com' ? [] : ['email']),
    ]
    if (bad.length > 0 || !isId(product_id) || !isDenomination(denomination) || !isQuantity(quantity)) {
      return invalid('structured', bad)
    }
    const wallet = isId(wallet_id) ? wallet_id : undefined
    const reference = (client_reference ?? ref ?? undefined) as string | undefined
    const purchase = { product: product_id, denomination, quantity, wallet }
    return bought(at, purchase, reference, (email ?? null) as string | null)
  }

const bought = (at: At, purchase: Purchase, reference: string | undefined, email: string | null): Expected => {
  const { model, world, client } = at
  // Product, denomination and quantity are checked again; the price may be the one that charges quoted (contract C12).
  const checked = checkPurchase(at, 'structured', purchase)
  if ('status' in checked) return checked
  const kept = world.charges.get(keyOf(at, purchase))
  const isKept = kept && within(kept.at, at.now, model.chargeTtlMs)
  const fresh = isKept ? { price: kept, wallet: kept.wallet } : priced(at, 'structured', purchase)
  if ('status' in fresh) return fresh
  const { price } = fresh
  const wallet = model.wallet(world, client, fresh.wallet)
  if (!wallet) return badRequest('structured', 'Wallet not found')
  if (reference !== undefined && ownOrders(world, client).some((order) => order.reference === reference)) {
    return badRequest('structured', 'Duplicate client_reference')
  }
  if (!model.canPay(wallet, price.payable)) return badRequest('structured', 'Insufficient wallet balance')
  if (model.stockLeft(world, checked.product) < purchase.quantity) return badRequest('structured', 'Insufficient stock')
  return { status: 200, fault: () => orderFault(at, purchase, price, wallet.id, reference, email) }
}

const orderFault = (
  at: At,
  purchase: Purchase,
  price: { payable: bigint; wire: Record<string, unknown> },
  walletId: number,
  reference: string | undefined,
  email: string | null,
): string | undefined => {
  const { model, world, client, now, response } = at
  const product = model.product(world, purchase.product)
  const wire = response.json as OrderWire
  if (!product) return 'an order of no product'
  if (!isInSpan(now, wire.placed_at)) return `placed_at is not now, ${new Date(now.lo).toISOString()}`
  if (world.state.orders.some(({ id }) => id === wire.id)) return 'an id that another order has'
  const placedAt = Date.parse(wire.placed_at)
  const isInstant =
    product.delivery_mode === 'digital' &&
    product.delivery_time.toLowerCase() === 'instant' &&
    purchase.quantity <= INSTANT_QUANTITY_MAX
  const order: Order = {
    id: wire.id,
    client,
    reference: wire.ref,
    product,
    wallet: walletId,
    quantity: purchase.quantity,
    delivered: 0,
    paid: price.payable,
    placedAt,
    status: isInstant ? 'DELIVERED' : 'PENDING',
    givenUp: false,
    dueAt: world.state.pace.orders === 'auto' && !isInstant ? placedAt + PROCESSING_AFTER_MS : null,
  }
  model.placed(world, order)
  return (
    orderFaults(order, wire) ??
    memberFaults(wire, {
      ref: reference ?? wire.client_reference,
      client_reference: reference ?? wire.ref,
      product_id: product.id,
      product_name: product.name,
      denomination: purchase.denomination,
      quantity: purchase.quantity,
      currency_code: product.currency,
      amount: price.wire.total_payable,
      discount: price.wire.discount_amount,
      charges: price.wire,
      wallet_id: walletId,
      email,
    })
  )
}

interface OrderWire {
  id: number
  ref: string
  client_reference: string
  placed_at: string
  vouchers: { card_number: string | null }[]
}

/** The problem with an order as it is shown now. */
const orderFaults = (order: Order, json: unknown): string | undefined => {
  const { vouchers } = json as OrderWire
  const unreadable = vouchers.filter(({ card_number }) => !card_number?.startsWith('TEST'))
  if (unreadable.length > (order.damaged ? 1 : 0)) return 'a voucher that does not start with TEST'
  return (
    memberFaults(json, { id: order.id, ref: order.reference, status: order.status, wallet_id: order.wallet }) ??
    faultsIn({ 'how many vouchers': [vouchers.length, order.delivered] })
  )
}

/** An order of a world, placed now if there is none: one that is delivered at once, or later. */
export const someOrder = async (play: Play, who: Who, nth: number): Promise<string> => {
  const all = () => play.model.worlds.get(who.world)?.state.orders ?? []
  const body =
    nth % 2 === 0 ? { product_id: 5, denomination: 25, quantity: 3 } : { product_id: 9, denomination: 10, quantity: 2 }
  if (all().length === 0) await ask(play, who, { operation: 'placeOrder', body }, placed(body))
  return String(pick(all(), nth)?.id ?? 1)
}
const oddIds = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: pathIds(9) })

/** Asks for one of the client's orders. */
const onOwnOrder = (does: string, operation: string, response: (at: At, order: Order) => Expected) =>
  command(does, [operation], 3, {
    args: fc.record({ who: whoever, nth: which, odd: oddIds }),
    run: async (play, { who, nth, odd }) => {
      const id = odd ?? (await someOrder(play, who, nth))
      await ask(play, who, { operation, id }, (at) => {
        if (!buysVouchers(at)) return forbidden
        if (!isPathId(id)) return badRequest('structured', 'Invalid order ID')
        const order = ownOrders(at.world, at.client).find((each) => String(each.id) === id)
        return order ? response(at, order) : notFound('structured', 'Order not found')
      })
    },
  })

interface Bought {
  product_id: number
  /** The least that is offered, when left out. */
  denomination?: number
  quantity: number
  wallet_id: number | undefined
}
/** Any product in a small quantity, or one with an extreme price: nothing, almost nothing, too much. */
const purchases: fc.Arbitrary<Bought> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      product_id: fc.integer({ min: 1, max: 14 }),
      quantity: fc.integer({ min: 1, max: 6 }),
      wallet_id: fc.constantFrom(undefined, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Bought[]>(
      { product_id: 2, denomination: 1, quantity: 5, wallet_id: 1 },
      { product_id: 2, denomination: 1, quantity: 500, wallet_id: 1 },
      { product_id: 7, denomination: 1, quantity: 1, wallet_id: undefined },
      { product_id: 8, denomination: 1_000_000_000, quantity: 9_000, wallet_id: 3 },
      { product_id: 8, denomination: 1_000_000_000, quantity: 1_000_000_000, wallet_id: undefined },
    ),
  },
)

const withoutVouchers = (at: At): Expected | undefined => (buysVouchers(at) ? undefined : forbidden)

export const orderCommands = [
  command('place an order', ['placeOrder'], 12, {
    args: fc.record({ who: whoever, body: sent(ORDER_MEMBERS), key: keys }),
    run: (play, { who, body, key }) => once(play, who, { operation: 'placeOrder', body }, key, placed(body)),
  }),
  command('order what will be delivered later', ['placeOrder'], 4, {
    args: fc.record({
      world: fc.constantFrom('default', 'a'),
      product_id: fc.constantFrom(3, 5, 9),
      quantity: fc.integer({ min: 1, max: 8 }),
    }),
    run: async (play, { world, product_id, quantity }) => {
      const product = play.productOf(world, product_id)
      const denomination = product?.denominations[0]?.min_value ?? 25
      const body = { product_id, denomination, quantity }
      await once(play, { world, client: 'sandbox' }, { operation: 'placeOrder', body }, undefined, placed(body))
    },
  }),
  command('ask for a price and buy at it', ['calculateCharges', 'placeOrder'], 2, {
    args: fc.record({ who: whoever, bought: purchases }),
    run: async (play, { who, bought }) => {
      const { product_id, quantity, wallet_id } = bought
      const denomination =
        bought.denomination ?? play.productOf(who.world, product_id)?.denominations[0]?.min_value ?? 1
      const body = { product_id, denomination, quantity, wallet_id }
      const purchase = { product: product_id, denomination, quantity, wallet: wallet_id }
      const charges = { operation: 'calculateCharges', id: product_id, body: { denomination, quantity, wallet_id } }
      await ask(play, who, charges, (at) => charged(at, purchase))
      await once(play, who, { operation: 'placeOrder', body }, undefined, placed(body))
    },
  }),
  listing('list the orders', 'listOrders', {
    shape: 'structured',
    page: LIST,
    filters: {
      status: [['PENDING', 'delivered', 'Cancelled', 'FAILED'], ['GONE']],
      product_id: [['1', '5'], ['0']],
      ref: [['gift 1', 'nothing'], []],
    },
    refusal: withoutVouchers,
    ids: ({ world, client }, { status, product_id, ref }) =>
      byIdDown(
        ownOrders(world, client).filter(
          (order) =>
            (status === undefined || order.status === status.toUpperCase()) &&
            (product_id === undefined || String(order.product.id) === product_id) &&
            (ref === undefined || order.reference === ref),
        ),
      ),
  }),
  onOwnOrder('get an order', 'getOrder', (_, order) => ({
    status: 200,
    fault: ({ json }) => orderFaults(order, json),
  })),
  onOwnOrder('list the vouchers of an order', 'listVouchers', (_, order) => ({
    status: 200,
    fault: ({ json }) => faultsIn({ 'how many vouchers': [(json as unknown[]).length, order.delivered] }),
  })),
  onOwnOrder('cancel an order', 'cancelOrder', ({ model, world }, order) => {
    if (order.status !== 'PENDING') return { status: 400 }
    model.giveUp(world, order, 'CANCELLED')
    return { status: 200, fault: ({ json }) => orderFaults(order, json) }
  }),
]
