import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { beneficiaries } from '../../src/beneficiaries/tables.ts'
import { Database } from '../../src/db/database.ts'
import { countMatching, countOf, keysOf } from '../../src/db/lists.ts'
import { migrate } from '../../src/db/migrate.ts'

const [OURS, THEIRS] = [1, 2]
const ROWS = 57

let database: Database
beforeAll(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  for (const id of [OURS, THEIRS]) {
    database.sqlite.run(
      `INSERT INTO clients (id, username, password_sha256, vouchers, created_at_ms) VALUES (${id}, 'client ${id}', '', 1, 0)`,
    )
  }
  for (let number = 0; number < ROWS; number++) save(number, number % 3 === 2 ? THEIRS : OURS)
})
afterAll(() => database.close())

const idOf = (number: number) => `ben_${String(number).padStart(4, '0')}`
/** Every third is another client's; created two at a time, so that the key decides between equals. */
const save = (number: number, clientId: number) =>
  database.query
    .insert(beneficiaries)
    .values({
      id: idOf(number),
      clientId,
      email: '',
      firstName: '',
      lastName: '',
      emailFolded: '',
      firstNameFolded: '',
      lastNameFolded: '',
      country: null,
      phone: null,
      metadata: '{}',
      totalPayouts: 0,
      totalAmountMinor: 0,
      lastPayoutAtMs: null,
      createdAtMs: Math.floor(number / 2),
    })
    .run()

const ours = Array.from({ length: ROWS }, (_, number) => number).filter((number) => number % 3 !== 2)
const matching = and(eq(beneficiaries.clientId, OURS))

describe('A page of keys', () => {
  const page = (direction: 'ASC' | 'DESC', limit: number, offset: number) =>
    keysOf<string>(database.query, beneficiaries, {
      matching,
      orderBy: [beneficiaries.createdAtMs, beneficiaries.id],
      direction,
      limit,
      offset,
      totalCount: ours.length,
    })

  test.each(['ASC', 'DESC'] as const)('%s is the same from whichever end it is reached', (direction) => {
    const whole = (direction === 'ASC' ? ours : ours.toReversed()).map(idOf)
    for (const limit of [1, 7, 10, 100]) {
      for (let offset = 0; offset < ours.length + 12; offset++) {
        expect(page(direction, limit, offset)).toEqual(whole.slice(offset, offset + limit))
      }
    }
  })

  test('beyond the last is empty, however far', () => {
    expect(page('DESC', 50, Number.MAX_SAFE_INTEGER)).toEqual([])
  })
})

describe('The count of a list', () => {
  test('is what counting gives, for each client alone', () => {
    expect(countOf(database.query, 'beneficiaries', OURS)).toBe(ours.length)
    expect(countOf(database.query, 'beneficiaries', OURS)).toBe(countMatching(database.query, beneficiaries, matching))
    expect(countOf(database.query, 'beneficiaries', THEIRS)).toBe(ROWS - ours.length)
    expect(countOf(database.query, 'beneficiaries', 3)).toBe(0)
    expect(countOf(database.query, 'payouts', OURS, 'completed')).toBe(0)
  })

  test('follows what comes, goes and is undone', () => {
    const before = countOf(database.query, 'beneficiaries', THEIRS)
    save(1_000, THEIRS)
    expect(countOf(database.query, 'beneficiaries', THEIRS)).toBe(before + 1)
    database.sqlite.run('BEGIN')
    save(1_001, THEIRS)
    database.sqlite.run('ROLLBACK')
    database.query
      .delete(beneficiaries)
      .where(eq(beneficiaries.id, idOf(1_000)))
      .run()
    expect(countOf(database.query, 'beneficiaries', THEIRS)).toBe(before)
  })
})

/** What the lists of the API ask for: in none of it is a table read from end to end, or sorted. */
describe('The plan of a list', () => {
  const planOf = (sql: string) =>
    database.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)

  test.each([
    ...['created_at_ms', 'email_folded, email', 'first_name_folded, first_name', 'last_name_folded, last_name'].map(
      (order) => ['beneficiaries', '', order] as const,
    ),
    ...['country', 'total_payouts', 'total_amount_minor', 'last_payout_at_ms'].map(
      (order) => ['beneficiaries', '', order] as const,
    ),
    ...['created_at_ms', 'amount_rank', 'status'].map((order) => ['payouts', '', order] as const),
    ['payouts', "AND status = 'created'", 'created_at_ms'],
    ['payouts', 'AND currency_id = 1', 'created_at_ms'],
    ['orders', '', ''],
    ['orders', "AND status = 'PENDING'", ''],
    ['orders', 'AND product_id = 1', ''],
    ['orders', "AND reference = 'one'", ''],
    ['transactions', '', ''],
    ['transactions', 'AND wallet_id = 1', ''],
    ['transactions', '', 'created_at_ms'],
    ['transactions', 'AND created_at_ms >= 1 AND created_at_ms <= 2', 'created_at_ms'],
  ] as const)('of %s %s by %s goes along an index, in both directions', (table, filter, order) => {
    for (const direction of ['ASC', 'DESC']) {
      const columns = [...order.split(', ').filter((column) => column !== ''), 'id'].map(
        (each) => `${each} ${direction}`,
      )
      const plan = planOf(
        `SELECT id FROM ${table} WHERE client_id = 1 ${filter} ORDER BY ${columns.join(', ')} LIMIT 50`,
      )
      expect(plan).toEqual([expect.stringMatching(/^SEARCH \w+ USING (?:COVERING )?INDEX /)])
    }
  })
})
