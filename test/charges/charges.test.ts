import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { catalogEntry, fileOf } from '../catalog/entry.ts'
import { expectResponse, type Server, sharedServer, startServer, type TestWorld } from '../harness.ts'
import { PUBLISHED_PRICE } from '../records.ts'
import { UNKNOWN_ID } from '../reference/path-ids.ts'

const server = await sharedServer()
const world = await server.world()

const price = (id: number | string, body?: unknown, client = world) =>
  client.post(`/api/v1/products/${id}/charges`, body)

/** The wallets of the sandbox (contract C2). */
const USD_WALLET = 1
const EUR_WALLET = 2
const INR_WALLET = 3
const JPY_WALLET = 4
const LIMITED_WALLET = 5

const expectCharges = async (response: Response, body: object) => {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(await response.json()).toEqual(body)
}
const expectRefusal = async (response: Response, status: number, error: unknown) => {
  expect(await response.json()).toEqual({ error })
  expect(response.status).toBe(status)
}

describe('POST /api/v1/products/{id}/charges', () => {
  test('200 returns the published example', async () => {
    await expectCharges(await price(1, { denomination: 100, quantity: 2 }), PUBLISHED_PRICE)
  })

  test('a fixed handling fee, and half a cent of tax rounded away from zero: product 5 in euros', async () => {
    await expectCharges(await price(5, { denomination: 25, quantity: 2 }), {
      non_discounted_total: 50,
      discount_amount: 1.5,
      total_amount: 48.5,
      discount: 3,
      gst_amount: 9.22,
      total_payable: 62.62,
      max_quantity: 5,
      net_amount: 48.5,
      handling_fee_amount: 4.9,
      charges_details: { source_currency: 'EUR', destination_currency: 'EUR', forex_rate: null, conversion_fee: null },
    })
  })

  test('a handling fee with a fixed part and a percentage: product 12 in dollars', async () => {
    await expectCharges(await price(12, { denomination: 33.33, quantity: 7 }), {
      non_discounted_total: 233.31,
      discount_amount: 5.25,
      total_amount: 228.06,
      discount: 2.25,
      gst_amount: 18.81,
      total_payable: 249.88,
      max_quantity: 1000,
      net_amount: 228.06,
      handling_fee_amount: 3.01,
      charges_details: { source_currency: 'USD', destination_currency: 'USD', forex_rate: null, conversion_fee: null },
    })
  })

  test.each([
    ['dollars', 'USD', 1, 2, 0],
    ['yen', 'JPY', 4, 3, 0],
  ])("the wallet in the product's currency pays if none is named: %s", async (_, currency, walletId, productId) => {
    const body = { denomination: productId === 2 ? 10 : 3000, quantity: 1 }
    const unnamed = (await (await price(productId, body)).json()) as object
    expect(unnamed).toMatchObject({ charges_details: { destination_currency: currency, forex_rate: null } })
    expect(await (await price(productId, { ...body, wallet_id: walletId })).json()).toEqual(unnamed)
  })

  test("the default wallet pays if no wallet has the product's currency", async () => {
    await expectCharges(await price(11, { denomination: 25, quantity: 1 }), {
      non_discounted_total: 25,
      discount_amount: 0.25,
      total_amount: 24.75,
      discount: 1,
      gst_amount: 0,
      // 24.75 ÷ 0.768 = 32.2265..., and half a percent of 32.23
      total_payable: 32.39,
      max_quantity: 50,
      net_amount: 32.23,
      handling_fee_amount: 0,
      charges_details: {
        source_currency: 'GBP',
        destination_currency: 'USD',
        forex_rate: 1.30208333333,
        conversion_fee: 0.16,
      },
    })
  })

  test('a price needs no balance and no stock', async () => {
    const limited = await world.limited()
    expect((await price(2, { denomination: 500, quantity: 10 }, limited)).status).toBe(200)
    expect((await price(8, { denomination: 50, quantity: 1 })).status).toBe(200)
  })
})

describe('a wallet in another currency', () => {
  test('dollars to yen at 152.35: whole yen from the net amount on', async () => {
    await expectCharges(await price(2, { denomination: 25.5, quantity: 3, wallet_id: JPY_WALLET }), {
      non_discounted_total: 76.5,
      discount_amount: 3.06,
      total_amount: 73.44,
      discount: 4,
      gst_amount: 0,
      total_payable: 11_245,
      max_quantity: 100,
      net_amount: 11_189,
      handling_fee_amount: 0,
      charges_details: { source_currency: 'USD', destination_currency: 'JPY', forex_rate: 152.35, conversion_fee: 56 },
    })
  })

  test('Kuwaiti dinars to dollars: three decimals become two, the fee is rounded once', async () => {
    await expectCharges(await price(4, { denomination: 7.643, quantity: 1 }), {
      non_discounted_total: 7.643,
      discount_amount: 0.096,
      total_amount: 7.547,
      discount: 1.25,
      gst_amount: 0,
      total_payable: 25.41,
      max_quantity: 10,
      net_amount: 24.6,
      // 0.1 ÷ 0.3068 + 1.5 % of 24.60 = 0.69494...; rounded apart the two would make 0.70
      handling_fee_amount: 0.69,
      charges_details: {
        source_currency: 'KWD',
        destination_currency: 'USD',
        forex_rate: 3.25945241199,
        conversion_fee: 0.12,
      },
    })
  })

  test('yen to rupees converts by both given rates, and publishes their quotient with twelve digits', async () => {
    // 91.4 ÷ 152.35 = 0.599934361...
    await expectCharges(await price(3, { denomination: 1000, quantity: 1, wallet_id: INR_WALLET }), {
      non_discounted_total: 1000,
      discount_amount: 0,
      total_amount: 1000,
      discount: 0,
      gst_amount: 59.99,
      total_payable: 662.92,
      max_quantity: 20,
      net_amount: 599.93,
      handling_fee_amount: 0,
      charges_details: {
        source_currency: 'JPY',
        destination_currency: 'INR',
        forex_rate: 0.599934361667,
        conversion_fee: 3,
      },
    })
  })
})

describe('agreements with one client', () => {
  test('its discount applies if it is higher, and its maximum quantity', async () => {
    const limited = await world.limited()
    await expectCharges(await price(2, { denomination: 50, quantity: 1 }, limited), {
      non_discounted_total: 50,
      discount_amount: 3,
      total_amount: 47,
      discount: 6,
      gst_amount: 0,
      total_payable: 47,
      max_quantity: 10,
      net_amount: 47,
      handling_fee_amount: 0,
      charges_details: { source_currency: 'USD', destination_currency: 'USD', forex_rate: null, conversion_fee: null },
    })
    expect(await (await price(2, { denomination: 50, quantity: 1 })).json()).toMatchObject({
      discount: 4,
      discount_amount: 2,
      max_quantity: 100,
    })
  })

  test("that client's default wallet pays in another currency", async () => {
    const limited = await world.limited()
    await expectCharges(await price(1, { denomination: 100, quantity: 2 }, limited), {
      non_discounted_total: 200,
      discount_amount: 5,
      total_amount: 195,
      discount: 2.5,
      gst_amount: 0.38,
      total_payable: 2.52,
      max_quantity: 10,
      net_amount: 2.13,
      handling_fee_amount: 0,
      charges_details: {
        source_currency: 'INR',
        destination_currency: 'USD',
        forex_rate: 0.0109409190372,
        conversion_fee: 0.01,
      },
    })
  })

  test.each([
    ['the maximum of the client', 1, 100, 10],
    ['the maximum of the product', 5, 25, 5],
  ])('the lower maximum applies: %s', async (_, id, denomination, quantityMax) => {
    const limited = await world.limited()
    const response = await price(id, { denomination, quantity: quantityMax }, limited)
    expect(await response.json()).toMatchObject({ max_quantity: quantityMax })
    await expectRefusal(
      await price(id, { denomination, quantity: quantityMax + 1 }, limited),
      400,
      `Quantity exceeds maximum allowed quantity of ${quantityMax}`,
    )
  })
})

describe('bands', () => {
  test.each([
    ['the first alone', 100, 2],
    ['just below the second', 499.99, 2],
    ['the first and the second', 500, 5],
    ['the end of the first', 1000, 5],
    ['the second alone', 1000.01, 5],
    ['the second and the third, which is one amount', 2000, 7.5],
    ['just above the third', 2000.01, 5],
    ['the end of the second', 5000, 5],
  ])('the higher discount applies where they overlap: %s', async (_, denomination, discount) => {
    expect(await (await price(6, { denomination, quantity: 1 })).json()).toMatchObject({ discount })
  })

  test.each([
    ['below the lowest', 6, 99.99],
    ['above the highest', 6, 5000.01],
    ['between fixed amounts', 1, 101],
    ['with more decimals than the rupee has', 6, 100.001],
    ['with a hair more than a fixed amount', 1, 100.0000001],
    ['with a fraction of a yen', 3, 1000.5],
    ['with four decimals in Kuwaiti dinars', 4, 2.5005],
    ['of one cent', 1, 0.01],
    ['of a billion', 1, 1_000_000_000],
  ])('404 for an amount %s', async (_, id, denomination) => {
    await expectRefusal(await price(id, { denomination, quantity: 1 }), 404, 'Denomination not found')
  })
})

describe('errors of charges', () => {
  test.each<[string, object, string]>([
    ['a denomination of 0', { denomination: 0 }, 'denomination must be at least 0.01'],
    ['a denomination below the smallest', { denomination: 0.009 }, 'denomination must be at least 0.01'],
    ['a negative denomination', { denomination: -100 }, 'denomination must be at least 0.01'],
    ['a denomination above a billion', { denomination: 1_000_000_000.01 }, 'denomination must be at most 1000000000'],
    ['a quantity of 0', { quantity: 0 }, 'quantity must be at least 1'],
    ['a negative quantity', { quantity: -2 }, 'quantity must be at least 1'],
    ['a fractional quantity', { quantity: 1.5 }, 'quantity must be a whole number'],
    ['a wallet_id of 0', { wallet_id: 0 }, 'wallet_id must be at least 1'],
    ['a fractional wallet_id', { wallet_id: 1.5 }, 'wallet_id must be a whole number'],
    ['a string as wallet_id', { wallet_id: '1' }, 'wallet_id must be a whole number'],
    ['an empty wallet_id', { wallet_id: '' }, 'wallet_id must be a whole number'],
    ['a wallet_id above every id', { wallet_id: 2_147_483_648 }, 'wallet_id must be at most 2147483647'],
    [
      'all three',
      { denomination: 0, quantity: 0.5, wallet_id: -1 },
      'denomination must be at least 0.01; quantity must be a whole number; wallet_id must be at least 1',
    ],
  ])('400 with details for %s', async (_, change, details) => {
    await expectRefusal(await price(1, { denomination: 100, quantity: 2, ...change }), 400, {
      message: 'Validation failed',
      details,
    })
  })

  test.each([
    ['an inactive product', 7],
    ['an unknown one', UNKNOWN_ID],
  ])('404 for %s', async (_, id) => {
    await expectRefusal(await price(id, { denomination: 10, quantity: 1 }), 404, 'Product not found')
  })

  test('400 above the maximum, with the maximum in the message', async () => {
    expect((await price(1, { denomination: 100, quantity: 50 })).status).toBe(200)
    for (const quantity of [51, 1e9, 1e300]) {
      await expectRefusal(
        await price(1, { denomination: 100, quantity }),
        400,
        'Quantity exceeds maximum allowed quantity of 50',
      )
    }
  })

  test("400 for an unknown wallet, identical for another client's wallet", async () => {
    const limited = await world.limited()
    const body = { denomination: 100, quantity: 2 }
    await expectRefusal(await price(1, { ...body, wallet_id: UNKNOWN_ID }), 400, 'Wallet not found')
    await expectRefusal(await price(1, { ...body, wallet_id: LIMITED_WALLET }), 400, 'Wallet not found')
    await expectRefusal(await price(1, { ...body, wallet_id: USD_WALLET }, limited), 400, 'Wallet not found')
    expect((await price(1, { ...body, wallet_id: LIMITED_WALLET }, limited)).status).toBe(200)
  })

  test.each([
    [undefined, 'USD'],
    [USD_WALLET, 'USD'],
    [EUR_WALLET, 'EUR'],
    [JPY_WALLET, 'JPY'],
  ])('400 if Kenyan shillings have no rate: wallet %p', async (walletId, currency) => {
    await expectRefusal(
      await price(10, { denomination: 500, quantity: 1, ...(walletId && { wallet_id: walletId }) }),
      400,
      `No exchange rate found for KES to ${currency}`,
    )
  })

  test('a request with several errors gets the first in the order of the table', async () => {
    const unknownWallet = 999
    const validation = {
      message: 'Validation failed',
      details: 'denomination must be at least 0.01; quantity must be a whole number; wallet_id must be at least 1',
    }
    const steps: [id: number | string, body: unknown, status: number, error: unknown][] = [
      ['0', '{', 400, 'Invalid product ID'],
      [UNKNOWN_ID, '{', 400, 'Invalid request body'],
      [UNKNOWN_ID, { denomination: 0, wallet_id: 0 }, 400, 'Invalid request body'],
      [UNKNOWN_ID, { denomination: 0, quantity: 1.5, wallet_id: 0 }, 400, validation],
      [UNKNOWN_ID, { denomination: 1, quantity: 201, wallet_id: unknownWallet }, 404, 'Product not found'],
      [10, { denomination: 1, quantity: 201, wallet_id: unknownWallet }, 404, 'Denomination not found'],
      [
        10,
        { denomination: 500, quantity: 201, wallet_id: unknownWallet },
        400,
        'Quantity exceeds maximum allowed quantity of 200',
      ],
      [10, { denomination: 500, quantity: 200, wallet_id: unknownWallet }, 400, 'Wallet not found'],
      [10, { denomination: 500, quantity: 200, wallet_id: USD_WALLET }, 400, 'No exchange rate found for KES to USD'],
    ]
    for (const [id, body, status, error] of steps) await expectRefusal(await price(id, body), status, error)
  })
})

describe('an amount above the exact range', () => {
  const anyAmount = { denominations: [{ min_value: 0.01, max_value: 1_000_000_000, discount: 0 }] }
  const half = {
    denominations: [50, 10].map((discount) => ({ min_value: 0.01, max_value: 1_000_000_000, discount })),
  }
  let large: Server
  let client: TestWorld
  beforeAll(async () => {
    const catalog = fileOf({
      products: [
        catalogEntry({ id: 1, max_quantity: 1_000_000_000, ...anyAmount }),
        catalogEntry({ id: 2, max_quantity: 1_000_000_000, gst_percent: 100, ...anyAmount }),
        catalogEntry({ id: 3, denominations: [{ min_value: 1, max_value: 10, discount: 100 }] }),
        catalogEntry({ id: 5, max_quantity: 1_000_000_000, ...half }),
        catalogEntry({ id: 4, currency: 'VND', denominations: [{ min_value: 1, max_value: 10, discount: 0 }] }),
      ],
    })
    large = await startServer('--rate-limit', 'off', '--catalog', catalog)
    client = await large.world()
  })
  afterAll(() => large.stop())

  const TOO_LARGE = { message: 'Validation failed', details: 'amount too large' }

  test('the higher of two discounts applies, also where it comes first', async () => {
    expect(await (await price(5, { denomination: 10, quantity: 1 }, client)).json()).toMatchObject({ discount: 50 })
  })

  test('the largest exact total is correct to the cent', async () => {
    const response = await price(1, { denomination: 999_999_999.99, quantity: 9_999 }, client)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      non_discounted_total: 9_998_999_999_900.01,
      total_payable: 9_998_999_999_900.01,
    })
  })

  test.each([
    ['the total', 1, { denomination: 1_000_000_000, quantity: 10_000 }],
    ['the total before its discount', 5, { denomination: 1_000_000_000, quantity: 10_000 }],
    ['the total, by far', 1, { denomination: 1_000_000_000, quantity: 1_000_000_000 }],
    ['the sum with the tax', 2, { denomination: 1_000_000_000, quantity: 5_000 }],
    ['the amount in the currency of the wallet', 1, { denomination: 1e9, quantity: 9_999, wallet_id: INR_WALLET }],
  ])('400 instead of an approximation: %s', async (_, id, body) => {
    await expectRefusal(await price(id, body, client), 400, TOO_LARGE)
  })

  test.each([
    ['discounted', 3, { denomination: 10, quantity: 2 }],
    ['rounded away', 4, { denomination: 1, quantity: 5, wallet_id: USD_WALLET }],
  ])('400 for a purchase whose price is %s whole, each time', async (_, id, body) => {
    for (const _time of [1, 2]) {
      const response = await price(id, body, client)
      expect(response.headers.get('x-cache')).toBeNull()
      await expectRefusal(response, 400, { message: 'Validation failed', details: 'amount too small' })
    }
  })

  test('the limit with tax is exact to one cent', async () => {
    expect((await price(2, { denomination: 999_999_999.99, quantity: 5_000 }, client)).status).toBe(200)
    await expectRefusal(await price(2, { denomination: 1_000_000_000, quantity: 5_000 }, client), 400, TOO_LARGE)
  })
})

describe('unusual JSON numbers', () => {
  const INVALID = 'Invalid request body'
  const details = (text: string) => ({ message: 'Validation failed', details: text })

  test.each<[string, object | string]>([
    ['{"quantity":1}', INVALID],
    ['{"denomination":100,"quantity":null}', INVALID],
    ['{"denomination":"100","quantity":1}', INVALID],
    ['{"denomination":[100],"quantity":1}', INVALID],
    ['{"denomination":1e400,"quantity":1}', details('denomination must be at most 1000000000')],
    ['{"denomination":-1e400,"quantity":1}', details('denomination must be at least 0.01')],
    ['{"denomination":-0,"quantity":1}', details('denomination must be at least 0.01')],
    ['{"denomination":100.00000000000001,"quantity":1}', 'Denomination not found'],
    ['{"denomination":100,"quantity":-0}', details('quantity must be at least 1')],
    ['{"denomination":100,"quantity":1e-7}', details('quantity must be a whole number')],
    ['{"denomination":100,"quantity":1e400}', details('quantity too large')],
    ['{"denomination":100,"quantity":1e300}', 'Quantity exceeds maximum allowed quantity of 50'],
    ['{"denomination":100,"quantity":1,"wallet_id":1e400}', details('wallet_id must be at most 2147483647')],
    ['{"denomination":100,"quantity":1,"wallet_id":2147483647}', 'Wallet not found'],
  ])('%s is refused with the message of the contract', async (body, error) => {
    const response = await world.post('/api/v1/products/1/charges', body)
    await expectResponse(response, error === 'Denomination not found' ? 404 : 400, { error })
  })

  test.each(['1e2', '100.0', '1.00E+2', '1000e-1'])('a denomination of %s is 100', async (denomination) => {
    const response = await world.post('/api/v1/products/1/charges', `{"denomination":${denomination},"quantity":1.0}`)
    expect(await response.json()).toMatchObject({ non_discounted_total: 100 })
  })
})

describe('--rates FILE', () => {
  let custom: Server
  let client: TestWorld
  beforeAll(async () => {
    const rates = fileOf({
      base: 'EUR',
      rates: { USD: '1.25', INR: '100', KES: '0.00000001', KWD: '30000', JPY: '90000000' },
    })
    custom = await startServer('--rate-limit', 'off', '--rates', rates)
    client = await custom.world()
  })
  afterAll(() => custom.stop())

  test.each([
    ['from the base', 5, { denomination: 100, wallet_id: USD_WALLET }, 'EUR', 'USD', 1.25],
    ['to the base', 2, { denomination: 100, wallet_id: EUR_WALLET }, 'USD', 'EUR', 0.8],
    ['between two others', 2, { denomination: 100, wallet_id: INR_WALLET }, 'USD', 'INR', 80],
    ['at twelve digits', 4, { denomination: 250, wallet_id: EUR_WALLET }, 'KWD', 'EUR', 0.0000333333333333],
    ['the other way round', 1, { denomination: 100, wallet_id: USD_WALLET }, 'INR', 'USD', 0.0125],
  ])('sets the rate %s', async (_, id, body, source, destination, rate) => {
    const response = await price(id, { ...body, quantity: 1 }, client)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      charges_details: { source_currency: source, destination_currency: destination, forex_rate: rate },
    })
  })

  test('a rate that is too large causes "amount too large", not an internal error', async () => {
    await expectRefusal(await price(10, { denomination: 500, quantity: 1, wallet_id: JPY_WALLET }, client), 400, {
      message: 'Validation failed',
      details: 'amount too large',
    })
  })
})
