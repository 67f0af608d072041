import { expect, test } from 'bun:test'
import { expectResponse, startServer } from '../harness.ts'
import { catalogEntry, fileOf } from './entry.ts'

test('--catalog FILE sets the products of every world', async () => {
  const catalog = fileOf({
    categories: [{ name: 'Submarines' }],
    products: [
      catalogEntry({ id: 3, name: 'Drawn', country: 'JPN', currency: 'JPY' }),
      catalogEntry({ id: 5, name: 'Pictured', image_url: 'https://cards.example/5.png', category: 'Submarines' }),
      catalogEntry({ id: 9, name: 'Withdrawn', active: false }),
    ],
  })
  const server = await startServer('--rate-limit', 'off', '--catalog', catalog)
  try {
    for (const world of [await server.world(), await server.world()]) {
      const response = await world.get('/api/v1/products')
      expect(response.status).toBe(200)
      expect(response.headers.get('x-total-count')).toBe('2')
      const common = {
        sub_category: 'Video Games',
        delivery_mode: 'digital',
        delivery_time: 'instant',
        validity: '12 months',
        available_denominations: [{ min_value: 10, max_value: 100, discount: 5 }],
      }
      expect(await response.json()).toEqual([
        {
          id: 5,
          name: 'Pictured',
          category: 'Submarines',
          country_code: 'USA',
          currency_code: 'USD',
          image_url: 'https://cards.example/5.png',
          ...common,
        },
        {
          id: 3,
          name: 'Drawn',
          category: 'Gaming',
          country_code: 'JPN',
          currency_code: 'JPY',
          image_url: `${server.url}/cards/3`,
          ...common,
        },
      ])
      const categories = await world.read<{ id: number; name: string }[]>('/api/v1/categories')
      expect(categories.at(-1)).toEqual({ id: 1_000_001, name: 'Submarines' })
      expect(await (await world.get('/api/v1/categories/1000001')).json()).toEqual({
        id: 1_000_001,
        name: 'Submarines',
      })
      expect((await world.get('/api/v1/products/9')).status).toBe(404)
      expect((await world.get('/api/v1/products/1')).status).toBe(404)
    }
  } finally {
    await server.stop()
  }
})

test('search and category match both forms of the small sigma, and names are sorted by code point', async () => {
  const names = ['ΟΔΟΣ', 'οδος', 'οδοσ', 'ΟΔΟΣΗΜΟ', 'Odos', '𝒜', 'Ａ']
  const products = names.map((name, index) => catalogEntry({ id: index + 1, name, category: name }))
  const server = await startServer(
    '--rate-limit',
    'off',
    '--catalog',
    fileOf({ categories: names.map((name) => ({ name })), products }),
  )
  try {
    const world = await server.world()
    const idsOf = async (filter: string, text: string) => {
      const sort = encodeURIComponent('{"direction":"ASC"}')
      const response = await world.get(`/api/v1/products?${filter}=${encodeURIComponent(text)}&sort=${sort}`)
      return ((await response.json()) as { id: number }[]).map(({ id }) => id)
    }
    const sorted = await world.read<{ name: string }[]>('/api/v1/products?sort_by=name&sort_order=DESC&limit=2')
    expect(sorted.map(({ name }) => name)).toEqual(['𝒜', 'Ａ'])
    for (const text of ['ΟΔΟΣ', 'οδος', 'οδοσ']) {
      expect(await idsOf('search', text)).toEqual([1, 2, 3, 4])
      expect(await idsOf('category', text)).toEqual([1, 2, 3])
    }
  } finally {
    await server.stop()
  }
})

test('--catalog FILE without products gives an empty list and zero pages', async () => {
  const server = await startServer('--rate-limit', 'off', '--catalog', fileOf({ products: [] }))
  try {
    const response = await (await server.world()).get('/api/v1/products')
    await expectResponse(response, 200, [])
    expect(response.headers.get('x-total-count')).toBe('0')
    expect(response.headers.get('x-total-pages')).toBe('0')
    expect(response.headers.get('x-has-more')).toBe('false')
  } finally {
    await server.stop()
  }
})

test('a response of the API is a catalog, with codes that never expire where it says so', async () => {
  const seeded = await startServer('--rate-limit', 'off')
  const listed = await (await seeded.world()).read<object[]>('/api/v1/products?limit=10000')
  await seeded.stop()
  const products = listed.map((product, index) =>
    index === 0
      ? { ...product, id: 1_000, delivery_mode: 'Digital', delivery_time: 'Instant', validity: 'NO EXPIRY' }
      : product,
  )
  const server = await startServer('--rate-limit', 'off', '--catalog', fileOf(products))
  try {
    const world = await server.world()
    expect(await (await world.get('/api/v1/products?limit=10000')).json()).toEqual([
      { ...products[0], delivery_mode: 'digital', delivery_time: 'instant' },
      ...listed.slice(1),
    ])
    const offered = (products[0] as { available_denominations: { min_value: number }[] }).available_denominations[0]
    const order = { product_id: 1_000, denomination: offered?.min_value, quantity: 1 }
    expect(await (await world.post('/api/v1/orders', order)).json()).toMatchObject({
      status: 'DELIVERED',
      vouchers: [{ expires_at: null }],
    })
  } finally {
    await server.stop()
  }
})
