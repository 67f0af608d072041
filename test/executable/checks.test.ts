import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { CHECKS } from '../../src/commands/data/checks.ts'
import { migrate } from '../../src/db/migrate.ts'

/** `scrip verify` takes time in proportion to the records, so that a million transactions take seconds. */

/** Columns with few different values: a lookup by them alone reads a large share of the table. */
const SHARED = new Set(['client_id', 'status', 'currency_id', 'source_type', 'transaction_type', 'account'])

const sqlite = new Database(':memory:')
migrate(sqlite, { nowMs: () => 0 })

test.each(CHECKS.map(({ name, sql }) => [name, sql]))('that %s: every lookup is selective', (_, sql) => {
  const plan = sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all()
  const lookups = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SEARCH'))
  const broad = lookups.filter((lookup) => {
    const columns = [...lookup.matchAll(/(\w+)[=><]\?/g)].map(([, column = '']) => column)
    return columns.every((column) => SHARED.has(column))
  })
  expect(broad).toEqual([])
})
