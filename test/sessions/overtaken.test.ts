// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import type { Tx } from '../../src/db/database.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { CredentialCheck, passwordDigest } from '../../src/sessions/credentials.ts'
import { rotatePassword, updateClient } from '../../src/sessions/queries.ts'
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
    credentials.identify({ username: 'sandbox', password: 'sandbox' }, { incoming: undefined, address: '' }, () => {})
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
