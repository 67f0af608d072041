import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type BENEFICIARY_SORTS,
  beneficiaryList,
  deleteBeneficiary,
  recordPayout,
} from '../../src/beneficiaries/queries.ts'
import { beneficiaries } from '../../src/beneficiaries/tables.ts'
import { Database, type Tx } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { sliceOf } from '../../src/http/pagination.ts'
import type { Direction, Page } from '../../src/http/parameters.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { secureRandomness } from '../../src/kernel/ids.ts'
import { World } from '../../src/worlds/world.ts'

const [OURS, THEIRS] = [1, 2]
const ROWS = 57

let database: Database
let world: World
beforeAll(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  world = new World('lists', database, systemClock, secureRandomness)
  for (const id of [OURS, THEIRS]) {
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${id}, 'client ${id}', '', 1, 0)`,
    )
  }
  for (let number = 0; number < ROWS; number++) save(number, number % 3 === 2 ? THEIRS : OURS)
})
afterAll(() => database.close())

const idOf = (number: number) => `ben_${String(number).padStart(5, '0')}`
const emailOf = (number: number) => `${number % 2 === 0 ? 'even' : 'odd'}@example.com`
/** Every third is another client's, every other has an even e-mail; created two at a time, so that the key decides between equals. */
const insert = (tx: Tx, number: number, clientId: number, createdAtMs = Math.floor(number / 2)) =>
  tx
    .insert(beneficiaries)
    .values({
      id: idOf(number),
      clientId,
      email: '',
      firstName: '',
      lastName: '',
      emailLowerCase: emailOf(number),
      firstNameLowerCase: '',
      lastNameLowerCase: '',
      searchLowerCase: emailOf(number),
      country: null,
      phone: null,
      metadata: '{}',
      totalPayouts: 0,
      totalAmountMinor: 0,
      lastPayoutAtMs: null,
      createdAtMs,
    })
    .run()
const save = (number: number, clientId: number, createdAtMs?: number) =>
  database.fill((tx) => insert(tx, number, clientId, createdAtMs))

const ours = Array.from({ length: ROWS }, (_, number) => number).filter((number) => number % 3 !== 2)

interface Wanted {
  page?: Page
  search?: string
  sortBy?: (typeof BENEFICIARY_SORTS)[number]
  sortOrder?: Direction
}

const readers = new Map<number, { id: number }>()
/** A client is one object, by which it waits for its turn. */
const readerOf = (id: number) => {
  const client = readers.get(id) ?? { id }
  readers.set(id, client)
  return { world, client, checkAgain: () => undefined }
}

const page = async (
  clientId: number,
  { page = { page: 1, limit: 100 }, search, sortBy = 'created_at', sortOrder = 'ASC' }: Wanted = {},
) => {
  const slice = { filters: { search: search?.toLowerCase() }, sort: sortBy, direction: sortOrder, ...sliceOf(page) }
  const { entries, totalCount } = await beneficiaryList.page(readerOf(clientId), slice, ({ id }) => id)
  return { ids: entries, totalCount }
}

describe('A page of a list', () => {
  test('checks the token of its reader after the last row is made', async () => {
    const steps: string[] = []
    const reader = { ...readerOf(OURS), checkAgain: () => steps.push('check') }
    const slice = {
      filters: { search: undefined },
      sort: 'created_at',
      direction: 'ASC',
      ...sliceOf({ page: 1, limit: 3 }),
    } as const
    await beneficiaryList.page(reader, slice, () => steps.push('row'))
    expect(steps).toEqual(['row', 'row', 'row', 'check'])
  })

  test.each(['ASC', 'DESC'] as const)('%s is the same from either end', async (sortOrder) => {
    const whole = (sortOrder === 'ASC' ? ours : ours.toReversed()).map(idOf)
    for (const limit of [1, 7, 10, 100]) {
      for (let number = 1; (number - 2) * limit < ours.length; number++) {
        const { ids, totalCount } = await page(OURS, { page: { page: number, limit }, sortOrder })
        expect(ids).toEqual(whole.slice((number - 1) * limit, number * limit))
        expect(totalCount).toBe(ours.length)
      }
    }
  })

  test('past the end is empty', async () => {
    const far = { page: Number.MAX_SAFE_INTEGER, limit: 50 }
    expect(await page(OURS, { page: far })).toEqual({ ids: [], totalCount: ours.length })
  })

  test.each(['ASC', 'DESC'] as const)('of a search %s has the results in order, with any limit', async (sortOrder) => {
    const even = ours.filter((number) => number % 2 === 0)
    const whole = (sortOrder === 'ASC' ? even : even.toReversed()).map(idOf)
    for (const number of [1, 2, 3]) {
      const { ids, totalCount } = await page(OURS, { page: { page: number, limit: 7 }, sortOrder, search: 'EVEN@' })
      expect(ids).toEqual(whole.slice((number - 1) * 7, number * 7))
      expect(totalCount).toBe(even.length)
    }
  })

  test('of a search with more than a thousand results is correct', async () => {
    const [MANY, many] = [4, 1_201]
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${MANY}, 'many', '', 1, 0)`,
    )
    database.fill((tx) => {
      for (let number = 10_000; number < 10_000 + many; number++) insert(tx, number, MANY)
    })
    for (const sortBy of ['created_at', 'email'] as const) {
      const found = await page(MANY, { page: { page: 2, limit: 100 }, sortBy, search: '@example' })
      expect(found).toEqual(await page(MANY, { page: { page: 2, limit: 100 }, sortBy }))
      expect(found.totalCount).toBe(many)
    }
    const even = await page(MANY, { page: { page: 6, limit: 100 }, search: 'even' })
    expect(even.totalCount).toBe(601)
    expect(even.ids).toEqual(Array.from({ length: 100 }, (_, index) => idOf(11_000 + 2 * index)))
  })
})

describe('A page far from both ends', () => {
  const [DEEP, deep] = [5, 4_000]
  /** What the list holds, as plain as can be. */
  const records: { number: number; createdAtMs: number; email: string; totalPayouts: number }[] = []
  let last = 20_000
  const add = (createdAtMs: number): void => {
    const number = last++
    save(number, DEEP, createdAtMs)
    records.push({ number, createdAtMs, email: emailOf(number), totalPayouts: 0 })
  }
  beforeAll(() => {
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${DEEP}, 'deep', '', 1, 0)`,
    )
    for (let count = 0; count < deep; count++) add(1_000_000 + count)
  })

  const KEYS = {
    created_at: ({ createdAtMs }: (typeof records)[number]) => createdAtMs,
    email: ({ email }: (typeof records)[number]) => email,
    total_payouts: ({ totalPayouts }: (typeof records)[number]) => totalPayouts,
    country: () => 0,
  }
  const naive = (sortBy: keyof typeof KEYS, sortOrder: 'ASC' | 'DESC') => {
    const key = KEYS[sortBy]
    const compared = (one: (typeof records)[number], other: (typeof records)[number]) =>
      key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : one.number - other.number
    const sorted = records.toSorted(compared)
    return (sortOrder === 'ASC' ? sorted : sorted.toReversed()).map(({ number }) => idOf(number))
  }

  const CHANGES = {
    'another at the end': () => add(2_000_000 + last),
    'another in the middle': () => add(1_000_000 + (last % deep)),
    'one less': (at: number) => {
      const [gone] = records.splice(Math.floor(at * records.length), 1)
      if (gone) database.fill((tx) => deleteBeneficiary(tx, DEEP, idOf(gone.number)))
    },
    'one is paid': (at: number) => {
      const paid = records[Math.floor(at * records.length)]
      if (!paid) return
      paid.totalPayouts += 1
      const payout = { beneficiaryId: idOf(paid.number), amountMinor: 1, completedAtMs: 1 }
      database.fill((tx) => recordPayout(tx, DEEP, payout))
    },
    'nothing new': () => undefined,
  }
  const step = fc.record({
    change: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
    sortBy: fc.constantFrom(...(Object.keys(KEYS) as (keyof typeof KEYS)[])),
    sortOrder: fc.constantFrom('ASC' as const, 'DESC' as const),
    at: fc.noBias(fc.integer({ min: 0, max: 999 })).map((thousandths) => thousandths / 1_000),
  })

  test('is correct after any change in between', async () => {
    for (const { change, sortBy, sortOrder, at } of fc.sample(step, { seed: 19, numRuns: 400 })) {
      CHANGES[change](at)
      const limit = 50
      const number = 1 + Math.floor(at * (records.length / limit))
      const { ids, totalCount } = await page(DEEP, { page: { page: number, limit }, sortBy, sortOrder })
      expect(totalCount).toBe(records.length)
      expect(ids).toEqual(naive(sortBy, sortOrder).slice((number - 1) * limit, number * limit))
    }
  })

  test.each(['ASC', 'DESC'] as const)('follows the previous page if all are read %s', async (sortOrder) => {
    const limit = 100
    const read = await Promise.all(
      Array.from({ length: Math.ceil(records.length / limit) }, (_, index) =>
        page(DEEP, { page: { page: index + 1, limit }, sortBy: 'created_at', sortOrder }),
      ),
    )
    expect(read.flatMap(({ ids }) => ids)).toEqual(naive('created_at', sortOrder))
  })
})

describe('A search in several batches', () => {
  const [WIDE, wide] = [6, 9_000]
  /** Of each record that was saved: found by "even" or "odd", created two at a time, paid as often as its number says. */
  const numbers = Array.from({ length: wide }, (_, index) => 40_000 + index)
  beforeAll(() => {
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${WIDE}, 'wide', '', 1, 0)`,
    )
    save(40_000, WIDE)
    database.sqlite.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 40001 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${40_000 + wide - 1})
       INSERT INTO beneficiaries (id, client_id, email, first_name, last_name, email_folded, first_name_folded,
         last_name_folded, metadata, total_payouts, total_amount_minor, created_at_ms, search_folded)
       SELECT 'ben_' || n, client_id, '', '', '', iif(n % 2, 'odd', 'even') || '@example.com', '', '', '{}', 0, 0, n / 2,
         iif(n % 2, 'odd', 'even') || '@example.com'
       FROM beneficiaries, numbers WHERE client_id = ${WIDE}`,
    )
    database.sqlite.run(
      `UPDATE beneficiaries SET total_payouts = CAST(substr(id, 5) AS INTEGER) % 7 WHERE client_id = ${WIDE}`,
    )
  })

  test.each([
    ['created_at', 'ASC', () => 0],
    ['created_at', 'DESC', () => 0],
    ['email', 'ASC', () => 0],
    ['total_payouts', 'ASC', (number: number) => number % 7],
    ['total_payouts', 'DESC', (number: number) => number % 7],
    ['country', 'DESC', () => 0],
  ] as const)('by %s %s has the same pages as a list that is sorted anew', async (sortBy, sortOrder, keyOf) => {
    const odd = numbers.filter((number) => number % 2 === 1)
    odd.sort((one, other) => keyOf(one) - keyOf(other) || one - other)
    if (sortOrder === 'DESC') odd.reverse()
    for (const at of [1, 20, 45]) {
      const { ids, totalCount } = await page(WIDE, { page: { page: at, limit: 100 }, search: 'odd', sortBy, sortOrder })
      expect(totalCount).toBe(odd.length)
      expect(ids).toEqual(odd.slice((at - 1) * 100, at * 100).map(idOf))
    }
  })

  test.each(['ASC', 'DESC'] as const)('%s in pages of thousands has the rows of smaller pages', async (sortOrder) => {
    for (const sortBy of ['created_at', 'email', 'country'] as const) {
      const small: string[] = []
      for (let number = 1; number <= wide / 100; number++) {
        small.push(...(await page(WIDE, { page: { page: number, limit: 100 }, sortBy, sortOrder })).ids)
      }
      expect(new Set(small).size).toBe(wide)
      for (const number of [1, 2, 3, 4]) {
        const { ids } = await page(WIDE, { page: { page: number, limit: 2_500 }, sortBy, sortOrder })
        expect(ids).toEqual(small.slice((number - 1) * 2_500, number * 2_500))
        const search = { page: { page: number, limit: 2_500 }, search: 'e', sortBy, sortOrder }
        expect((await page(WIDE, search)).ids).toEqual(ids)
      }
    }
  })

  test('counts what has not changed once, and ends, while the list changes all the time', async () => {
    let isSearching = true
    let count = 0
    const change = () => {
      if (!isSearching) return
      const number = 60_000 + count++
      save(number, WIDE, 1)
      database.fill((tx) => deleteBeneficiary(tx, WIDE, idOf(number)))
      setImmediate(change)
    }
    change()
    const { ids, totalCount } = await page(WIDE, { page: { page: 1, limit: 100 }, search: 'even@', sortBy: 'email' })
    isSearching = false
    expect(totalCount).toBe(wide / 2)
    expect(ids).toHaveLength(100)
  })
})

describe('The count of a list', () => {
  test('is correct for each client', async () => {
    expect((await page(OURS)).totalCount).toBe(ours.length)
    expect((await page(THEIRS)).totalCount).toBe(ROWS - ours.length)
    expect((await page(3)).totalCount).toBe(0)
  })

  test('follows inserts, deletes and rollbacks', async () => {
    const before = (await page(THEIRS)).totalCount
    save(1_000, THEIRS)
    expect((await page(THEIRS)).totalCount).toBe(before + 1)
    const undone = () =>
      database.fill((tx) => {
        insert(tx, 1_001, THEIRS)
        throw new Error('undone')
      })
    expect(undone).toThrow('undone')
    database.fill((tx) => deleteBeneficiary(tx, THEIRS, idOf(1_000)))
    expect((await page(THEIRS)).totalCount).toBe(before)
  })
})

/** What a page asks of the database: nothing is read but what is shown, along an index that needs no sorting. */
describe('The plan of a list', () => {
  interface Step {
    parent: number
    detail: string
  }
  const planOf = (sql: string) => database.sqlite.query<Step, []>(`EXPLAIN QUERY PLAN ${sql}`).all()

  test.each([
    ...['created_at_ms', 'email_folded, email', 'first_name_folded, first_name', 'last_name_folded, last_name'].map(
      (order) => ['beneficiaries', '', order] as const,
    ),
    ...['country', 'total_payouts', 'total_amount_minor', 'last_payout_at_ms'].map(
      (order) => ['beneficiaries', '', order] as const,
    ),
    ...['created_at_ms', 'amount_rank', 'status'].map((order) => ['payouts', '', order] as const),
    ['payouts', "AND status = 'created'", 'created_at_ms'],
    ['payouts', "AND status = 'created'", 'status'],
    ['payouts', 'AND currency_id = 1', 'created_at_ms'],
    ['orders', '', ''],
    ['orders', "AND status = 'PENDING'", ''],
    ['orders', 'AND product_id = 1', ''],
    ['orders', "AND reference = 'one'", ''],
    ['transactions', '', ''],
    ['transactions', 'AND wallet_id = 1', ''],
    ['transactions', '', 'created_at_ms'],
    ['transactions', '', 'amount_rank'],
    ['transactions', 'AND created_at_ms >= 1 AND created_at_ms <= 2', 'created_at_ms'],
  ] as const)('of %s %s by %s goes along an index, in both directions', (table, filter, order) => {
    for (const direction of ['ASC', 'DESC']) {
      const columns = [...order.split(', ').filter((column) => column !== ''), 'id'].map(
        (each) => `${each} ${direction}`,
      )
      const shown = `SELECT id FROM ${table} WHERE client_id = 1 ${filter} ORDER BY ${columns} LIMIT 50 OFFSET 50`
      const plan = planOf(`SELECT * FROM ${table} WHERE id IN (${shown}) ORDER BY ${columns}`)
      const [rows, ...among] = plan.filter(({ parent }) => parent === 0).map(({ detail }) => detail)
      expect(rows).toMatch(/^SEARCH \w+ USING (?:INTEGER )?PRIMARY KEY \((?:row)?id=\?\)$/)
      expect(among.filter((detail) => detail !== 'USE TEMP B-TREE FOR ORDER BY')).toEqual(['LIST SUBQUERY 1'])
      expect(plan.filter(({ parent }) => parent !== 0).map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^SEARCH \w+ USING (?:COVERING )?INDEX /),
      ])
    }
  })

  test('of transactions of one type reads only the index', () => {
    expect(
      planOf(
        "SELECT count(*) FROM transactions WHERE client_id = 1 AND transaction_type = 'DEBIT' AND source_type = 'order'",
      ).map(({ detail }) => detail),
    ).toEqual(['SEARCH transactions USING COVERING INDEX transactions_client (client_id=?)'])
  })

  test('of a stride by status goes along the index of that order', () => {
    const stride =
      "client_id = 1 AND (status, id) > ('a', 'b') AND (status, id) <= ('c', 'd') AND (currency_id = 1) IS TRUE"
    const sql = `SELECT count(*) FROM (SELECT id FROM payouts WHERE ${stride} ORDER BY status, id LIMIT 4000)`
    expect(planOf(sql).map(({ detail }) => detail)).toContain(
      'SEARCH payouts USING COVERING INDEX payouts_by_status (client_id=? AND (status,id)>(?,?) AND (status,id)<(?,?))',
    )
  })

  test.each([
    ['beneficiaries', 'created', "instr(search_folded, 'ada')"],
    ['payouts', 'created', "instr(search_folded, 'ada')"],
    ['transactions', 'client', "instr(search_folded, 'ada')"],
  ])('of a search in %s reads only the index', (table, index, search) => {
    expect(
      planOf(`SELECT id FROM ${table} WHERE client_id = 1 AND (${search}) LIMIT 1001`).map(({ detail }) => detail),
    ).toEqual([`SEARCH ${table} USING COVERING INDEX ${table}_${index} (client_id=?)`])
  })
})
