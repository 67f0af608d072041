import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer, type TestWorld } from '../harness.ts'
import { getPayout, HUNDRED, PAYOUTS, type Payout, pageOf, pay, START } from '../records.ts'

const server = await sharedServer()

const referencesOf = async (world: TestWorld, query: string): Promise<string[]> => {
  const response = await world.get(`${PAYOUTS}?${query}`)
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as Payout[]).map(({ reference_id }) => reference_id)
}

/** Payouts a, b, c, d, made 1.5 s apart, so that at the end d is created, c queued, b submitted, a settling. */
const desk = async (): Promise<TestWorld> => {
  const world = await server.world(START)
  const sent = [
    { reference_id: 'a-Bonus', amount: 10, currency: 'USD' },
    { reference_id: 'b-refund', amount: 9.5, currency: 'EUR', beneficiary_email: 'Grace@Example.COM' },
    { reference_id: 'c-100%', amount: 1_000, currency: 'JPY', beneficiary_email: 'o_o@example.com' },
    { reference_id: 'd-BONUS', amount: 10, currency: 'KWD' },
  ]
  for (const [index, payout] of sent.entries()) {
    if (index > 0) await world.clock({ advance: 'PT1.5S' })
    await pay(world, { ...HUNDRED, ...payout })
  }
  return world
}

describe('GET /api/v1/payouts', () => {
  test('lists payouts without their events, the newest first', async () => {
    const world = await desk()
    const response = await world.get(PAYOUTS)
    const listed = (await response.json()) as Payout[]
    const whole = await Promise.all(listed.map(({ id }) => getPayout(world, id)))
    expect(listed).toEqual(whole.map(({ events, ...rest }) => rest) as Payout[])
    expect(listed.map(({ reference_id, status }) => [reference_id, status])).toEqual([
      ['d-BONUS', 'created'],
      ['c-100%', 'queued'],
      ['b-refund', 'processing'],
      ['a-Bonus', 'settling'],
    ])
    expect(pageOf(response)).toEqual(['1', '20', '4', '1', null, null])
  })

  test('combines filters by status, currency and search', async () => {
    const world = await desk()
    expect(await referencesOf(world, 'status=queued')).toEqual(['c-100%'])
    expect(await referencesOf(world, 'status=CREATED')).toEqual(['d-BONUS'])
    expect(await referencesOf(world, 'status=action_required')).toEqual([])
    expect(await referencesOf(world, 'currency=EUR')).toEqual(['b-refund'])
    expect(await referencesOf(world, 'currency=eur')).toEqual(['b-refund'])
    expect(await referencesOf(world, 'currency=GBP')).toEqual([])
    expect(await referencesOf(world, 'search=bonus')).toEqual(['d-BONUS', 'a-Bonus'])
    expect(await referencesOf(world, 'search=GRACE@')).toEqual(['b-refund'])
    expect(await referencesOf(world, 'search=example.com')).toEqual(['d-BONUS', 'c-100%', 'b-refund', 'a-Bonus'])
    expect(await referencesOf(world, 'search=nobody')).toEqual([])
    expect(await referencesOf(world, 'search=')).toHaveLength(4)
    expect(await referencesOf(world, 'search=bonus&status=created')).toEqual(['d-BONUS'])
    expect(await referencesOf(world, 'search=bonus&currency=EUR')).toEqual([])
    expect(await referencesOf(world, 'colour=red')).toHaveLength(4)
  })

  test('% and _ are ordinary characters in a search, and a search does not cross the separator', async () => {
    const world = await desk()
    expect(await referencesOf(world, 'search=%25')).toEqual(['c-100%'])
    expect(await referencesOf(world, 'search=_')).toEqual(['c-100%'])
    expect(await referencesOf(world, 'search=Lovelace')).toEqual([])
    for (const seam of ['', ' ', '%0A', '%09', '%1F']) {
      expect(await referencesOf(world, `search=b-refund${seam}grace`)).toEqual([])
    }
    expect(await referencesOf(world, 'search=%0A')).toEqual([])
  })

  test('sorts by created_at, amount and status, in both directions and either case', async () => {
    const world = await desk()
    const NEWEST_FIRST = ['d-BONUS', 'c-100%', 'b-refund', 'a-Bonus']
    expect(await referencesOf(world, 'sort_by=created_at')).toEqual(NEWEST_FIRST)
    expect(await referencesOf(world, 'sort_order=desc')).toEqual(NEWEST_FIRST)
    expect(await referencesOf(world, 'sort_order=ASC')).toEqual([...NEWEST_FIRST].reverse())
    // 9.5 EUR, 10 USD, 10 KWD, 1,000 JPY: as they are published; ties break by id.
    const SMALLEST_FIRST = ['b-refund', 'a-Bonus', 'd-BONUS', 'c-100%']
    expect(await referencesOf(world, 'sort_by=amount&sort_order=asc')).toEqual(SMALLEST_FIRST)
    expect(await referencesOf(world, 'sort_by=amount&sort_order=DESC')).toEqual([...SMALLEST_FIRST].reverse())
    // created, processing, queued, settling
    const BY_STATUS = ['d-BONUS', 'b-refund', 'c-100%', 'a-Bonus']
    expect(await referencesOf(world, 'sort_by=status&sort_order=ASC')).toEqual(BY_STATUS)
    expect(await referencesOf(world, 'sort_by=status')).toEqual([...BY_STATUS].reverse())
  })

  test('pages neither overlap nor skip with equal values, 20 per page by default', async () => {
    const world = await server.world(START)
    for (let count = 0; count < 21; count++) await pay(world, { ...HUNDRED, amount: 1, reference_id: `r${count}` })
    const all = Array.from({ length: 21 }, (_, index) => `r${20 - index}`)
    const first = await world.get(PAYOUTS)
    expect((await first.json()) as object[]).toHaveLength(20)
    expect(pageOf(first)).toEqual(['1', '20', '21', '2', null, null])
    expect(await referencesOf(world, 'page=2')).toEqual(['r0'])
    expect(await referencesOf(world, 'limit=100')).toEqual(all)
    const past = await world.get(`${PAYOUTS}?limit=8&page=4`)
    expect(await past.json()).toEqual([])
    expect(pageOf(past)).toEqual(['4', '8', '21', '3', null, null])
    for (const sort of ['amount', 'status', 'created_at']) {
      for (const filter of ['', 'status=created', 'currency=USD', 'status=created&currency=USD', 'search=r']) {
        const pagesBy = async (direction: string) => {
          const query = `${filter}&sort_by=${sort}&sort_order=${direction}&limit=8`
          return (await Promise.all([1, 2, 3].map((page) => referencesOf(world, `${query}&page=${page}`)))).flat()
        }
        expect(await pagesBy('desc')).toEqual(all)
        expect(await pagesBy('asc')).toEqual(all.toReversed())
      }
    }
  })

  test.each([
    ['limit=101', 'limit must be at most 100'],
    [
      'status=done',
      'status must be one of created, queued, processing, settling, completed, failed, action_required, cancelled, expired',
    ],
    ['currency=XYZ', 'currency must be the ISO 4217 code of a circulating currency'],
    ['currency=', 'currency must be the ISO 4217 code of a circulating currency'],
    ['search=%00', 'search must not contain NUL'],
    ['sort_by=id', 'sort_by must be one of created_at, amount, status'],
    ['sort_order=up', 'sort_order must be one of ASC, DESC'],
    [
      'page=0&limit=0&sort_by=x',
      'page must be at least 1; limit must be at least 1; sort_by must be one of created_at, amount, status',
    ],
  ])('400 refuses %s in the flat format', async (query, message) => {
    const world = await server.world()
    await expectResponse(world.get(`${PAYOUTS}?${query}`), 400, { error: 'ValidationException', message })
  })
})
