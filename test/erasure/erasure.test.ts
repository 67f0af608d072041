// Runs in process alone: it reads data that no response shows.

import { Database as SqliteDatabase } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../src/db/database.ts'
import { rewriteFile } from '../../src/db/scrub.ts'
import { erase, findRows } from '../../src/erasure/erasure.ts'
import { Person } from '../../src/erasure/person.ts'
import { databasePath } from '../../src/folder/files.ts'
import { FollowingCopy } from '../../src/replication/follower.ts'
import { structured } from '../errors.ts'
import { type Live, openLive } from '../orders/live.ts'

/** The erasure of a person (contract C17); test/executable has the command. */

const EMAIL = 'ada@example.com'
const TRACES = ['ada@example.com', 'lovelace', 'analytical', 'engine-7']

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-erasure-'))
  folders.push(folder)
  return folder
}

const tracesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name)).toString('latin1').toLowerCase()
    return TRACES.filter((trace) => bytes.includes(trace)).map((trace) => `${name}: ${trace}`)
  })

const post = async (live: Live, path: string, body: object, key?: string): Promise<{ id: string }> => {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  const response = await live.request(path, { method: 'POST', body: JSON.stringify(body), headers })
  expect(response.status).toBeOneOf([200, 201, 202])
  return (await response.json()) as { id: string }
}

const payment = (reference_id: string, email = EMAIL, last_name = 'Lovelace') => ({
  reference_id,
  wallet_id: 1,
  amount: 1,
  currency: 'USD',
  beneficiary_email: email,
  beneficiary_first_name: 'Ada',
  beneficiary_last_name: last_name,
  description: last_name === 'Lovelace' ? 'For the Analytical Engine' : 'Fee',
  metadata: last_name === 'Lovelace' ? { work: 'engine-7' } : {},
})

/** A folder with the records of Ada, in which pages were split, between those of others. */
const furnished = async (payouts: number): Promise<string> => {
  const live = await openLive(freshFolder())
  const payoutsMade = Array.from({ length: payouts }, async (_, number) => {
    await post(live, '/payouts', payment(`a-${number}`), number % 3 === 0 ? `key-of-${number}` : undefined)
    await post(live, '/payouts', payment(`b-${number}`, `person${number % 7}@example.com`, `Name ${number}`))
  })
  const saved = Array.from({ length: 60 }, (_, number) => {
    const email = number === 30 ? EMAIL : `${(number * 7919) % 100}.person@example.com`
    return post(live, '/beneficiaries', { email, first_name: 'Ada', last_name: number === 30 ? 'Lovelace' : 'Other' })
  })
  await Promise.all([...payoutsMade, ...saved])
  await live.stock(1, 'CARD-1')
  const { id } = await post(
    live,
    '/orders',
    { product_id: 1, denomination: 10, quantity: 1, email: EMAIL },
    'key-of-the-order',
  )
  expect(id).toBeNumber()
  await live.stop()
  return live.folder
}

describe('the erasure of a person', () => {
  test('leaves no byte in the folder, also where pages were split, and a server goes on beside it', async () => {
    const folder = await furnished(250)
    expect(tracesIn(folder)).not.toEqual([])
    await using live = await openLive(folder)
    const database = Database.openFile(databasePath(folder))
    const open = () => JSON.stringify({ email: EMAIL })
    const person = new Person(EMAIL, undefined)
    const found = await findRows(database.query, person, open)
    const erased = await database.write((tx) => erase(tx, person, found))
    rewriteFile(database.sqlite)
    database.leave()
    expect(erased).toMatchObject({ payouts: 250, orders: 1, idempotencyKeys: 85 })
    expect(tracesIn(folder)).toEqual([])
    const { id } = await post(live, '/payouts', payment('after', 'bob@example.com', 'Ross'))
    expect((await live.request(`/payouts/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  })

  test('leaves the thread to others while it searches, and a server refuses only writes while the database is held', async () => {
    await using live = await openLive()
    live.database.sqlite.run(
      `INSERT INTO events (event_id, client_id, type, record, data, created_at_ms)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
        SELECT 'evt_' || n, 1, 'ping', 'ping ' || n, '{}', 0 FROM numbers`,
    )
    await post(live, '/payouts', payment('one'))
    let [turns, isOver] = [0, false]
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    await live.database.whileHeld(async () => {
      setImmediate(count)
      const found = await findRows(live.database.query, new Person(EMAIL, undefined), () => undefined)
      isOver = true
      expect([found.payouts.length, found.events.length]).toEqual([1, 1])
      expect(turns).toBeGreaterThan(4) // 5,000 rows at a time
      const writing = live.request('/payouts', { method: 'POST', body: JSON.stringify(payment('two')) })
      expect((await live.request('/wallets')).status).toBe(200)
      const refused = await writing
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await refused.json()).toEqual(
        structured('ServiceUnavailableError', 'SERVICE_UNAVAILABLE', 'Try again later.'),
      )
    })
    expect((await live.request('/payouts?search=two')).headers.get('x-total-count')).toBe('0')
    await post(live, '/payouts', payment('two'))
  }, 30_000)

  test('a follower of PostgreSQL rewrites its copy without another temporary folder, too', async () => {
    const folder = freshFolder()
    await (await openLive(folder)).stop()
    using _copy = new FollowingCopy(databasePath(folder))
    const place = new SqliteDatabase(':memory:').query<{ temp_store_directory: string }, []>(
      'PRAGMA temp_store_directory',
    )
    expect(place.get()?.temp_store_directory).toBe(folder)
  })

  test('takes the stored responses about their events, also by the id of a beneficiary', async () => {
    const live = await openLive(freshFolder())
    const ada = await post(live, '/beneficiaries', { email: EMAIL, first_name: 'Ada', last_name: 'Lovelace' })
    const { id } = await post(live, '/payouts', {
      ...{ reference_id: 'bonus', wallet_id: 1, amount: 1, currency: 'USD' },
      beneficiary_id: ada.id,
    })
    const cancelled = await post(live, `/payouts/${id}/cancel`, {}, 'the cancellation')
    expect(cancelled.id).toBe(id)
    const [event] = (await (await live.request('/events')).json()) as { id: string }[]
    await post(live, `/events/${event?.id}/redeliver`, {}, 'the delivery')
    await live.stop()
    const database = Database.openFile(databasePath(live.folder))
    const person = new Person(EMAIL, ada.id)
    const found = await findRows(database.query, person, () => undefined)
    const erased = await database.write((tx) => erase(tx, person, found))
    rewriteFile(database.sqlite)
    database.leave()
    expect(erased).toMatchObject({ payouts: 1, idempotencyKeys: 2 })
    expect(tracesIn(live.folder)).toEqual([])
  })

  test('finds an address whatever JSON and other scripts make of it', async () => {
    for (const email of ['"ada \\"l\\""@example.com', 'ÀDÀ@example.com', 'Ada@EXAMPLE.com']) {
      const person = new Person(email, undefined)
      const json = JSON.stringify({ to: [email.toLowerCase()], [email]: 1 })
      expect(person.isNamedIn(`to ${email.toLowerCase()}`)).toBe(true)
      expect(person.withoutIn(JSON.parse(json))).toEqual({ to: ['erased'], erased: 1 })
      expect(json.toLowerCase()).toContain(person.part)
    }
    expect(new Person(EMAIL, undefined).isNamedIn('bob@example.com')).toBe(false)
  })
})
