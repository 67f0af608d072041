// Runs in process alone: no operation of the API searches orders.

import { expect, test } from 'bun:test'
import { importCatalog } from '../../src/catalog/import.ts'
import { ordersOf } from '../../src/orders/queries.ts'
import { catalogEntry } from '../catalog/entry.ts'
import { forFile } from '../harness.ts'
import { openLive } from './live.ts'

const live = forFile(await openLive())
const DAY_LATER = { delivery_time: '24 hours', denominations: [{ min_value: 10, max_value: 10, discount: 0 }] }
const products = ['ÖBB-Gutschein', 'Tea'].map((name, index) => catalogEntry({ id: index + 1, name, ...DAY_LATER }))
importCatalog(live.database, live.deps.reference, JSON.stringify({ products }))
live.refresh()

test('An operator finds an order by a part of its product, in any form (contract C7)', async () => {
  for (const product_id of [1, 2]) {
    await live.stock(product_id, `${product_id}`)
    const response = await live.post('/orders', { product_id, denomination: 10, quantity: 1, email: 'Ada@example.com' })
    expect(response.status).toBe(200)
  }
  const found = (search: string) => Array.from(ordersOf(live.database.query, { search }), ({ productId }) => productId)
  for (const search of ['öbb', 'ÖBB', 'O\u0308bb', 'o\u0308BB-gut']) expect(found(search)).toEqual([1])
  expect(found('ada@EXAMPLE')).toEqual([1, 2])
  expect(found('obb')).toEqual([])
})
