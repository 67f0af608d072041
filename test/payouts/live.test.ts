// Runs in process alone: it reads data that no response shows.

import { expect, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { advance } from '../../src/payouts/progress.ts'
import { findAnyPayout } from '../../src/payouts/queries.ts'
import { fund } from '../../src/wallets/ledger.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'

/** The total of a beneficiary where an exchange rate is missing: in live mode, because the sandbox knows all rates. */

const live = forFile(await openLive())

const post = async (path: string, body: object): Promise<{ id: string }> => {
  const response = await live.request(path, { method: 'POST', body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string }
}

test('payouts count in the currency of the default wallet; those that have no rate to it count nothing', async () => {
  const { worlds, reference } = live.deps
  const { db } = worlds.default
  const euro = reference.findCurrencyByCode('EUR')
  if (!euro) throw new Error('no EUR')
  const wallet = { clientId: 1, currencyId: euro.id, type: 'PREPAID', creditLimitMinor: 0 } as const
  const { id: wallet_id } = await db.write((tx) => {
    const opened = openWallet(tx, wallet, 0)
    fund(tx, { world: worlds.default, reference }, opened, 1_000_000, { remarks: null, nowMs: 0 })
    return opened
  })
  const ada = await post('/beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
  const rest = { beneficiary_id: ada.id, amount: 100 }
  const payouts = [
    await post('/payouts', { ...rest, reference_id: 'dollars', wallet_id: 1, currency: 'USD' }),
    await post('/payouts', { ...rest, reference_id: 'euros', wallet_id, currency: 'EUR' }),
  ]
  const moving = { reference, byClock: () => false }
  const details = { actorType: 'operator', nowMs: systemClock.nowMs() } as const
  for (const { id } of payouts) {
    await db.write((tx) => {
      const payout = findAnyPayout(tx, id)
      if (!payout) throw new Error(`no payout ${id}`)
      advance(tx, moving, worlds.default, payout, 'completed', details)
    })
  }
  const saved = await (await live.request(`/beneficiaries/${ada.id}`)).json()
  expect(saved).toMatchObject({ total_payouts: 2, total_amount: 100 })
})
