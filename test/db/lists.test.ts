import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import {
  BENEFICIARY_SORTS,
  beneficiaryList,
  comparedTexts,
  deleteBeneficiary,
  insertBeneficiary,
} from '../../src/beneficiaries/queries.ts'
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

describe('A list', () => {
  const [OURS, THEIRS] = [1, 2]
  for (const id of [OURS, THEIRS]) {
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${id}, 'client ${id}', '', 1, 0)`,
    )
  }

  /** Few values, so that many records are equal in any order; of two forms of é, and in either case. */
  const name = fc.constantFrom('Ada', 'ADA', 'Élodie', 'E\u0301lodie', 'émile', 'Zoe')
  const person = fc.record({
    clientId: fc.constantFrom(OURS, OURS, THEIRS),
    firstName: name,
    lastName: name,
    totalPayouts: fc.nat(3),
    lastPayoutAtMs: fc.option(fc.nat(3)),
    createdAtMs: fc.nat(20),
  })
  const records = fc.sample(person, { seed: 19, numRuns: 300 }).map((made, index) => {
    const id = `ben_${String(index).padStart(5, '0')}`
    const texts = { ...made, email: `${index % 7}@example.com` }
    return { id, totalAmountMinor: 0, country: null, phone: null, metadata: '{}', ...texts, ...comparedTexts(texts) }
  })
  database.fill((tx) => {
    for (const record of records) insertBeneficiary(tx, record)
  })

  type Saved = (typeof records)[number]
  const lower = (text: string) => text.normalize('NFC').toLowerCase()
  const COMPARED: Record<(typeof BENEFICIARY_SORTS)[number], (record: Saved) => (string | number)[]> = {
    created_at: ({ createdAtMs }) => [createdAtMs],
    email: ({ email }) => [lower(email), email],
    first_name: ({ firstName }) => [lower(firstName), firstName],
    last_name: ({ lastName }) => [lower(lastName), lastName],
    country: () => [],
    total_payouts: ({ totalPayouts }) => [totalPayouts],
    total_amount: () => [],
    last_payout_at: ({ lastPayoutAtMs }) => [lastPayoutAtMs ?? -1],
  }
  const compare = (one: readonly (string | number)[], other: readonly (string | number)[]): number => {
    const at = one.findIndex((value, index) => value !== other[index])
    return at < 0 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
  }
  const expectPages = (held: readonly Saved[]) =>
    fc.assert(
      fc.property(
        fc.record({
          sort: fc.constantFrom(...BENEFICIARY_SORTS),
          direction: fc.constantFrom(...DIRECTIONS),
          search: fc.constantFrom(undefined, 'ada', 'élo', 'e zo', '3@', 'nobody'),
          limit: fc.integer({ min: 1, max: 100 }),
          offset: fc.nat(250),
        }),
        ({ sort, direction, search, limit, offset }) => {
          const matching = held.filter(
            ({ email, firstName, lastName }) =>
              search === undefined || [email, `${firstName} ${lastName}`].some((text) => lower(text).includes(search)),
          )
          const key = (record: Saved) => [...COMPARED[sort](record), record.id]
          const ascending = matching.toSorted((one, other) => compare(key(one), key(other)))
          const sorted = (direction === 'ASC' ? ascending : ascending.toReversed()).map(({ id }) => id)
          const slice = { filters: { search }, sort, direction, limit, offset }
          expect(beneficiaryList.page(readerOf(OURS), slice, ({ id }) => id)).toEqual({
            entries: sorted.slice(offset, offset + limit),
            totalCount: sorted.length,
          })
        },
      ),
      { seed: 19, numRuns: 300 },
    )

  const ours = records.filter(({ clientId }) => clientId === OURS)
  test("has the client's own matching records in total order, by any order, search and page", () => expectPages(ours))

  test('has no deleted record', () => {
    const isDeleted = ({ createdAtMs }: Saved) => createdAtMs % 2 === 0
    database.fill((tx) => {
      for (const { id } of ours.filter(isDeleted)) deleteBeneficiary(tx, OURS, id)
    })
    expectPages(ours.filter((record) => !isDeleted(record)))
  })
})

/** One client of many records must not hold up others (contract C4). */
describe('A count and a page of a list read nothing but indexes, and then the rows that are shown:', () => {
  /** How each table is searched by the statements of a page. */
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
        for (const given of combined) {
          const searches = searchesOf(() => page({ sort: sort as never, direction, filters: given as never }))
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
