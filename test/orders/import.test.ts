import { beforeEach, expect, test } from 'bun:test'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type EncryptedCode, importCodes } from '../../src/orders/stock.ts'
import { areFree, freeStock, markDamaged } from '../../src/orders/stock-queries.ts'

/** The codes of a file are imported all or none (contract C12). */

let database: Database
beforeEach(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
})

const codesOf = (prefix: string, length: number): EncryptedCode[] =>
  Array.from({ length }, (_, index) => ({
    place: `line ${index + 1}`,
    productId: 1,
    denominationMinor: 1_000,
    fingerprint: `${prefix} ${index}`,
    sealed: Buffer.from(`${prefix} ${index}`),
    expiresAtMs: null,
  }))

/** `onRows` is called before each of its transactions with codes. */
const imported = (codes: readonly EncryptedCode[], onRows: () => void = () => undefined): Promise<void> =>
  importCodes(codes, {
    query: database.query,
    write: (unit) => database.write(unit),
    onRows,
    onPublish: () => undefined,
  })

const countRows = (): unknown => database.sqlite.query('SELECT count(*) AS n FROM voucher_stock').get()

test('an import with a code that is in the stock already is refused whole, and names its line', async () => {
  await imported(codesOf('a', 3))
  const file = [...codesOf('b', 600), ...codesOf('a', 1)]
  const problems = ['line 1: card_number: was imported before']
  await expect(imported(file)).rejects.toMatchObject({ name: 'FileFault', problems })
  expect(countRows()).toEqual({ n: 3 })
  await imported(codesOf('b', 600))
  expect(countRows()).toEqual({ n: 603 })
})

test('no code is for sale before all are imported, and an interrupted import can be repeated', async () => {
  const forSale = () => freeStock(database.query, 0).map(({ available }) => available)
  await imported(codesOf('a', 10))
  let units = 0
  const breakOff = () => {
    expect(forSale()).toEqual([10])
    if (++units === 3) throw new Error('killed')
  }
  await expect(imported(codesOf('b', 1_000), breakOff)).rejects.toThrow('killed')
  expect(countRows()).toEqual({ n: 510 })
  expect(forSale()).toEqual([10])
  await imported(codesOf('b', 1_000))
  expect(countRows()).toEqual({ n: 1_010 })
  expect(forSale()).toEqual([1_010])
})

test('damaged and expired codes do not count towards the stock that is left', async () => {
  const codes = codesOf('a', 6).map((code, index) => ({ ...code, expiresAtMs: index < 2 ? 1_000 : null }))
  await imported([...codes, ...codesOf('b', 1).map((code) => ({ ...code, denominationMinor: 2_000 }))])
  const left = (nowMs: number) => freeStock(database.query, nowMs).map(({ available }) => available)
  expect([left(999), left(1_000)]).toEqual([
    [6, 1],
    [4, 1],
  ])
  await database.write((tx) => markDamaged(tx, [2, 3, 7], 0))
  expect([left(999), left(1_000)]).toEqual([[4], [3]])
  const kind = { productId: 1, denominationMinor: 1_000 }
  expect([3, 4].map((quantity) => areFree(database.query, kind, 1_000, quantity))).toEqual([true, false])
})
