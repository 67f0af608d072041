// Runs in process alone: it counts steps of SQLite, which no response shows.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BENEFICIARY_SORTS, beneficiaryList } from '../../src/beneficiaries/queries.ts'
import { Database, type Query, queryOn } from '../../src/db/database.ts'
import { eventList, latestEvents } from '../../src/events/queries.ts'
import { orderList, ordersOf } from '../../src/orders/queries.ts'
import { PAYOUT_SORTS, payoutList, payoutsOf } from '../../src/payouts/queries.ts'
import { transactionList, walletList } from '../../src/wallets/queries.ts'
import { attemptList, attemptsTo } from '../../src/webhooks/queries.ts'
import { temporaryFolder } from '../program.ts'
import { fill, observed, SIZES, SPARE_ROWS, STEPS_PER_ROW, stepsOf } from './steps.ts'

/** A list costs what it shows, however much is stored (contract C4). SQLite counts the steps of its own machine. */

const LIMIT = 20

type Filters = Readonly<Record<string, string | number>>
type Slice = { sort: string; direction: 'ASC' | 'DESC'; filters: Filters; limit: number; offset: number }
type Page = (reader: never, slice: never, wire: () => 0) => { entries: 0[]; totalCount: number }

/** Each list with its orders, the default one first, and the values of each filter: a frequent one, a rare one, and one without a record. */
const LISTS: [
  name: string,
  list: { page: Page },
  sorts: readonly string[],
  filters: Record<string, (string | number)[]>,
][] = [
  ['beneficiaries', beneficiaryList, BENEFICIARY_SORTS, {}],
  ['payouts', payoutList, PAYOUT_SORTS, { status: ['created', 'failed', 'queued'], currencyId: [1, 2, 3] }],
  [
    'transactions',
    transactionList,
    ['id', 'amount', 'created_at'],
    {
      walletId: [1, 2, 3],
      currency: ['USD', 'EUR', 'GBP'],
      transactionType: ['DEBIT', 'CREDIT'],
      status: ['COMPLETED', 'FAILED'],
      sourceType: ['payout', 'funding', 'order'],
    },
  ],
  [
    'wallets',
    walletList,
    ['id', 'amount'],
    { currency: ['USD', 'EUR', 'GBP'], currencyId: [1, 2, 3], type: ['PREPAID', 'POSTPAID'], isActive: [1, 0] },
  ],
  [
    'orders',
    orderList,
    ['id'],
    { status: ['PENDING', 'FAILED', 'DELIVERED'], productId: [1, 2, 3], reference: ['r1', 'none'], ref: ['r1'] },
  ],
  [
    'events',
    eventList,
    ['id'],
    { type: ['payout.queued', 'order.created', 'ping'], kind: ['payout', 'order', 'wallet'] },
  ],
  ['deliveries', attemptList, ['id'], { webhookId: ['whk_1', 'whk_2', 'whk_3'] }],
]

interface Request {
  what: string
  statements: string[]
  /** The rows of the page, and what else it may visit. */
  rows: number
  found: { entries: 0[]; totalCount: number }
}

/** A page of a list. */
const requestOf = (database: Database, name: string, list: { page: Page }, slice: Slice): Request => {
  const { query, statements } = observed(database)
  const found = list.page({ world: { db: { query } }, client: { id: 1 } } as never, slice as never, () => 0)
  return { what: `${name} ${JSON.stringify(slice)}`, statements, rows: found.entries.length, found }
}

describe.skipIf(Bun.which('sqlite3') === null)('a page of a list and its total', () => {
  const folder = temporaryFolder()
  const databases = new Map<number, Database>()
  beforeAll(() => {
    for (const size of SIZES) {
      const file = join(folder.path, `${size}.sqlite`)
      const database = Database.openFile(file)
      fill(database, size)
      databases.set(size, database)
    }
  })
  afterAll(() => {
    for (const database of databases.values()) database.close()
    folder[Symbol.dispose]()
  })

  const pairsOf = (filters: Record<string, (string | number)[]>): Filters[] => {
    const each = Object.entries(filters).flatMap(([name, values]) =>
      values.map((value): [string, string | number] => [name, value]),
    )
    return each.flatMap((one) =>
      each.filter(([name]) => name > one[0]).map((other): Filters => Object.fromEntries([one, other])),
    )
  }

  /** Each order without a filter, each filter in the default order, and two of them: the first page and the last. */
  const pagesOf = (size: number, database: Database): Request[] =>
    LISTS.flatMap(([name, list, sorts, filters]) => {
      const [first = ''] = sorts
      const alone = Object.entries(filters).flatMap(([filter, values]) =>
        values.map((value): Filters => ({ [filter]: value })),
      )
      const slices = [
        // Deliveries are always those of a webhook.
        ...(list === attemptList ? [] : sorts.map((sort): [string, Filters] => [sort, {}])),
        // A pattern of events gives either of their filters.
        ...[...alone, ...(list === eventList ? [] : pairsOf(filters))].map((one): [string, Filters] => [first, one]),
      ]
      return slices.flatMap(([sort, one]) =>
        (['ASC', 'DESC'] as const).flatMap((direction) => {
          const page = (offset: number) =>
            requestOf(database, name, list, { sort, direction, filters: one, limit: LIMIT, offset })
          const start = page(0)
          return [start, page(Math.max(0, Math.ceil(start.found.totalCount / LIMIT) - 1) * LIMIT), page(size)]
        }),
      )
    })

  test.each([
    ['without statistics', []],
    ['once somebody has run ANALYZE', ['ANALYZE']],
  ])('visit what they show and little more, %s', async (_, statements) => {
    for (const [size, database] of databases) {
      for (const statement of statements) database.sqlite.run(statement)
      const pages = pagesOf(size, database)
      const steps = await stepsOf(join(folder.path, `${size}.sqlite`), pages)
      const costly = pages
        .map(({ what, rows }, index) => ({ what, steps: steps[index] ?? 0, rows }))
        .filter(({ steps: count, rows }) => !(count > 0 && count <= (rows + SPARE_ROWS) * STEPS_PER_ROW))
      expect(costly).toEqual([])
    }
  })

  /** The lists of the control API, with their greatest number of rows. */
  const WORLD_LISTS: [what: string, read: (query: Query) => Iterable<unknown>][] = [
    ['orders', (query) => ordersOf(query, { newestFirst: true, limit: LIMIT })],
    ['payouts', (query) => payoutsOf(query, { newestFirst: true, limit: LIMIT })],
    ['events', (query) => latestEvents(query, { limit: LIMIT })],
    ['events of a rare type', (query) => latestEvents(query, { limit: LIMIT, type: 'order.created' })],
    ['events of a rare kind', (query) => latestEvents(query, { limit: LIMIT, type: 'order.*' })],
    ['events of a type without any', (query) => latestEvents(query, { limit: LIMIT, type: 'ping' })],
    ['deliveries to a webhook', (query) => attemptsTo(query, 'whk_2', { newestFirst: true, limit: LIMIT })],
    ['deliveries to a webhook without any', (query) => attemptsTo(query, 'whk_3', { newestFirst: true, limit: LIMIT })],
  ]

  test.each(WORLD_LISTS)('the %s of a world are found in as few steps', async (_, read) => {
    for (const [size, database] of databases) {
      const { query, statements } = observed(database)
      expect([...read(query)].length).toBeLessThanOrEqual(LIMIT)
      const [steps] = await stepsOf(join(folder.path, `${size}.sqlite`), [{ statements }])
      expect(steps).toBeLessThan((LIMIT + SPARE_ROWS) * STEPS_PER_ROW)
    }
  })
})

describe('a list', () => {
  const database = Database.inMemory()
  const SIZE = 200
  beforeAll(() => {
    fill(database, SIZE)
  })
  afterAll(() => database.close())

  test('has every record once, in the reverse order in the other direction, however it is paged', () => {
    const reader = { world: { db: { query: queryOn(database.sqlite) } }, client: { id: 1 } } as never
    for (const [name, list, sorts, filters] of LISTS) {
      const choices = [{}, ...Object.entries(filters).map(([filter, [value = '']]) => ({ [filter]: value }))]
      for (const sort of sorts) {
        for (const one of choices) {
          const idsOf = (direction: string, limit: number) => {
            const ids: unknown[] = []
            for (let offset = 0; ; offset += limit) {
              const slice = { sort, direction, filters: one, limit, offset } as never
              const { entries, totalCount } = list.page(reader, slice, ((row: { id: unknown }) => row.id) as never)
              ids.push(...entries)
              if (offset + limit >= totalCount) return { ids, totalCount }
            }
          }
          const whole = idsOf('ASC', SIZE)
          const what = `${name} ${sort} ${JSON.stringify(one)}`
          expect([what, new Set(whole.ids).size]).toEqual([what, whole.totalCount])
          expect([what, idsOf('ASC', 7)]).toEqual([what, whole])
          expect([what, idsOf('DESC', 9).ids.toReversed()]).toEqual([what, whole.ids])
        }
      }
    }
  })

  const search = { search: 'text' }
  const range = { createdFromMs: 5, createdToMs: 500 }
  test.each<[string, { page: Page }, readonly string[], Filters[]]>([
    ['beneficiaries', beneficiaryList, BENEFICIARY_SORTS, [search]],
    ['payouts', payoutList, PAYOUT_SORTS, [search]],
    [
      'payouts in a state or currency',
      payoutList,
      ['created_at'],
      [
        { ...search, status: 'created' },
        { ...search, currencyId: 1 },
        { ...search, status: 'failed', currencyId: 1 },
      ],
    ],
    ['transactions', transactionList, ['id', 'amount', 'created_at'], [search]],
    ['transactions of some days', transactionList, ['id', 'created_at'], [range, { ...search, ...range }]],
    ['events of some days', eventList, ['id'], [range]],
  ])('of %s is searched in an index, and then the rows are read that are shown', (name, list, sorts, filters) => {
    const { sqlite } = database
    for (const one of filters) {
      for (const sort of sorts) {
        const slice: Slice = { sort, direction: 'ASC', filters: one, limit: LIMIT, offset: 0 }
        const { statements } = requestOf(database, name, list, slice)
        const details = statements
          .filter((sql) => !sql.includes('_counts"'))
          .flatMap((sql) => sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all())
          .map(({ detail }) => detail)
          .filter((detail) => /^(?:SEARCH|SCAN)/.test(detail) && !detail.includes('USING COVERING INDEX'))
        expect(details).toEqual([
          'SCAN page',
          expect.stringMatching(/ USING (?:INTEGER )?PRIMARY KEY \((?:row)?id=\?\)$/),
        ])
      }
    }
  })
})
