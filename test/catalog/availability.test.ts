import { describe, expect, test } from 'bun:test'
import { invalid, notFound } from '../errors.ts'
import { expectResponse, sharedServer, type TestWorld } from '../harness.ts'

const server = await sharedServer()
const world = await server.world()

const ask = (id: number | string, body?: unknown) => world.post(`/api/v1/products/${id}/availability`, body)

/** A broken rule in the form of `messages`. */
const broken = (field: string, rule: string, problem: string) => ({
  [field]: [{ rule, field, message: `The ${field} field ${problem}.` }],
})

describe('POST /api/v1/products/{id}/availability', () => {
  test.each([
    ['a fixed denomination', 1, { denomination: 100, quantity: 2 }, true],
    ['another one of the same product', 1, { denomination: 1000, quantity: 1 }, true],
    ['an amount between two fixed denominations', 1, { denomination: 101, quantity: 1 }, false],
    ['the lowest amount of a range', 2, { denomination: 5, quantity: 1 }, true],
    ['the highest amount of a range', 2, { denomination: 500, quantity: 1 }, true],
    ['an amount inside a range', 2, { denomination: 123.45, quantity: 1 }, true],
    ['a cent below a range', 2, { denomination: 4.99, quantity: 1 }, false],
    ['a cent above a range', 2, { denomination: 500.01, quantity: 1 }, false],
    ['more decimals than the dollar has', 2, { denomination: 5.005, quantity: 1 }, false],
    ['three decimals, which the Kuwaiti dinar has', 4, { denomination: 2.505, quantity: 1 }, true],
    ['four decimals of it', 4, { denomination: 2.5055, quantity: 1 }, false],
    ['a fraction of a yen', 3, { denomination: 1000.5, quantity: 1 }, false],
    ['the highest quantity', 1, { denomination: 100, quantity: 50 }, true],
    ['a quantity above the highest', 1, { denomination: 100, quantity: 51 }, false],
    ['a quantity beyond all bounds', 1, { denomination: 100, quantity: 1e300 }, false],
    ['a product out of stock', 8, { denomination: 50, quantity: 1 }, false],
    ['all of a small stock', 9, { denomination: 50, quantity: 3 }, true],
    ['more than the stock', 9, { denomination: 50, quantity: 4 }, false],
    ['the smallest denomination that may be asked', 1, { denomination: 0.01, quantity: 1 }, false],
    ['the largest denomination that may be asked', 1, { denomination: 1_000_000_000, quantity: 1 }, false],
    ['members that nobody asked for', 1, { denomination: 100, quantity: 2, wallet_id: 'x', colour: 'red' }, true],
  ])('200 for %s', async (_, id, body, available) => {
    await expectResponse(ask(id, body), 200, { is_available: available })
  })

  test("a quantity above the client's maximum is not available", async () => {
    const limited = await world.limited()
    const available = async (client: TestWorld, quantity: number) =>
      (await client.post('/api/v1/products/2/availability', { denomination: 10, quantity })).json()
    expect(await available(limited, 10)).toEqual({ is_available: true })
    expect(await available(limited, 11)).toEqual({ is_available: false })
    expect(await available(world, 11)).toEqual({ is_available: true })
  })

  test.each<[string, object, object]>([
    ['no quantity', { denomination: 100 }, broken('quantity', 'required', 'is required')],
    ['a null denomination', { denomination: null, quantity: 1 }, broken('denomination', 'required', 'is required')],
    ['an empty string', { denomination: '', quantity: 1 }, broken('denomination', 'number', 'must be a number')],
    ['true', { denomination: 100, quantity: true }, broken('quantity', 'integer', 'must be a whole number')],
    ['a quantity of 0', { denomination: 100, quantity: 0 }, broken('quantity', 'min', 'must be at least 1')],
    [
      'a denomination just below the smallest',
      { denomination: 0.009, quantity: 1 },
      broken('denomination', 'min', 'must be at least 0.01'),
    ],
    [
      'a denomination just above the largest',
      { denomination: 1_000_000_000.01, quantity: 1 },
      broken('denomination', 'max', 'must be at most 1000000000'),
    ],
    [
      'both out of range',
      { denomination: 0, quantity: 0.5 },
      {
        ...broken('denomination', 'min', 'must be at least 0.01'),
        ...broken('quantity', 'integer', 'must be a whole number'),
      },
    ],
  ])('400 names all invalid fields: %s', async (_, body, messages) => {
    await expectResponse(ask(1, body), 400, invalid(messages))
  })

  test('404 for an inactive product', async () => {
    await expectResponse(ask(7, { denomination: 10, quantity: 1 }), 404, notFound('Product not found'))
  })
})
