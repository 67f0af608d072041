import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, countOf } from '../records.ts'

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const PATH = '/api/v1/beneficiaries'
const NOT_FOUND = { error: 'NotFound', message: 'Beneficiary not found' }

const save = async (world: TestWorld, change: object = {}) => {
  const response = await world.post(PATH, { ...ADA, ...change })
  expect(response.status).toBe(201)
  return (await response.json()) as { id: string; email: string }
}

/** Ids that identify no beneficiary. Each is simply not found. */
const NOBODY = [
  ['of the right form', 'ben_00000000000000000000000000'],
  ['that is a number', '1'],
  ['without the prefix', '000000000000000000000000'],
  ['that is an escape', '%00'],
  ['that is half an escape', '1%'],
  ['with a quote', "ben_'%20OR%20'1'='1"],
  ['of another script', '%CE%B2%CE%B5%CE%BD'],
  ['that is very long', 'b'.repeat(4_000)],
] as const

describe('GET /api/v1/beneficiaries/{id}', () => {
  test('200 returns the saved beneficiary', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const saved = await save(world, { country: 'gb', phone: '+44 20 7946 0958', metadata: { a: [1, { b: null }] } })
    await expectResponse(world.get(`${PATH}/${saved.id}`), 200, saved)
    expect(saved).toEqual({
      id: expect.stringMatching(/^ben_[0-9a-z]{20,}$/),
      ...ADA,
      country: 'GB',
      phone: '+442079460958',
      metadata: { a: [1, { b: null }] },
      total_payouts: 0,
      total_amount: 0,
      last_payout_at: null,
      created_at: '2030-01-01T00:00:00.000Z',
    } as unknown as typeof saved)
  })

  test.each(NOBODY)('404 for an id %s', async (_, id) => {
    await expectResponse((await server.world()).get(`${PATH}/${id}`), 404, NOT_FOUND)
  })
})

describe('DELETE /api/v1/beneficiaries/{id}', () => {
  inWorld('204 without a body, and deletes only this beneficiary', async (world) => {
    const [kept, gone] = [await save(world), await save(world)]
    const response = await world.delete(`${PATH}/${gone.id}`)
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    expect(response.headers.get('content-type')).toBeNull()
    expect((await world.get(`${PATH}/${gone.id}`)).status).toBe(404)
    expect(await (await world.get(PATH)).json()).toEqual([kept])
  })

  inWorld('404 the second time', async (world) => {
    const { id } = await save(world)
    expect((await world.delete(`${PATH}/${id}`)).status).toBe(204)
    await expectResponse(world.delete(`${PATH}/${id}`), 404, NOT_FOUND)
  })

  inWorld('deletes once if two requests arrive together', async (world) => {
    const { id } = await save(world)
    const responses = await Promise.all([1, 2, 3].map(() => world.delete(`${PATH}/${id}`)))
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 404, 404])
  })
})

describe('ids of beneficiaries', () => {
  inWorld('e-mail addresses can repeat, ids cannot', async (world) => {
    const [first, second] = [await save(world), await save(world)]
    expect(second.email).toBe(first.email)
    expect(second.id).not.toBe(first.id)
    expect(await countOf(world)).toBe(2)
  })
})
