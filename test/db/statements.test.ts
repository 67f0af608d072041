// Runs in process alone: it counts statements, which no response shows.

import { expect, test } from 'bun:test'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'
import { ADA, PAYEE } from '../records.ts'
import { watchStatements } from './watch.ts'

/** The number of statements of each operation, so that nobody adds one unseen. */

let statementCount = 0
watchStatements(() => {
  statementCount += 1
})
const live = forFile(await openLive())
for (const product of [1, 2]) await live.stock(product, ...['1', '2', '3'].map((card) => `${product}${card}`))

let reference = 0
const unique = () => `statements-${++reference}`
const payout = () => ({ reference_id: unique(), wallet_id: 1, amount: 1, currency: 'USD', ...PAYEE })
/** The first product is delivered at once. */
const order = (product_id: number) => () => ({ client_reference: unique(), product_id, denomination: 10, quantity: 1 })
const charge = () => ({ denomination: 10, quantity: ++reference })

/** Without BEGIN, COMMIT and the savepoint of the unit of work. */
test.each([
  ['GET', '/countries/105', undefined, 0],
  ['POST', '/beneficiaries', () => ADA, 1],
  ['POST', '/products/1/charges', charge, 1],
  ['POST', '/payouts', payout, 13],
  ['POST', '/orders', order(2), 15],
  ['POST', '/orders', order(1), 23],
])('%s %s', async (method, path, body, statements) => {
  const counted = async (): Promise<number> => {
    const before = statementCount
    const response = await live.request(path, { method, ...(body && { body: JSON.stringify(body()) }) })
    expect(await response.text()).not.toContain('error')
    return statementCount - before
  }
  // The first two find out what is due next.
  for (const _ of [1, 2]) await counted()
  expect(await counted()).toBe(statements)
})
