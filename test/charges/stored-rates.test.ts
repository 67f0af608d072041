// Runs in process alone: it reads what no response tells.

import { describe, expect, test } from 'bun:test'
import { findRates } from '../../src/charges/queries.ts'
import { mergeRates, replaceRates } from '../../src/charges/stored-rates.ts'
import { RATE_ONE } from '../../src/kernel/money.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'

/** The exchange rates that an operator of live mode sets (contract C1, `scrip rates set`). */

const live = forFile(await openLive())

const set = (how: typeof mergeRates, base: string, rates: Record<string, number>): Promise<void> =>
  live.database.write((tx) => how(tx, live.deps.reference, { base, perBaseE8: new Map(Object.entries(rates)) }))

const known = () => findRates(live.database.query)

describe('stored rates', () => {
  test('are empty at first', () => {
    expect(known()).toBeUndefined()
  })

  test('begin with a base, whose rate is 1', async () => {
    await set(mergeRates, 'USD', { EUR: 92_000_000 })
    expect(known()).toEqual({
      base: 'USD',
      perBaseE8: new Map([
        ['EUR', 92_000_000],
        ['USD', RATE_ONE],
      ]),
    })
  })

  test('are changed and added individually', async () => {
    await set(mergeRates, 'USD', { EUR: 93_000_000, JPY: 15_000_000_000 })
    await set(mergeRates, 'USD', { INR: 8_300_000_000 })
    expect([...(known()?.perBaseE8 ?? [])]).toEqual([
      ['EUR', 93_000_000],
      ['INR', 8_300_000_000],
      ['JPY', 15_000_000_000],
      ['USD', RATE_ONE],
    ])
  })

  test('refuse another base or an unknown code, and do not change', async () => {
    const before = known()
    await expect(set(mergeRates, 'EUR', { USD: 108_000_000 })).rejects.toThrow(FileFault)
    await expect(set(mergeRates, 'USD', { XXX: 1 })).rejects.toThrow(FileFault)
    expect(known()).toEqual(before)
  })

  test('can all be replaced together, with another base', async () => {
    await set(replaceRates, 'EUR', { USD: 108_000_000 })
    expect(known()).toEqual({
      base: 'EUR',
      perBaseE8: new Map([
        ['EUR', RATE_ONE],
        ['USD', 108_000_000],
      ]),
    })
  })
})
