// Runs in process alone: it reads what no response tells.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  addClient,
  allClients,
  clientNames,
  deleteClient,
  insertLogin,
  isLoginLive,
  revokeLogins,
  updateClient,
} from '../../src/sessions/queries.ts'
import type { World } from '../../src/worlds/world.ts'
import { openProgram, type Program } from '../harness.ts'

/** What an operator does to clients. */

let program: Program
let world: World
let added: number
beforeEach(async () => {
  program = openProgram()
  world = program.defaultWorld
  await world.db.write((tx) => {
    added = addClient(tx, 'added', 'a digest', 0)
    for (const clientId of [1, added]) insertLogin(tx, loginOf(clientId))
  })
})
afterEach(() => program.stop())

const loginOf = (clientId: number) => ({
  id: `lgn_${clientId}`,
  clientId,
  refreshGeneration: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
  revoked: false,
})
const isLive = (clientId: number): boolean => isLoginLive(world.db.query, `lgn_${clientId}`, clientId)

describe('A change of a client', () => {
  test('that changes nothing is accepted', async () => {
    const before = allClients(world.db.query)
    await world.db.write((tx) => updateClient(tx, added, {}))
    expect(allClients(world.db.query)).toEqual(before)
    expect(isLive(added)).toBe(true)
  })

  test('does not end its logins', async () => {
    await world.db.write((tx) => updateClient(tx, added, { quantityMax: 3, disabled: false }))
    expect(allClients(world.db.query).find(({ id }) => id === added)).toMatchObject({ quantityMax: 3 })
    expect(isLive(added)).toBe(true)
  })
})

describe('Logins end', () => {
  test('of one client', async () => {
    await world.db.write((tx) => revokeLogins(tx, added))
    expect([isLive(1), isLive(added)]).toEqual([true, false])
  })

  test('of all clients', async () => {
    await world.db.write((tx) => revokeLogins(tx))
    expect([isLive(1), isLive(added)]).toEqual([false, false])
  })
})

describe('A client without records', () => {
  test('is deleted with its logins', async () => {
    expect(clientNames(world.db.query).toSorted()).toEqual(['added', 'limited', 'sandbox'])
    await world.db.write((tx) => deleteClient(tx, added))
    expect(clientNames(world.db.query).toSorted()).toEqual(['limited', 'sandbox'])
    expect([isLive(1), isLive(added)]).toEqual([true, false])
  })
})
