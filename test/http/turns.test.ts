// Runs in process alone: it starts the program by itself, in both targets the same.

import { afterAll, describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../program.ts'
import { ADA } from '../records.ts'
import { type Ask, bytesOf, Connection, type RawResponse } from '../rigs/connection.ts'
import { fill } from '../rigs/filled.ts'
import { logIn, serve } from '../rigs/server.ts'

/** The requests that others wait for (contract C4), shown by the order of responses and not by a clock. */

/** The number of requests that the documented limits allow a client in a minute. */
const BURST = 100
/** The test waits for this many of them, since the rest behave the same. */
const WATCHED = 25
/** Responses to a burst that may come between another client's request and its response. */
const BETWEEN_MAX = 10
const RECORDS = 10_000
const MIB = 1_048_576

const folder = temporaryFolder()
await fill(folder.path, RECORDS)
const server = await serve(['--data-dir', folder.path, '--rate-limit', 'off'])
afterAll(async () => {
  await server.kill()
  folder[Symbol.dispose]()
})
const bytesBy = (token: string, question: Ask): Uint8Array =>
  bytesOf({ ...question, headers: { Authorization: `Bearer ${token}` } })

describe('While a client has sent 100 requests at once, another is answered after at most 10 of them:', () => {
  const withExtra = (json: string): string => `${JSON.stringify(ADA).slice(0, -1)},"extra":${json}}`
  const text = withExtra(JSON.stringify('x'.repeat(MIB - 100)))
  const numbers = withExtra(`[${`${'1'.repeat(1_000)},`.repeat(1_000)}1]`)
  test.each<[string, Ask, number]>([
    ['bodies of 1 MiB', { path: '/api/v1/beneficiaries', body: text }, 201],
    ['bodies of 1 MiB with long numbers', { path: '/api/v1/beneficiaries', body: numbers }, 201],
    ['lists of 10,000 transactions', { path: `/api/v1/transactions?limit=${RECORDS}` }, 200],
  ])('%s', async (_, question, expectedStatus) => {
    const token = await logIn(server.port, 'sandbox')
    const another = await Connection.open(server.port)
    const small = bytesBy(await logIn(server.port, 'sbx_another'), { path: '/api/v1/wallets' })
    const senders = await Promise.all(Array.from({ length: BURST }, () => Connection.open(server.port)))
    const bytes = bytesBy(token, question)
    const statuses: number[] = []
    const note = ({ status }: RawResponse) => void statuses.push(status)
    const burst = senders.map((sender) => sender.send(bytes).then(note, () => undefined))
    const between: number[] = []
    while (statuses.length < WATCHED) {
      const before = statuses.length
      expect((await another.send(small)).status).toBe(200)
      between.push(statuses.length - before)
    }
    for (const connection of [...senders, another]) connection.close()
    await Promise.all(burst)
    expect(new Set(statuses)).toEqual(new Set([expectedStatus]))
    // A busy machine sometimes delivers more responses at once than the server has sent in a row.
    const usual = between.toSorted((one, other) => one - other)[(between.length - 1) >> 1]
    expect(usual).toBeLessThanOrEqual(BETWEEN_MAX)
  })
})
