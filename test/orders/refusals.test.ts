import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { badRequest, invalid, notFound } from '../errors.ts'
import { expectResponse, type Server, sharedServer, startServer, type TestWorld } from '../harness.ts'
import { countOf, INSTANT, NONE_LEFT, ORDERS, place } from '../records.ts'
import { movementsOf, walletsOf } from '../wallets/balances.ts'

const server = await sharedServer()

const broken = (field: string, rule: string, problem: string) =>
  invalid({ [field]: [{ rule, field, message: `The ${field} field ${problem}.` }] })

const NO_PRODUCT = notFound('Product not found')
const DENOMINATION = notFound('Denomination not found')
const TOO_MANY = badRequest('Quantity exceeds maximum allowed quantity of 100')
const NO_WALLET = badRequest('Wallet not found')
const DUPLICATE = badRequest('Duplicate client_reference')
const NO_BALANCE = badRequest('Insufficient wallet balance')
const NO_STOCK = badRequest('Insufficient stock')
/** More than any wallet of a world holds. */
const TOO_MUCH = { product_id: 12, denomination: 1_000, quantity: 1_000 }

/** An order that is refused leaves nothing: no order, no movement, no reservation. */
const expectRefusal = async (world: TestWorld, body: unknown, status: number, response: object) => {
  const before = [await walletsOf(world), await movementsOf(world), await countOf(world, ORDERS)]
  await expectResponse(world.post('/api/v1/orders', body), status, response)
  expect([await walletsOf(world), await movementsOf(world), await countOf(world, ORDERS)]).toEqual(before)
}

describe('an invalid body', () => {
  test.each<[string, object, string, string, string]>([
    ['no product_id', { product_id: undefined }, 'product_id', 'required', 'is required'],
    ['a product_id in quotes', { product_id: '2' }, 'product_id', 'integer', 'must be a whole number'],
    ['a product_id beyond all', { product_id: 2_147_483_648 }, 'product_id', 'max', 'must be at most 2147483647'],
    ['a denomination below 0.01', { denomination: 0.009 }, 'denomination', 'min', 'must be at least 0.01'],
    ['a denomination beyond all', { denomination: 1e9 + 1 }, 'denomination', 'max', 'must be at most 1000000000'],
    ['quantity 0', { quantity: 0 }, 'quantity', 'min', 'must be at least 1'],
    ['a wallet_id in quotes', { wallet_id: '1' }, 'wallet_id', 'integer', 'must be a whole number'],
    ['an empty ref', { ref: '' }, 'ref', 'min', 'must be at least 1 character long'],
    ['a ref of 256 characters', { ref: 'x'.repeat(256) }, 'ref', 'max', 'must be at most 255 characters long'],
    ['a ref that is not ASCII', { ref: 'grüße' }, 'ref', 'format', 'must be printable ASCII characters'],
    ['a ref with a line feed at its end', { ref: 'a\n' }, 'ref', 'format', 'must be printable ASCII characters'],
    ['a number as ref', { ref: 7 }, 'ref', 'string', 'must be a string'],
    ['two references', { ref: 'a', client_reference: 'b' }, 'ref', 'format', 'must be the same as client_reference'],
    ['no address as email', { email: 'ada@' }, 'email', 'email', 'must be a valid e-mail address'],
  ])('400 names %s', async (_, change, field, rule, problem) => {
    await expectRefusal(await server.world(), { ...INSTANT, ...change }, 400, broken(field, rule, problem))
  })

  test('400 names all invalid fields', async () => {
    const world = await server.world()
    const response = await world.post(ORDERS, { product_id: 0, wallet_id: 0, ref: '', client_reference: '', email: '' })
    const { error } = (await response.json()) as { error: { messages: object } }
    const named = 'product_id denomination quantity wallet_id ref client_reference email'
    expect(Object.keys(error.messages).join(' ')).toBe(named)
    expect(await countOf(world, ORDERS)).toBe(0)
  })
})

describe('a purchase that is not possible', () => {
  test.each<[string, object, number, object]>([
    ['404 an unknown product', { product_id: 999_999 }, 404, NO_PRODUCT],
    ['404 an inactive product', { product_id: 7, denomination: 10 }, 404, NO_PRODUCT],
    ['404 a denomination below the band', { denomination: 4.99 }, 404, DENOMINATION],
    ['404 a denomination above the band', { denomination: 500.01 }, 404, DENOMINATION],
    ['404 a denomination with too many decimals', { denomination: 5.001 }, 404, DENOMINATION],
    ['404 a denomination between fixed ones', { product_id: 1, denomination: 150 }, 404, DENOMINATION],
    ['400 too many', { quantity: 101 }, 400, TOO_MANY],
    ['400 more than anyone counts', { quantity: 1e300 }, 400, TOO_MANY],
    ['400 an unknown wallet', { wallet_id: 999 }, 400, NO_WALLET],
    ["400 another client's wallet", { wallet_id: 5 }, 400, NO_WALLET],
    ['400 more than the wallet holds', TOO_MUCH, 400, NO_BALANCE],
    ['400 what is out of stock', NONE_LEFT, 400, NO_STOCK],
    ['400 more than there is', { product_id: 9, denomination: 10, quantity: 4 }, 400, NO_STOCK],
  ])('%s', async (_, change, status, response) => {
    await expectRefusal(await server.world(), { ...INSTANT, ...change }, status, response)
  })

  test('400 for a used reference, and the first order stays', async () => {
    const world = await server.world()
    const first = await place(world, { ...INSTANT, ref: 'a-1' })
    await expectRefusal(world, { ...INSTANT, ref: 'a-1' }, 400, DUPLICATE)
    await expectRefusal(world, { ...INSTANT, client_reference: 'a-1' }, 400, DUPLICATE)
    await expectRefusal(world, { product_id: 1, denomination: 100, quantity: 2, ref: 'a-1' }, 400, DUPLICATE)
    expect(await (await world.get(`${ORDERS}/${first.id}`)).json()).toEqual(first)
  })

  test('400 for the reference of a cancelled order', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const { id } = await place(world, { ...INSTANT, quantity: 6, ref: 'a-1' })
    expect((await world.post(`${ORDERS}/${id}/cancel`)).status).toBe(200)
    await expectRefusal(world, { ...INSTANT, ref: 'a-1' }, 400, DUPLICATE)
  })
})

describe('the first error in the documented order is returned', () => {
  // Each breaks its own rule and every later one that it can.
  const WRONG = { denomination: 3, quantity: 9_999, wallet_id: 999 }
  test.each<[string, object, object]>([
    [
      'the body before the product',
      { product_id: 999_999, denomination: 1, quantity: 0 },
      broken('quantity', 'min', 'must be at least 1'),
    ],
    ['the product before the denomination', { ...WRONG, product_id: 999_999 }, NO_PRODUCT],
    ['the denomination before the quantity', { ...WRONG, product_id: 8 }, DENOMINATION],
    ['the quantity before the wallet', { ...INSTANT, quantity: 101, wallet_id: 999 }, TOO_MANY],
    ['the wallet before a used reference', { ...NONE_LEFT, wallet_id: 999, ref: 'used' }, NO_WALLET],
    ['a used reference before the balance', { ...TOO_MUCH, ref: 'used' }, DUPLICATE],
    ['a used reference before the stock', { ...NONE_LEFT, ref: 'used' }, DUPLICATE],
  ])('%s', async (_, body, expected) => {
    const world = await server.world()
    await place(world, { ...INSTANT, ref: 'used' })
    const response = await world.post(ORDERS, body)
    expect(await response.json()).toEqual(expected)
    expect(await countOf(world, ORDERS)).toBe(1)
  })

  test('the balance before the stock', async () => {
    const world = await server.world()
    const purchase = { ...NONE_LEFT, denomination: 200, quantity: 10 }
    await expectRefusal(world, purchase, 400, NO_STOCK)
    await place(world, { product_id: 12, denomination: 1_000, quantity: 93 })
    await expectRefusal(world, purchase, 400, NO_BALANCE)
  })
})

describe('with custom rates and catalog', () => {
  let shop: Server
  beforeAll(async () => {
    const catalog = [
      catalogEntry({ max_quantity: 1_000_000_000, denominations: [{ min_value: 1, max_value: 1e9, discount: 0 }] }),
      catalogEntry({ id: 2, denominations: [{ min_value: 10, max_value: 10, discount: 100 }] }),
      catalogEntry({ id: 3, currency: 'VND', denominations: [{ min_value: 1, max_value: 1000, discount: 0 }] }),
    ]
    const rates = { base: 'USD', rates: { EUR: '0.92', VND: '25000' } }
    shop = await startServer(
      '--rate-limit',
      'off',
      '--catalog',
      fileOf({ products: catalog }),
      '--rates',
      fileOf(rates),
    )
  })
  afterAll(() => shop.stop())

  const HUGE = { product_id: 1, denomination: 1e9, quantity: 10_000 } // 10^15 cents: one more than the largest amount
  const TOO_LARGE = invalid({ amount: [{ rule: 'max', field: 'amount', message: 'amount too large' }] })
  const TOO_SMALL = invalid({ amount: [{ rule: 'min', field: 'amount', message: 'amount too small' }] })
  const RATE_MISSING = badRequest('No exchange rate found for USD to JPY')

  test('400 names both currencies if there is no rate', async () => {
    await expectRefusal(await shop.world(), { ...HUGE, quantity: 1, wallet_id: 4 }, 400, RATE_MISSING)
  })

  test("400 for an amount that cannot be exact, in the product's or wallet's currency", async () => {
    const world = await shop.world()
    await expectRefusal(world, HUGE, 400, TOO_LARGE)
    await expectRefusal(world, { ...HUGE, quantity: 1_000_000_000, wallet_id: 2 }, 400, TOO_LARGE)
    // One card less is exact, and merely more than anyone has.
    await expectRefusal(world, { ...HUGE, quantity: 9_999 }, 400, NO_BALANCE)
  })

  test('checks the rate before the amount, and the amount before a used reference', async () => {
    const world = await shop.world()
    await place(world, { product_id: 1, denomination: 10, quantity: 1, ref: 'used' })
    await expectRefusal(world, { ...HUGE, wallet_id: 4, ref: 'used' }, 400, RATE_MISSING)
    await expectRefusal(world, { ...HUGE, quantity: 1, wallet_id: 4, ref: 'used' }, 400, RATE_MISSING)
    await expectRefusal(world, { ...HUGE, ref: 'used' }, 400, TOO_LARGE)
  })

  test.each([
    ['all of it is discounted', { product_id: 2, denomination: 10, quantity: 6 }],
    ['it is rounded away in the currency of the wallet', { product_id: 3, denomination: 1, quantity: 5, wallet_id: 1 }],
  ])('400 for a purchase that would cost nothing, as %s', async (_, body) => {
    const world = await shop.world()
    await expectRefusal(world, body, 400, TOO_SMALL)
    await place(world, { product_id: 1, denomination: 10, quantity: 1, ref: 'used' })
    await expectRefusal(world, { ...body, ref: 'used' }, 400, TOO_SMALL)
  })

  test('sells a purchase that costs one minor unit', async () => {
    const world = await shop.world()
    const body = { product_id: 3, denomination: 125, quantity: 1, wallet_id: 1 } // 125 VND are half a cent
    expect(await place(world, body)).toMatchObject({ amount: 0.01, status: 'DELIVERED' })
    await expectRefusal(world, { ...body, denomination: 124 }, 400, TOO_SMALL)
  })
})
