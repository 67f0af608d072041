import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { BENEFICIARY_SORTS, beneficiaryList } from '../../src/beneficiaries/queries.ts'
import { Database, queryOn } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { eventList } from '../../src/events/queries.ts'
import { orderList } from '../../src/orders/queries.ts'
import { PAYOUT_SORTS, payoutList } from '../../src/payouts/queries.ts'
import { transactionList } from '../../src/wallets/queries.ts'
import { attemptList } from '../../src/webhooks/queries.ts'

const database = Database.inMemory()
migrate(database.sqlite, { nowMs: () => 0 })
afterAll(() => database.close())

const DIRECTIONS = ['ASC', 'DESC'] as const
/** Statements are kept for a connection: this one is new. */
const readerOf = (id: number) => ({ world: { db: { query: queryOn(database.sqlite) } }, client: { id } })

/** One client of many records must not hold up others (contract C4). */
describe('A count and a page of a list read nothing but indexes, and then the rows that are shown:', () => {
  /** The way in which the statements of a page search each table. */
  const searchesOf = (page: () => unknown): string[] => {
    const prepare = spyOn(database.sqlite, 'prepare')
    page()
    const statements = prepare.mock.calls.map(([sql]) => sql)
    prepare.mockRestore()
    return statements
      .flatMap((sql) => database.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail)
      .filter((detail) => /^(?:SEARCH|SCAN)/.test(detail))
  }
  type Page = (slice: { sort: never; direction: 'ASC' | 'DESC'; filters: never }) => unknown
  const pageOf =
    <Slice>(list: { page: (reader: ReturnType<typeof readerOf>, slice: Slice, wire: () => 0) => unknown }): Page =>
    (slice) =>
      list.page(readerOf(1), { ...slice, limit: 50, offset: 50 } as Slice, () => 0)

  const money = { walletId: 1, currency: 'USD', search: 'a', transactionType: 'DEBIT', status: 'COMPLETED' }
  test.each([
    ['beneficiaries', pageOf(beneficiaryList), BENEFICIARY_SORTS, { search: 'a' }],
    ['payouts', pageOf(payoutList), PAYOUT_SORTS, { status: 'created', currencyId: 1, search: 'a' }],
    ['transactions', pageOf(transactionList), ['id', 'amount', 'created_at'], { ...money, createdFromMs: 1 }],
    ['events', pageOf(eventList), ['id'], { type: 'payout.*', createdFromMs: 1, createdToMs: 2 }],
    ['orders', pageOf(orderList), ['id'], { status: 'PENDING', productId: 1 }],
    ['deliveries', pageOf(attemptList), ['id'], { webhookId: 'whk_1' }],
  ] as const)('%s', (_, page, sorts, filters) => {
    const combined = [{}, filters, ...Object.entries(filters).map((entry) => Object.fromEntries([entry]))]
    for (const sort of sorts) {
      for (const direction of DIRECTIONS) {
        for (const filters of combined) {
          const searches = searchesOf(() => page({ sort: sort as never, direction, filters: filters as never }))
          const ofRows = searches.filter((search) => !search.includes('USING COVERING INDEX'))
          expect(ofRows).toEqual([
            'SCAN page',
            expect.stringMatching(/ USING (?:INTEGER )?PRIMARY KEY \((?:row)?id=\?\)$/),
          ])
        }
      }
    }
  })
})
