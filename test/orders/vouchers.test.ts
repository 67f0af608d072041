// Runs in process alone: it reads data that no response shows.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileFault } from '../../src/kernel/problems.ts'
import { Cipher } from '../../src/orders/cipher.ts'
import { deliver } from '../../src/orders/delivery.ts'
import { findAnyOrder } from '../../src/orders/queries.ts'
import { reencrypt } from '../../src/orders/rekey.ts'
import { importedSupply } from '../../src/orders/supply.ts'
import { cipherAsMarked, keysOf, nextKeyIn, openCipher, promoteKey } from '../../src/orders/voucher-key.ts'
import { type Live, openLive } from './live.ts'

/** Vouchers at rest (contract C12): in one process, because only the rows show how they are stored. */

let live: Live
beforeEach(async () => {
  live = await openLive()
})
afterEach(async () => {
  await live.stop()
  rmSync(live.folder, { recursive: true })
})

const sql = (text: string, ...values: (string | number | Uint8Array)[]) =>
  live.database.sqlite.query<Record<string, unknown>, typeof values>(text).all(...values)
const NULLS = { card_number: null, pin_code: null, claim_url: null }
const available = async (quantity: number): Promise<boolean> => {
  const body = JSON.stringify({ denomination: 10, quantity })
  const response = await live.request('/products/1/availability', { method: 'POST', body })
  return ((await response.json()) as { is_available: boolean }).is_available
}
const cardsOf = ({ vouchers }: { vouchers: { card_number: string | null }[] }) =>
  vouchers.map(({ card_number }) => card_number)

describe('a code that is moved to another row', () => {
  test('in an order cannot be decrypted, and all others can', async () => {
    await live.stock(1, 'ONE', 'TWO', 'THREE')
    const [first, second] = [await live.order(1, 2), await live.order(1, 1)]
    expect([cardsOf(first), cardsOf(second)]).toEqual([['ONE', 'TWO'], ['THREE']])
    sql('UPDATE vouchers SET sealed = (SELECT sealed FROM vouchers WHERE id = 1) WHERE id = 3')
    sql("UPDATE vouchers SET reference = '2-9', order_id = 2 WHERE id = 2")
    expect(cardsOf(await live.read(1))).toEqual(['ONE'])
    expect(await live.read(2)).toMatchObject({
      status: 'DELIVERED',
      vouchers: [
        { voucher_reference_number: '2-9', ...NULLS },
        { voucher_reference_number: '2-1', ...NULLS },
      ],
    })
  })

  test('in the stock is not sold: it is logged and the next one is sold', async () => {
    await live.stock(1, 'ONE', 'TWO', 'THREE')
    sql('UPDATE voucher_stock SET sealed = (SELECT sealed FROM voucher_stock WHERE id = 3) WHERE id = 1')
    expect(cardsOf(await live.order(1, 2))).toEqual(['TWO', 'THREE'])
    expect(sql('SELECT id, order_id FROM voucher_stock WHERE damaged_at_ms IS NOT NULL')).toEqual([
      { id: 1, order_id: null },
    ])
    expect(live.logged.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        level: 'error',
        message: 'a voucher cannot be decrypted and is no longer for sale',
        stockId: 1,
        productId: 1,
      },
    ])
    expect(await available(1)).toBe(false)
  })
})

describe('a damaged code', () => {
  test('refuses an order that needs it, and is not sold', async () => {
    await live.stock(1, 'ONE', 'TWO')
    sql("UPDATE voucher_stock SET sealed = x'00' WHERE id = 2")
    const body = JSON.stringify({ product_id: 1, denomination: 10, quantity: 2 })
    const refused = await live.request('/orders', { method: 'POST', body })
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { message: 'Insufficient stock' } }])
    await live.database.write(() => undefined)
    expect(await available(2)).toBe(false)
    expect(await available(1)).toBe(true)
    expect(cardsOf(await live.order(1, 1))).toEqual(['ONE'])
  })

  test('in a delivered order is null, and the list shows all others', async () => {
    await live.stock(1, 'ONE', 'TWO')
    await live.order(1, 2)
    sql("UPDATE vouchers SET sealed = x'00' WHERE id = 1")
    const response = await live.request('/orders')
    expect(response.status).toBe(200)
    expect(((await response.json()) as { vouchers: object[] }[])[0]?.vouchers).toMatchObject([
      { voucher_reference_number: '1-1', ...NULLS },
      { voucher_reference_number: '1-2', card_number: 'TWO' },
    ])
    expect(await (await live.request('/orders/1/vouchers')).json()).toMatchObject([NULLS, { card_number: 'TWO' }])
  })

  test('in the response that is kept for an Idempotency-Key is a 500, and buys nothing again', async () => {
    await live.stock(1, 'ONE', 'TWO')
    const body = JSON.stringify({ product_id: 1, denomination: 10, quantity: 1 })
    const purchase = { method: 'POST', headers: { 'idempotency-key': 'once-and-damaged' }, body }
    expect((await live.request('/orders', purchase)).status).toBe(200)
    sql("UPDATE idempotency_keys SET body = 'damaged'")
    for (let time = 0; time < 2; time++) {
      const response = await live.request('/orders', purchase)
      expect([response.status, await response.json()]).toMatchObject([
        500,
        { error: { message: 'Failed to create order' } },
      ])
    }
    expect(sql('SELECT count(*) AS n FROM orders')).toEqual([{ n: 1 }])
  })

  test('that an order waits for is replaced at its delivery', async () => {
    await live.stock(2, 'ONE', 'TWO', 'THREE')
    const { id } = await live.order(2, 2)
    sql("UPDATE voucher_stock SET sealed = x'00' WHERE id = 1")
    const { worlds, ciphers, reference } = live.deps
    const delivering = { reference, ciphers, supply: importedSupply({ ciphers, onDamaged: () => undefined }) }
    await worlds.default.db.write((tx) => {
      const order = findAnyOrder(tx, id)
      if (!order) throw new Error('no order')
      return deliver(tx, worlds.default, delivering, order, 2, 1)
    })
    expect(cardsOf(await live.read(id))).toEqual(['TWO', 'THREE'])
    expect(sql('SELECT id, order_id FROM voucher_stock WHERE damaged_at_ms IS NOT NULL')).toEqual([
      { id: 1, order_id: null },
    ])
  })
})

describe('a card number', () => {
  test.each(['card-1', 'CARD 1', ' c a r d – 1 ', 'ＣＡＲＤ１', 'Card\u00a01'])(
    'imported as CARD1 cannot be imported again: %p is the same, for any product',
    async (again) => {
      await live.stock(1, 'CARD1')
      for (const productId of [1, 2]) {
        await expect(live.stock(productId, 'CARD2', again)).rejects.toThrow(FileFault)
        await expect(live.stock(productId, 'CARD2', again)).rejects.toThrow('line 2: card_number: was imported before')
      }
      expect(sql('SELECT count(*) AS n FROM voucher_stock')).toEqual([{ n: 1 }])
    },
  )

  test('that is twice in a file refuses the file and names both lines', async () => {
    await expect(live.stock(1, 'A-1', 'B', 'a1')).rejects.toThrow('line 3: card_number: the same as at line 1')
    await expect(live.stock(1, ' - ')).rejects.toThrow('line 1: card_number: must contain more than spaces and dashes')
    expect(sql('SELECT count(*) AS n FROM voucher_stock')).toEqual([{ n: 0 }])
  })
})

describe('a new key', () => {
  const keyFile = () => join(live.folder, 'voucher.key')
  const KEPT = 'voucher.key.before-2030-01-01T00-00-00.000Z'
  /** As the command does it, if it is not killed before the key takes the place of the old one. */
  const rekey = async (isKilled = false): Promise<unknown> => {
    const { database, folder } = live
    const key = nextKeyIn(folder, undefined)
    const counts = await database.write((tx) =>
      reencrypt(tx, cipherAsMarked(tx, keysOf(folder, undefined)), new Cipher(key), 7),
    )
    if (!isKilled) promoteKey(folder, '2030-01-01T00:00:00.000Z')
    await live.stop()
    live = await openLive(folder)
    return counts
  }
  const ordered = async (key: string) => {
    const body = JSON.stringify({ product_id: 1, denomination: 10, quantity: 2, ref: 'once' })
    const response = await live.request('/orders', { method: 'POST', body, headers: { 'idempotency-key': key } })
    return [response.headers.get('idempotent-replayed'), await response.text()]
  }

  test('encrypts everything again, and decrypts all of it', async () => {
    await live.stock(1, 'ONE', 'TWO', 'THREE', 'FOUR')
    const [, bought] = await ordered('kept for a day')
    const old = readFileSync(keyFile())
    expect(await rekey()).toEqual({ resealed: 2 + 4 + 1, damaged: 0 })
    expect(readFileSync(join(live.folder, KEPT))).toEqual(old)
    expect(readFileSync(keyFile())).not.toEqual(old)
    expect(readdirSync(live.folder)).not.toContain('voucher.key.next')
    expect(await ordered('kept for a day')).toEqual(['true', bought as string])
    expect(cardsOf(await live.read(1))).toEqual(['ONE', 'TWO'])
    expect(cardsOf(await live.order(1, 1))).toEqual(['THREE'])
    await expect(live.stock(2, 'one')).rejects.toThrow('was imported before')
  })

  test('that was not put in place is the one in use, and no other replaces it', async () => {
    await live.stock(1, 'ONE', 'TWO')
    await rekey(true)
    expect(cardsOf(await live.order(1, 1))).toEqual(['ONE'])
    const left = readFileSync(join(live.folder, 'voucher.key.next'))
    expect(() => nextKeyIn(live.folder, Buffer.alloc(32))).toThrow('Finish that run without giving another key')
    expect(nextKeyIn(live.folder, undefined)).toEqual(Buffer.from(left.toString().trim(), 'hex'))
    writeFileSync(join(live.folder, 'voucher.key.next'), 'f'.repeat(64))
    expect(() => openCipher(live.database, live.folder, undefined)).toThrow('not the one that encrypted the codes')
  })

  test('leaves damaged codes unchanged and not for sale', async () => {
    await live.stock(1, 'ONE', 'TWO', 'THREE')
    await live.order(1, 1)
    sql("UPDATE voucher_stock SET sealed = x'0102' WHERE id = 2")
    sql("UPDATE vouchers SET sealed = x'0102' WHERE id = 1")
    expect(await rekey()).toEqual({ resealed: 2, damaged: 2 })
    expect(await live.read(1)).toMatchObject({ vouchers: [NULLS] })
    expect(cardsOf(await live.order(1, 1))).toEqual(['THREE'])
    expect(await available(1)).toBe(false)
  })
})
