// Runs in process alone: it reads data that no response shows.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DataFault } from '../../src/kernel/exit.ts'
import { areKeysOf, openCipher } from '../../src/orders/voucher-key.ts'
import { forFile } from '../harness.ts'
import { openLive } from './live.ts'

/** The key that encrypts codes (contract C12). */

const live = forFile(await openLive())
const other = new Uint8Array(32).fill(7)
const areKeys = (folder: string | undefined, envKey?: Uint8Array) => areKeysOf(live.database.query, folder, envKey)

test('a voucher key is that of a database, is another one, or is not there', () => {
  expect(areKeys(live.folder)).toBe(true)
  expect(areKeys(live.folder, other)).toBe(false)
  expect(areKeys(undefined, other)).toBe(false)
  expect(areKeys(undefined)).toBeUndefined()
})

test('a voucher key that is another one, or damaged, opens nothing', () => {
  expect(() => openCipher(live.database, live.folder, other)).toThrow(DataFault)
  writeFileSync(join(live.folder, 'voucher.key'), 'damaged')
  expect(() => openCipher(live.database, live.folder, undefined)).toThrow('voucher.key is not a key')
})
