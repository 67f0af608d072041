import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer } from '../harness.ts'
import { UNKNOWN_ID } from '../reference/path-ids.ts'

const server = await sharedServer()
const world = await server.world()

const ask = (id: number | string, body?: unknown, client = world) =>
  client.post(`/api/v1/products/${id}/discount`, body)

const KETTLE_DISCOUNTS = [100, 250, 500, 1000].map((amount) => ({
  min_value: amount,
  max_value: amount,
  discount: 2.5,
}))
const UNASKED = { denomination: null, quantity: null, discount: null, discount_amount: null }

describe('POST /api/v1/products/{id}/discount', () => {
  test.each<[string, unknown]>([
    ['members', {}],
    ['a denomination', { quantity: 3 }],
    ['a denomination that is more than null', { denomination: null, quantity: null }],
    ['a member that is known', { colour: 'red' }],
  ])('200 returns all discounts without %s', async (_, body) => {
    await expectResponse(ask(1, body), 200, {
      product_id: 1,
      currency_code: 'INR',
      discounts: KETTLE_DISCOUNTS,
      ...UNASKED,
    })
  })

  test('200 returns the discount of a purchase', async () => {
    await expectResponse(ask(1, { denomination: 100, quantity: 2 }), 200, {
      product_id: 1,
      currency_code: 'INR',
      discounts: KETTLE_DISCOUNTS,
      denomination: 100,
      quantity: 2,
      discount: 2.5,
      discount_amount: 5,
    })
  })

  test.each([
    ['left out', { denomination: 250 }],
    ['null', { denomination: 250, quantity: null }],
  ])('a quantity that is %s is 1', async (_, body) => {
    expect(await (await ask(1, body)).json()).toMatchObject({
      denomination: 250,
      quantity: 1,
      discount: 2.5,
      discount_amount: 6.25,
    })
  })

  test('a product without a discount has a discount of zero', async () => {
    expect(await (await ask(9, { denomination: 50, quantity: 2 })).json()).toEqual({
      product_id: 9,
      currency_code: 'USD',
      discounts: [{ min_value: 10, max_value: 100, discount: 0 }],
      denomination: 50,
      quantity: 2,
      discount: 0,
      discount_amount: 0,
    })
  })

  test('matches the charges', async () => {
    const body = { denomination: 33.33, quantity: 7 }
    const charged = (await (await world.post('/api/v1/products/12/charges', body)).json()) as {
      discount: number
      discount_amount: number
    }
    expect(await (await ask(12, body)).json()).toMatchObject({
      discount: charged.discount,
      discount_amount: charged.discount_amount,
    })
  })
})

describe('errors of discounts', () => {
  test.each<[string, object, string]>([
    ['a denomination of 0', { denomination: 0 }, 'denomination must be at least 0.01'],
    ['a denomination above a billion', { denomination: 1e9 + 1 }, 'denomination must be at most 1000000000'],
    ['a quantity of 0', { denomination: 100, quantity: 0 }, 'quantity must be at least 1'],
    ['a fractional quantity', { denomination: 100, quantity: 1.5 }, 'quantity must be a whole number'],
    ['a quantity of 0 by itself', { quantity: 0 }, 'quantity must be at least 1'],
    [
      'both',
      { denomination: 0.001, quantity: 0.1 },
      'denomination must be at least 0.01; quantity must be a whole number',
    ],
    ['an amount too large', { denomination: 100, quantity: 1e15 }, 'amount too large'],
  ])('400 with details for %s', async (_, body, details) => {
    await expectResponse(ask(1, body), 400, { error: { message: 'Validation failed', details } })
  })

  test.each([
    ['an inactive product', 7, 'Product not found'],
    ['an unknown product', UNKNOWN_ID, 'Product not found'],
  ])('404 for %s, asked with or without a denomination', async (_, id, error) => {
    for (const body of [{}, { denomination: 10 }]) {
      await expectResponse(ask(id, body), 404, { error })
    }
  })

  test.each([101, 0.01, 100.001, 1e9])('404 for the denomination %d, which is not offered', async (denomination) => {
    await expectResponse(ask(1, { denomination, quantity: 1 }), 404, { error: 'Denomination not found' })
  })
})
