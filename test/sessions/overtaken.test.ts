// Runs in process alone: it reads what no response tells.

import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../src/db/database.ts'
import { sinceStartMs } from '../../src/kernel/clock.ts'
import { DomainError, found, notFound } from '../../src/kernel/failure.ts'
import { nextTurn, turns } from '../../src/kernel/turns.ts'
import { findClient } from '../../src/sessions/clients.ts'
import { CredentialCheck, passwordDigest } from '../../src/sessions/credentials.ts'
import { revokeLogins, rotatePassword, updateClient } from '../../src/sessions/queries.ts'
import { Sessions } from '../../src/sessions/sessions.ts'
import { logins } from '../../src/sessions/tables.ts'
import { TokenSigner } from '../../src/sessions/tokens.ts'
import { openProgram } from '../harness.ts'

const open = () => {
  const { deps, defaultWorld: world, stop } = openProgram()
  const { worlds, signingKey } = deps
  const credentials = new CredentialCheck({
    resolveAccount: ({ username }) => ({ world: worlds.default, username }),
    limitsFailures: false,
  })
  const sessions = new Sessions({
    worlds,
    signer: new TokenSigner(signingKey),
    accessTtlMs: 3_600_000,
    refreshTtlMs: 7_200_000,
  })
  const identify = () =>
    credentials.identify({ username: 'sandbox', password: 'sandbox' }, { request: undefined, address: '' }, () => {})
  return { world, sessions, identify, [Symbol.asyncDispose]: stop }
}

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof DomainError ? error.failure.code : error),
  )

describe('A login during which an operator changes the client', () => {
  test.each([
    ['disables the client', (tx: Tx, id: number) => updateClient(tx, id, { disabled: true })],
    ['gives it another password', (tx: Tx, id: number) => rotatePassword(tx, id, passwordDigest('another'), undefined)],
  ])('is refused and not stored if the operator %s', async (_, change) => {
    await using opened = open()
    const { world, sessions, identify } = opened
    const identified = await identify()
    await world.db.write((tx) => change(tx, identified.client.id))
    expect(await refusalOf(sessions.begin(identified))).toBe('credentials_wrong')
    expect(world.db.query.select().from(logins).all()).toEqual([])
  })
})

describe('More than 10,000 active logins of one client', () => {
  test('the first to expire is deleted, and its token revoked', async () => {
    await using opened = open()
    const { world, sessions, identify } = opened
    const first = await sessions.begin(await identify())
    const authorization = `Bearer ${first.access.token}`
    await sessions.admit(authorization)
    const nowMs = world.clock.nowMs()
    const others = Array.from({ length: 9_999 }, (_, index) => ({
      id: `lgn_other-${index}`,
      clientId: 1,
      refreshGeneration: 0,
      expiresAtMs: nowMs + 86_400_000,
      revoked: false,
    }))
    for (let at = 0; at < others.length; at += 1_000) {
      await world.db.write((tx) =>
        tx
          .insert(logins)
          .values(others.slice(at, at + 1_000))
          .run(),
      )
    }
    expect(sessions.recall(authorization)).toBeDefined()
    const second = await sessions.begin(await identify())
    expect(await refusalOf(sessions.admit(authorization))).toBe('unauthorized')
    expect(await refusalOf(sessions.admit(`Bearer ${second.access.token}`))).toBeUndefined()
    expect(world.db.query.select().from(logins).where(eq(logins.clientId, 1)).all()).toHaveLength(10_000)
  })
})

/** A client that has used the thread for so long that its next request waits for a turn of the event loop. */
const openBusy = async () => {
  const program = openProgram()
  const { client, world } = await program.open()
  const sender = found(findClient(world, 1), notFound('Client'))
  await nextTurn()
  turns.take(sender)
  const sinceMs = sinceStartMs()
  while (sinceStartMs() - sinceMs < 10);
  return { client, world, sender, [Symbol.asyncDispose]: program.stop }
}

describe('A request that waits for its turn', () => {
  test('is refused if its tokens are revoked meanwhile', async () => {
    await using opened = await openBusy()
    const { client, world, sender } = opened
    const reading = client.get('/api/v1/orders')
    sender.tokenEpoch += 1
    world.db.fill((tx) => revokeLogins(tx, sender.id))
    expect((await reading).status).toBe(401)
  })

  test('is refused if its world is closed meanwhile', async () => {
    await using opened = await openBusy()
    const reading = opened.client.get('/api/v1/orders')
    opened.world.close()
    expect((await reading).status).toBe(401)
  })
})
