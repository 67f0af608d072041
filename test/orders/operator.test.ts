// Runs in process alone: it reads data that no response shows.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { importCatalog } from '../../src/catalog/import.ts'
import { mergeRates } from '../../src/charges/stored-rates.ts'
import type { Database } from '../../src/db/database.ts'
import { fund } from '../../src/wallets/ledger.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import { catalogEntry } from '../catalog/entry.ts'
import { type Live, openLive } from './live.ts'

/** An operator changes prices while the server runs (contract C9). */

let live: Live
let operator: Database
/** The client's wallet in EUR; wallet 1 is in USD. */
let euros: number
beforeEach(async () => {
  live = await openLive()
  operator = live.database
  const currencyId = live.deps.reference.findCurrencyByCode('EUR')?.id ?? 0
  euros = await operator.write((tx) => {
    const wallet = openWallet(tx, { clientId: 1, currencyId, type: 'PREPAID', creditLimitMinor: 0 }, 0)
    fund(tx, undefined, wallet, 1_000_000, { remarks: null, nowMs: 0 })
    return wallet.id
  })
})
afterEach(() => live[Symbol.asyncDispose]())

const post = async (path: string, body: object): Promise<[number, unknown]> => {
  const response = await live.request(path, { method: 'POST', body: JSON.stringify(body) })
  return [response.status, await response.json()]
}
const charge = (quantity: number) => post('/products/1/charges', { denomination: 10, quantity, wallet_id: euros })
const order = (wallet_id: number) => post('/orders', { product_id: 1, denomination: 10, quantity: 1, wallet_id })
const setRate = async (eurE8: number) => {
  await operator.write((tx) =>
    mergeRates(tx, live.deps.reference, { base: 'USD', perBaseE8: new Map([['EUR', eurE8]]) }),
  )
  live.refresh()
}

test('a new rate applies to the next price', async () => {
  expect(await charge(1)).toMatchObject([400, { error: 'No exchange rate found for USD to EUR' }])
  await setRate(50_000_000)
  expect(await charge(2)).toMatchObject([200, { charges_details: { forex_rate: 0.5 } }])
  await setRate(25_000_000)
  expect(await charge(3)).toMatchObject([200, { charges_details: { forex_rate: 0.25 } }])
})

test('a price held in one currency does not apply to the same product in another', async () => {
  await live.stock(1, 'ONE', 'TWO')
  expect((await post('/products/1/charges', { denomination: 10, quantity: 1, wallet_id: 1 }))[0]).toBe(200)
  const denominations = [{ min_value: 10, max_value: 10, discount: 0 }]
  const product = catalogEntry({ id: 1, currency: 'EUR', denominations })
  importCatalog(operator, live.deps.reference, JSON.stringify({ products: [product] }))
  live.refresh()
  expect(await order(1)).toMatchObject([400, { error: { message: 'No exchange rate found for EUR to USD' } }])
  expect(await order(euros)).toMatchObject([200, { amount: 10, wallet_id: euros }])
})
