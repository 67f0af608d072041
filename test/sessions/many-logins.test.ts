// Runs in process alone: it counts rows, which no response shows.

import { describe, expect, test } from 'bun:test'
import { SANDBOX_CLIENT_IDS } from '../../src/sandbox/seed/accounts.ts'
import { openProgram } from '../harness.ts'
import { loggedIn, post, statusWith } from './requests.ts'

/** The sandbox notes a unit of work in two rows of its connection. */
const NOTED = 2

/** A login or a logout costs the same, however many logins are stored (contract C4). */
const open = () => {
  const program = openProgram()
  const { sqlite } = program.defaultWorld.db
  const client = SANDBOX_CLIENT_IDS.sandbox
  const count = (sql: string): number => Number(sqlite.query(`SELECT ${sql}`).values()[0]?.[0])
  return {
    program,
    /** Stores logins that nobody has made, with the next numbers. */
    store: (logins: number, expiresAtMs = Number.MAX_SAFE_INTEGER): void => {
      const first = count(`coalesce(max(number), 0) FROM logins WHERE client_id = ${client}`)
      const insert = sqlite.query('INSERT INTO logins VALUES (?, ?, ?, 0, ?, 0)')
      sqlite.transaction(() => {
        for (let number = first + 1; number <= first + logins; number++)
          insert.run(`stored-${number}`, client, number, expiresAtMs)
      })()
    },
    login: () => loggedIn(program, 'sandbox', 'sandbox'),
    logout: (token: string) => post(program, '/auth/logout', '', { authorization: `Bearer ${token}` }),
    stored: () => count('count(*) FROM logins'),
    /** The rows that some work writes. */
    rowsOf: async (work: () => Promise<unknown>): Promise<number> => {
      const before = count('total_changes()')
      await work()
      return count('total_changes()') - before
    },
    [Symbol.asyncDispose]: () => program.stop(),
  }
}

describe('POST /auth/logout', () => {
  test.each([10, 9_000])('of a client with %d logins writes one row, and none again', async (logins) => {
    await using opened = open()
    opened.store(logins)
    const { access_token: token } = await opened.login()
    expect(await opened.rowsOf(() => opened.logout(token))).toBe(1 + NOTED)
    expect(await statusWith(opened.program, token)).toBe(401)
    expect(await opened.rowsOf(() => opened.logout(token))).toBe(0)
    const next = await opened.login()
    expect(await opened.rowsOf(() => opened.logout(next.access_token))).toBe(1 + NOTED)
  })

  test('also ends tokens whose logins are numbered again once all have expired', async () => {
    await using opened = open()
    const { access_token: token } = await opened.login()
    await opened.logout(token)
    opened.program.defaultWorld.db.sqlite.run('DELETE FROM logins')
    const next = await opened.login()
    expect(await statusWith(opened.program, next.access_token)).toBe(200)
  })
})

describe('POST /auth/login', () => {
  test('deletes 50 of the logins that have expired, and the next login 50 more', async () => {
    await using opened = open()
    opened.store(1_000, 0)
    expect(await opened.rowsOf(opened.login)).toBe(51)
    expect(opened.stored()).toBe(951)
    expect(await opened.rowsOf(opened.login)).toBe(51)
    expect(opened.stored()).toBe(902)
  })

  test('of a client with 10,000 logins deletes the oldest of them, whose tokens end', async () => {
    await using opened = open()
    const oldest = await opened.login()
    const second = await opened.login()
    opened.store(9_998)
    expect(await statusWith(opened.program, oldest.access_token)).toBe(200)
    expect(await opened.rowsOf(opened.login)).toBe(2)
    expect(opened.stored()).toBe(10_000)
    expect(await statusWith(opened.program, oldest.access_token)).toBe(401)
    expect(await statusWith(opened.program, second.access_token)).toBe(200)
  })
})
