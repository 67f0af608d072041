// Runs in process alone: it reads data that no response shows.

import { expect, test } from 'bun:test'
import { addClient } from '../../src/sessions/queries.ts'
import { findAnyWallet, openWallet, walletsOf } from '../../src/wallets/queries.ts'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'

/** The wallets as `scrip wallet` sees them. */

const live = forFile(await openLive())

test('an operator sees the wallets of all clients, or of one, each client with one default wallet', async () => {
  const { database } = live
  const others = await database.write((tx) => {
    const clientId = addClient(tx, 'other', 'digest', 0)
    const wallet = { clientId, currencyId: 139, type: 'PREPAID', creditLimitMinor: 0 } as const
    return [openWallet(tx, wallet, 0), openWallet(tx, wallet, 0)]
  })
  expect(others.map(({ isDefault }) => isDefault)).toEqual([true, false])
  const idsOf = (clientId?: number) => [...walletsOf(database.query, { clientId })].map(({ id }) => id)
  expect([idsOf(), idsOf(1), idsOf(2), idsOf(3)]).toEqual([[1, 2, 3], [1], [2, 3], []])
  expect(findAnyWallet(database.query, 3)).toEqual(others[1])
  expect(findAnyWallet(database.query, 4)).toBeUndefined()
})
