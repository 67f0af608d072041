// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/kernel/clock.ts'
import { passwordDigest } from '../../src/sessions/credentials.ts'
import { addClient } from '../../src/sessions/queries.ts'
import { openProgram } from '../harness.ts'
import { MachineClock } from '../machine-clock.ts'

const LIMITS = ['--rate-limit', '1000/h,10/m']

/** A server whose machine has this clock, and a client of it. */
const open = (mode: 'sandbox' | 'live') => {
  const machine = new MachineClock()
  const folder = mkdtempSync(join(tmpdir(), 'scrip-'))
  const flags = mode === 'live' ? ['--mode', 'live', '--data-dir', folder, ...LIMITS] : LIMITS
  const { request, defaultWorld, stop } = openProgram({ flags, clock: machine })
  if (mode === 'live')
    defaultWorld.db.fill((tx) => addClient(tx, 'sandbox', passwordDigest('sandbox'), machine.nowMs()))
  const login = (password: string) =>
    request('/auth/login', { method: 'POST', body: JSON.stringify({ username: 'sandbox', password }) })
  return {
    machine,
    login,
    ask: (token: string) => request('/api/v1/countries/1', { headers: { authorization: `Bearer ${token}` } }),
    token: async () => ((await (await login('sandbox')).json()) as { access_token: string }).access_token,
    [Symbol.asyncDispose]: async () => {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

const limitOf = ({ status, headers }: Response) => [
  status,
  Number(headers.get('x-ratelimit-remaining')),
  Number(headers.get('x-ratelimit-reset')),
]

describe.each(['sandbox', 'live'] as const)("If the machine's clock is set back, in %s mode", (mode) => {
  test.each([-10 * MINUTE_MS, -HOUR_MS])('known clients are not refused (%d ms)', async (stepMs) => {
    await using opened = open(mode)
    const { machine, ask, token } = opened
    const known = await token()
    expect(limitOf(await ask(known))).toEqual([200, 9, machine.timeMs / SECOND_MS + 6])
    machine.step(stepMs)
    expect(limitOf(await ask(known))).toEqual([200, 8, machine.timeMs / SECOND_MS + 12])
    for (let i = 0; i < 8; i++) expect((await ask(known)).status).toBe(200)
    expect(limitOf(await ask(known))).toEqual([429, 0, machine.timeMs / SECOND_MS + 60])
    machine.pass(6 * SECOND_MS)
    expect((await ask(known)).status).toBe(200)
    expect((await ask(await token())).status).toBe(429)
  })

  test('the minute of failed logins lasts a minute', async () => {
    await using opened = open(mode)
    const { machine, login } = opened
    for (let i = 0; i < 10; i++) expect((await login('wrong')).status).toBe(401)
    machine.step(-HOUR_MS)
    expect((await login('wrong')).headers.get('retry-after')).toBe('60')
    machine.pass(MINUTE_MS)
    expect((await login('wrong')).status).toBe(401)
  })
})

describe("If the machine's clock is set forward", () => {
  test('no rate-limit token is added early', async () => {
    await using opened = open('live')
    const { machine, ask, token } = opened
    const known = await token()
    for (let i = 0; i < 10; i++) await ask(known)
    machine.step(MINUTE_MS)
    expect((await ask(known)).status).toBe(429)
  })
})
