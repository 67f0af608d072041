import { beforeEach, describe, expect, test } from 'bun:test'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import { importCodes, type SealedCode } from '../../src/orders/stock.ts'
import { areFree, freeStock, markDamaged } from '../../src/orders/stock-queries.ts'

/** A long file of codes is written a few at a time, and sold all at once (contract C12). */

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

/** Imports, and returns how many rows each transaction wrote; `before` each it may be broken off. */
const imported = async (codes: readonly SealedCode[], before: () => void = () => undefined): Promise<number[]> => {
  const written: number[] = []
  const write = async <T>(work: Parameters<typeof database.write<T>>[0]): Promise<T> => {
    const count = countRows()
    before()
    const value = await database.write(work)
    written.push(Math.abs(countRows() - count))
    return value
  }
  await importCodes(codes, { query: database.query, write, onRows: () => undefined })
  return written
}

const rows = () => database.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM voucher_stock').get()
const countRows = (): number => rows()?.n ?? Number.NaN
const forSale = (): number => freeStock(database.query, 0)[0]?.available ?? 0

describe('an import of many codes', () => {
  test('writes at most 250 rows per transaction, and sells none before all are imported', async () => {
    const seen = new Set<number>()
    const written = await imported(codesOf('a', 1_100), () => void seen.add(forSale()))
    expect(Math.max(...written)).toBe(250)
    expect([...seen]).toEqual([0])
    expect(forSale()).toBe(1_100)
  })

  test('that was interrupted leaves nothing for sale, and can be repeated', async () => {
    await imported(codesOf('a', 10))
    let units = 0
    const breakOff = () => {
      if (++units === 4) throw new Error('killed')
    }
    await expect(imported(codesOf('b', 1_000), breakOff)).rejects.toThrow('killed')
    expect(rows()).toEqual({ n: 510 })
    expect(forSale()).toBe(10)
    const written = await imported(codesOf('b', 1_000))
    expect(Math.max(...written)).toBe(250)
    expect(rows()).toEqual({ n: 1_010 })
    expect(forSale()).toBe(1_010)
  })

  test('with a duplicate is refused before anything is written', async () => {
    await imported(codesOf('a', 3))
    const file = [...codesOf('b', 600), ...codesOf('a', 1)]
    await expect(imported(file)).rejects.toThrow(FileFault)
    expect(rows()).toEqual({ n: 3 })
  })
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
