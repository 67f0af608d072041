// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DataFault } from '../../src/db/data-folder.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import { readCodes } from '../../src/orders/stock.ts'
import { areKeysOf, openCipher } from '../../src/orders/voucher-key.ts'
import { forFile } from '../harness.ts'
import { openLive } from './live.ts'

/** Files of codes, and the key that encrypts them (contract C12). */

const live = forFile(await openLive())

const NOW = Date.parse('2030-01-01T00:00:00Z')
const CODE = { product_id: 1, denomination: 10, card_number: 'ONE' }
const read = (text: string) => {
  const { ciphers, reference } = live.deps
  const { query } = live.database
  const parts = readCodes(text, { query, reference, cipher: ciphers(query), nowMs: NOW })
  for (let part = parts.next(); ; part = parts.next()) if (part.done) return part.value
}
const problemsOf = (text: string): readonly string[] => {
  try {
    read(text)
  } catch (error) {
    if (error instanceof FileFault) return error.problems
    throw error
  }
  return []
}

describe('a file of codes', () => {
  test('is JSON lines, of which blank ones are ignored, or one array', () => {
    const second = { ...CODE, card_number: 'TWO', expires_at: '2030-01-01T00:00:00.001Z' }
    const lines = `${JSON.stringify(CODE)}\n  \n\n${JSON.stringify(second)}\n`
    for (const [text, places] of [
      [lines, ['line 1', 'line 4']],
      [`\n ${JSON.stringify([CODE, second])}`, ['/0', '/1']],
    ] as const) {
      expect(read(text)).toMatchObject([
        { place: places[0], denominationMinor: 1_000, expiresAtMs: null },
        { place: places[1], denominationMinor: 1_000, expiresAtMs: NOW + 1 },
      ])
    }
  })

  test.each<[string, object, string]>([
    ['without a number', { ...CODE, card_number: undefined }, 'card_number: '],
    ['with an unknown member', { ...CODE, pin: '1' }, 'pin: '],
    ['that is not an object', [], 'the row: '],
    ['with half a surrogate pair', { ...CODE, pin_code: '\ud800' }, 'pin_code: a text must not hold NUL'],
    ['of no product', { ...CODE, product_id: 3 }, 'product_id: no product has the id 3'],
    ['of another denomination', { ...CODE, denomination: 20 }, 'denomination: product 1 does not offer it'],
    ['that expires at no time', { ...CODE, expires_at: 'soon' }, 'expires_at: is not an RFC 3339 time'],
    ['that expires now', { ...CODE, expires_at: '2030-01-01T00:00:00Z' }, 'expires_at: is in the past'],
  ])('with a row %s is refused, naming its place and no code', (_, row, problem) => {
    const problems = problemsOf(`${JSON.stringify({ ...CODE, card_number: 'FIRST' })}\n${JSON.stringify(row)}`)
    expect(problems).toEqual([expect.stringContaining(`line 2: ${problem}`)])
    expect(problems.join()).not.toContain('ONE')
  })

  test('may begin with the mark that Windows programs write', () => {
    for (const text of [JSON.stringify(CODE), JSON.stringify([CODE])]) expect(read(`\ufeff${text}`)).toHaveLength(1)
  })

  test('with a line that is not JSON is refused', () => {
    expect(problemsOf(`${JSON.stringify(CODE)}\n{"card_number":"SECRET"`)).toEqual(['line 2: is not JSON'])
  })
})

describe('a voucher key', () => {
  const other = new Uint8Array(32).fill(7)
  const areKeys = (folder: string | undefined, given?: Uint8Array) => areKeysOf(live.database.query, folder, given)

  test('is that of a database, is another one, or is not there', () => {
    expect(areKeys(live.folder)).toBe(true)
    expect(areKeys(live.folder, other)).toBe(false)
    expect(areKeys(undefined, other)).toBe(false)
    expect(areKeys(undefined)).toBeUndefined()
  })

  test('that is another one, or damaged, opens nothing', () => {
    expect(() => openCipher(live.database, live.folder, other)).toThrow(DataFault)
    writeFileSync(join(live.folder, 'voucher.key'), 'damaged')
    expect(() => openCipher(live.database, live.folder, undefined)).toThrow('voucher.key is not a key')
  })
})
