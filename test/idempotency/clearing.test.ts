// Runs in process alone: it reads what no response tells.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../src/kernel/clock.ts'
import { openProgram } from '../harness.ts'

/** Responses are stored for their Idempotency-Key for 24 hours (contract C14); what is older goes in small steps. */

const PER_WRITE = 20
const machine = { timeMs: Date.UTC(2030, 0, 1), nowMs: () => machine.timeMs, steadyMs: () => machine.timeMs }
const program = openProgram({ clock: machine })
let token = ''
let sent = 0

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  program.request(path, { method: 'POST', headers, body: JSON.stringify(body) })

const login = async () => {
  const response = await post('/auth/login', { username: 'sandbox', password: 'sandbox' })
  token = ((await response.json()) as { access_token: string }).access_token
}

/** A beneficiary with a key of its own. Returns how many keys are stored then. */
const write = async (): Promise<number> => {
  const number = ++sent
  const body = { email: `ada${number}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }
  const response = await post('/api/v1/beneficiaries', body, {
    authorization: `Bearer ${token}`,
    'idempotency-key': `key-of-${number}`,
  })
  expect(response.status).toBe(201)
  const counted = program.defaultWorld.db.sqlite
    .query<{ n: number }, []>('SELECT count(*) AS n FROM idempotency_keys')
    .get()
  return counted?.n ?? 0
}

describe('Idempotency-Key', () => {
  beforeAll(login)
  afterAll(() => program.stop())

  test('is deleted once it is older than 24 hours, a few at a write', async () => {
    for (let count = 1; count <= 2 * PER_WRITE + 5; count++) expect(await write()).toBe(count)
    machine.timeMs += DAY_MS + 1
    await login()
    expect(await write()).toBe(PER_WRITE + 6)
    expect(await write()).toBe(7)
    expect(await write()).toBe(3)
    machine.timeMs += DAY_MS + 1
    await login()
    expect(await write()).toBe(1)
  })

  test('that has expired is looked for once a minute', async () => {
    const early = await write()
    machine.timeMs += DAY_MS - MINUTE_MS / 2
    await login()
    expect(await write()).toBe(early + 1)
    machine.timeMs += MINUTE_MS / 2 + 1
    expect(await write()).toBe(early + 2)
    machine.timeMs += MINUTE_MS / 2
    expect(await write()).toBe(3)
  })

  test('that has expired is deleted after a clock that was far ahead is put back', async () => {
    machine.timeMs += 300 * DAY_MS
    await login()
    const ahead = await write()
    machine.timeMs -= 200 * DAY_MS
    await login()
    expect(await write()).toBe(ahead + 1)
    machine.timeMs += 2 * DAY_MS
    await login()
    expect(await write()).toBe(ahead + 1)
  })
})
