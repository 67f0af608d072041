import { describe, expect, test } from 'bun:test'
import { notFound } from '../errors.ts'
import { expectResponse, sharedServer } from '../harness.ts'
import { digestOf, UNKNOWN_ID } from '../reference/path-ids.ts'

const server = await sharedServer()
const world = await server.world()

describe.each([
  {
    path: '/api/v1/categories',
    noun: 'Category',
    count: 12,
    digest: 'bc152df593f09fe93a33c448ad76a476f4ff743a6ee5d867f253a39bd1720daf',
    sample: { id: 4, name: 'Books & Learning' },
    inactiveIds: [13, 14],
    inactiveName: 'Telecom Top-Ups',
  },
  {
    path: '/api/v1/subcategories',
    noun: 'Subcategory',
    count: 42,
    digest: 'db393f856067b8d591e1a3500c9251783ccb39eb82f11fdadb381ab30db359b2',
    sample: { id: 12, name: 'Books & Magazines' },
    inactiveIds: [43, 44, 45, 46],
    inactiveName: 'DVD Rental',
  },
])('GET $path', ({ path, noun, count, digest, sample, inactiveIds, inactiveName }) => {
  const list = async () => await world.read<{ id: number; name: string }[]>(path)

  test('200 returns all active ones with id and name, as an array without pagination', async () => {
    const response = await world.get(`${path}?page=0&limit=1`)
    expect(response.status).toBe(200)
    expect(response.headers.has('x-page')).toBe(false)
    const records = (await response.json()) as object[]
    expect(records).toHaveLength(count)
    for (const record of records) {
      expect(record).toEqual({ id: expect.any(Number), name: expect.stringMatching(/^\S.*\S$/) })
    }
  })

  test('ids never change', async () => {
    expect(digestOf((await list()).map(({ id, name }) => `${id} ${name}`))).toBe(digest)
  })

  test('does not show inactive ones', async () => {
    const records = await list()
    expect(records.filter(({ id }) => new Set<number>(inactiveIds).has(id))).toEqual([])
    expect(records.map(({ name }) => name)).not.toContain(inactiveName)
  })

  test('200 returns one by its id', async () => {
    await expectResponse(world.get(`${path}/${sample.id}`), 200, sample)
  })

  test('404 for an inactive one, identical to an unknown one', async () => {
    for (const id of [...inactiveIds, UNKNOWN_ID]) {
      await expectResponse(world.get(`${path}/${id}`), 404, notFound(`${noun} not found`))
    }
  })
})

test('every active product has an active category and subcategory', async () => {
  const names = async (path: string) => new Set((await world.read<{ name: string }[]>(path)).map(({ name }) => name))
  const [categories, subcategories] = [await names('/api/v1/categories'), await names('/api/v1/subcategories')]
  const products = await world.read<{ category: string; sub_category: string }[]>('/api/v1/products?limit=10000')
  expect(products.length).toBeGreaterThanOrEqual(400)
  expect(
    products.filter((product) => !categories.has(product.category) || !subcategories.has(product.sub_category)),
  ).toEqual([])
})
