import { beforeEach, expect, test } from 'bun:test'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { importCodes, type SealedCode } from '../../src/orders/stock.ts'
import { areFree, freeStock, markDamaged } from '../../src/orders/stock-queries.ts'

/** The codes of a file are imported all or none (contract C12). */

let database: Database
beforeEach(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
})

const codesOf = (prefix: string, length: number): SealedCode[] =>
  Array.from({ length }, (_, index) => ({
    place: `line ${index + 1}`,
    productId: 1,
    denominationMinor: 1_000,
    fingerprint: `${prefix} ${index}`,
    sealed: Buffer.from(`${prefix} ${index}`),
    expiresAtMs: null,
  }))

const imported = (codes: readonly SealedCode[]): Promise<void> => database.write((tx) => importCodes(tx, codes))

const countRows = (): unknown => database.sqlite.query('SELECT count(*) AS n FROM voucher_stock').get()

test('an import with a code that is in the stock already is refused whole, and names its line', async () => {
  await imported(codesOf('a', 3))
  const file = [...codesOf('b', 600), ...codesOf('a', 1)]
  const problems = ['line 1: card_number: was imported before']
  expect(imported(file)).rejects.toMatchObject({ name: 'FileFault', problems })
  expect(countRows()).toEqual({ n: 3 })
  await imported(codesOf('b', 600))
  expect(countRows()).toEqual({ n: 603 })
})

test('what is left of a kind is counted without what is damaged or has expired', async () => {
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
