// Runs with --all alone: it takes long.

import { beforeEach, describe, expect, test } from 'bun:test'
import { importCatalog } from '../../src/catalog/import.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { associatedDataInStock, Cipher } from '../../src/orders/cipher.ts'
import { importCodes } from '../../src/orders/stock.ts'
import { areFree, markDamaged, stockLevels } from '../../src/orders/stock-queries.ts'
import { voucherStock } from '../../src/orders/tables.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { found } from '../harness.ts'
import { CATALOG } from './live.ts'

/** The codes of a file are imported all or none (contract C12). */

const NOW = Date.parse('2030-01-01T00:00:00Z')
const CODE = { product_id: 1, denomination: 10, card_number: 'ONE' }
const reference = readReference()

let database: Database
beforeEach(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  seedReferenceData(database)
  importCatalog(database, reference, JSON.stringify(CATALOG))
})

/** `onProgress` is called after each step. */
const imported = (file: string, onProgress: () => void = () => undefined): Promise<number> =>
  importCodes(file, {
    query: database.query,
    reference,
    cipher: new Cipher(new Uint8Array(32)),
    nowMs: NOW,
    write: (unit) => database.write(unit),
    onProgress,
    onPublish: () => undefined,
  })

const codesOf = (prefix: string, length: number, change: object = {}): string =>
  Array.from({ length }, (_, index) => JSON.stringify({ ...CODE, card_number: `${prefix} ${index}`, ...change })).join(
    '\n',
  )

const rows = () =>
  database.sqlite.query<object, []>('SELECT denomination_minor, expires_at_ms FROM voucher_stock ORDER BY id').all()
const forSale = (nowMs = 0) =>
  stockLevels(database.query, nowMs)
    .map(({ imported, taken, damaged, expired }) => imported - taken - damaged - expired)
    .filter((left) => left > 0)
const refused = (...problems: unknown[]) => ({ file: 'codes', problems })

describe('an import', () => {
  test('with a code that is in the stock already is refused whole, and names its line', async () => {
    await imported(codesOf('a', 3))
    const file = `${codesOf('b', 600)}\n${codesOf('a', 1)}`
    await expect(imported(file)).rejects.toMatchObject(refused('line 601: card_number: was imported before'))
    expect(rows()).toHaveLength(3)
    await imported(codesOf('b', 600))
    expect(forSale()).toEqual([603])
  })

  test('sells no code before all are imported, and can be repeated when it was interrupted', async () => {
    await imported(codesOf('a', 10))
    const breakOff = () => {
      expect(forSale()).toEqual([10])
      if (rows().length === 310) throw new Error('killed')
    }
    await expect(imported(codesOf('b', 1_000), breakOff)).rejects.toThrow('killed')
    expect(rows()).toHaveLength(310)
    expect(forSale()).toEqual([10])
    expect(await imported(codesOf('b', 1_000))).toBe(1_000)
    expect(rows()).toHaveLength(1_010)
    expect(forSale()).toEqual([1_010])
  })
})

test('damaged and expired codes do not count towards the stock that is left', async () => {
  const expires_at = '2030-01-01T00:00:01Z'
  await imported([codesOf('a', 2, { expires_at }), codesOf('b', 4), codesOf('c', 1, { product_id: 2 })].join('\n'))
  expect([forSale(NOW + 999), forSale(NOW + 1_000)]).toEqual([
    [6, 1],
    [4, 1],
  ])
  await database.write((tx) => markDamaged(tx, [2, 3, 7], 0))
  expect([forSale(NOW + 999), forSale(NOW + 1_000)]).toEqual([[4], [3]])
  const kind = { productId: 1, denominationMinor: 1_000 }
  expect([3, 4].map((quantity) => areFree(database.query, kind, NOW + 1_000, quantity))).toEqual([true, false])
})

describe('a file of codes', () => {
  test('is JSON lines, of which blank ones are ignored, or one array', async () => {
    const second = { ...CODE, card_number: 'TWO', expires_at: '2030-01-01T00:00:00.001Z' }
    expect(await imported(`${JSON.stringify(CODE)}\n  \n\n${JSON.stringify(second)}\n`)).toBe(2)
    const third = { ...second, card_number: 'THREE' }
    expect(await imported(`\n ${JSON.stringify([{ ...CODE, card_number: 'FOUR' }, third])}`)).toBe(2)
    const expected = [null, NOW + 1, null, NOW + 1].map((expires_at_ms) => ({
      denomination_minor: 1_000,
      expires_at_ms,
    }))
    expect(rows()).toEqual(expected)
  })

  const ROWS: [string, object, string][] = [
    ['without a number', { ...CODE, card_number: undefined }, 'card_number: '],
    ['with an unknown member', { ...CODE, pin: '1' }, 'pin: '],
    ['that is not an object', [], 'the row: '],
    ['with half a surrogate pair', { ...CODE, pin_code: '\ud800' }, 'pin_code: must not contain NUL'],
    ['of no product', { ...CODE, product_id: 3 }, 'product_id: no product has the id 3'],
    ['of another denomination', { ...CODE, denomination: 20 }, 'denomination: product 1 does not offer it'],
    ['that expires at no time', { ...CODE, expires_at: 'soon' }, 'expires_at: is not an RFC 3339 time'],
    ['that expires now', { ...CODE, expires_at: '2030-01-01T00:00:00Z' }, 'expires_at: is in the past'],
  ]
  test.each(ROWS)('with a row %s is refused, naming its place and no code', async (_, row, problem) => {
    const [first, second] = [{ ...CODE, card_number: 'FIRST' }, row].map((one) => JSON.stringify(one))
    for (const [file, place] of [
      [`${first}\n${second}`, 'line 2'],
      [`[${first},${second}]`, '/1'],
    ] as const) {
      const error: unknown = await imported(file).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject(refused(expect.stringContaining(`${place}: ${problem}`)))
      expect(String(error)).not.toMatch(/ONE|FIRST/)
    }
    expect(rows()).toEqual([])
  })

  test('may begin with the mark that Windows programs write', async () => {
    for (const text of [JSON.stringify(CODE), JSON.stringify([{ ...CODE, card_number: 'TWO' }])])
      expect(await imported(`\ufeff${text}`)).toBe(1)
  })

  const UNSEEN =
    '\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u2060\u2063\u3164\ufe0f\ufeff\ufff9\u0001\u{e0041}'
  const IGNORED = [...UNSEEN, '\u2800', '\u00a0', '\u2003', '\u2212', '\u2011', '-', ' ']
  test.each(IGNORED)('holds one card, with %j in its number or without', async (sign) => {
    const plain = JSON.stringify({ ...CODE, card_number: 'GIFT1004' })
    const dressed = JSON.stringify({ ...CODE, card_number: `GIFT${sign}1004` })
    const twice = refused('line 2: card_number: the same as at line 1')
    await expect(imported(`${plain}\n${dressed}`)).rejects.toMatchObject(twice)
    expect(await imported(dressed)).toBe(1)
    await expect(imported(plain)).rejects.toMatchObject(refused('line 1: card_number: was imported before'))
  })

  test('is stored without the signs that nobody sees', async () => {
    const dressed = (text: string) => `${UNSEEN}${text}${UNSEEN}`
    const sent = {
      card_number: dressed('GIFT 1-004'),
      pin_code: dressed('12 34'),
      claim_url: dressed('https://x.test/a'),
    }
    await imported(JSON.stringify({ ...CODE, ...sent }))
    const row = found(database.query.select().from(voucherStock).get())
    expect(new Cipher(new Uint8Array(32)).decryptCode(row.sealed, associatedDataInStock(row))).toEqual({
      cardNumber: 'GIFT 1-004',
      pinCode: '12 34',
      claimUrl: 'https://x.test/a',
    })
    for (const [name, words] of [
      ['card_number', 'must contain more than spaces and dashes'],
      ['pin_code', 'must contain a visible character'],
      ['claim_url', 'must contain a visible character'],
    ] as const) {
      const file = JSON.stringify({ ...CODE, [name]: UNSEEN })
      await expect(imported(file)).rejects.toMatchObject(refused(`line 1: ${name}: ${words}`))
    }
  })

  test('with a line that is not JSON is refused', async () => {
    const file = `${JSON.stringify(CODE)}\n{"card_number":"SECRET"`
    await expect(imported(file)).rejects.toMatchObject(refused('line 2: is not JSON'))
  })
})
