import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { describe, expect } from 'bun:test'
import { join } from 'node:path'
import { certificateIn } from '../certificate.ts'
import { longTest } from '../long-test.ts'
import { start } from '../program.ts'
import { openReceiver } from '../webhooks/webhooks.ts'
import { asOperator, Customer, codesOf, type Operator } from './live.ts'

/**
 * A row that breaks a rule of the schema, as a bad page or another program can leave it, is set aside (contract C4): lists show the
 * other rows, and of the bad one what can be read; its client goes on writing; the log and `scrip verify` tell.
 */

const NEVER = 9_000_000_000_000_000_000n
const LAST_TIME = '9999-12-31T23:59:59.999Z'

/** A value of the newest row of a table, and where it shows. */
interface Damage {
  /** `payouts.metadata`: the table and its column. */
  at: string
  value: SQLQueryBindings
  /** The row as a list of the API shows it. */
  listed?: readonly [path: string, shown: object]
  /** The record as its own operation shows it. */
  read?: readonly [path: string, shown: object]
  /** The command that lists the row, and what it shows. */
  command?: readonly [words: string, shown: object]
  logged?: string
  /** The fault that `verify` finds. A time has no rule. */
  found?: string
}

const METADATA = { metadata: {} }
const BROKEN = 'CHECK constraint failed in '

const DAMAGES: readonly Damage[] = [
  {
    at: 'beneficiaries.metadata',
    value: '{',
    listed: ['/beneficiaries', METADATA],
    command: ['beneficiary list', {}],
    logged: 'metadata of beneficiary',
    found: `${BROKEN}beneficiaries`,
  },
  {
    at: 'beneficiaries.created_at_ms',
    value: NEVER,
    listed: ['/beneficiaries', { created_at: LAST_TIME }],
    command: ['beneficiary list', { created_at: LAST_TIME }],
  },
  {
    at: 'beneficiaries.country',
    value: 'QQ',
    listed: ['/beneficiaries', { country: 'QQ' }],
    found: 'names a missing row of countries',
  },
  {
    at: 'payouts.metadata',
    value: '{',
    listed: ['/payouts', METADATA],
    read: ['/payouts/', METADATA],
    command: ['payouts list', {}],
    logged: 'metadata of payout',
    found: `${BROKEN}payouts`,
  },
  { at: 'payouts.metadata', value: '[]', listed: ['/payouts', METADATA] },
  {
    at: 'payouts.beneficiary_identifiers',
    value: '{',
    listed: ['/payouts', {}],
    command: ['payouts list', {}],
    found: `${BROKEN}payouts`,
  },
  {
    at: 'payouts.status',
    value: 'nowhere',
    listed: ['/payouts', { status: 'nowhere' }],
    read: ['/payouts/', { status: 'nowhere' }],
    command: ['payouts list', { status: 'nowhere' }],
    found: `${BROKEN}payouts`,
  },
  {
    at: 'payouts.currency_id',
    value: 99_999,
    listed: ['/payouts', { currency: 'XXX', amount: 10_000 }],
    command: ['payouts list', { currency: 'XXX' }],
    logged: 'currency 99999',
    found: 'names a missing row of currencies',
  },
  {
    at: 'payouts.wallet_id',
    value: 99_999,
    listed: ['/payouts', { wallet_id: 99_999 }],
    command: ['payouts list', {}],
    found: 'names a missing row of wallets',
  },
  {
    at: 'payouts.created_at_ms',
    value: NEVER,
    listed: ['/payouts', { created_at: LAST_TIME }],
    command: ['payouts list', { created_at: LAST_TIME }],
  },
  { at: 'payout_events.created_at_ms', value: NEVER },
  {
    at: 'orders.charges',
    value: '{',
    listed: ['/orders', { status: 'DELIVERED', charges: {} }],
    read: ['/orders/', { status: 'DELIVERED', charges: {} }],
    command: ['orders list', { status: 'DELIVERED' }],
    logged: 'charges of order',
    found: `${BROKEN}orders`,
  },
  { at: 'orders.charges', value: '{}', listed: ['/orders', { charges: {} }], read: ['/orders/', { charges: {} }] },
  {
    at: 'orders.status',
    value: 'NOWHERE',
    listed: ['/orders', { status: 'NOWHERE' }],
    command: ['orders list', { status: 'NOWHERE' }],
    found: `${BROKEN}orders`,
  },
  {
    at: 'orders.currency_id',
    value: 99_999,
    listed: ['/orders', { currency_code: 'XXX' }],
    command: ['orders list', { currency: 'XXX' }],
    found: 'names a missing row of currencies',
  },
  {
    at: 'orders.wallet_id',
    value: 99_999,
    listed: ['/orders', { wallet_id: 99_999 }],
    command: ['orders list', { paid_currency: 'XXX' }],
    found: 'names a missing row of wallets',
  },
  {
    at: 'orders.placed_at_ms',
    value: NEVER,
    listed: ['/orders', { placed_at: LAST_TIME }],
    command: ['orders list', { placed_at: LAST_TIME }],
  },
  { at: 'vouchers.sealed', value: Buffer.from('nothing'), logged: 'code of voucher', found: 'cannot be decrypted' },
  { at: 'vouchers.expires_at_ms', value: NEVER },
  { at: 'voucher_stock.sealed', value: Buffer.from('nothing'), found: 'cannot be decrypted' },
  {
    at: 'events.data',
    value: '{',
    listed: ['/events', { data: {} }],
    logged: 'data of event',
    found: `${BROKEN}events`,
  },
  { at: 'events.type', value: 'none.such', listed: ['/events', { type: 'none.such' }] },
  { at: 'events.created_at_ms', value: NEVER, listed: ['/events', { created_at: LAST_TIME }] },
  {
    at: 'webhooks.events',
    value: '[',
    listed: ['/webhooks', { events: [] }],
    command: ['webhooks list', { events: [] }],
    logged: 'events of a webhook',
    found: `${BROKEN}webhooks`,
  },
  { at: 'webhooks.events', value: '{}', listed: ['/webhooks', { events: [] }] },
  { at: 'webhooks.signing', value: 'none', listed: ['/webhooks', { signing: 'none' }], found: `${BROKEN}webhooks` },
  { at: 'webhooks.url', value: 'nowhere', listed: ['/webhooks', { url: 'nowhere' }] },
  { at: 'webhooks.secret', value: Buffer.from('nothing'), listed: ['/webhooks', {}], found: 'cannot be decrypted' },
  {
    at: 'webhooks.created_at_ms',
    value: NEVER,
    listed: ['/webhooks', { created_at: LAST_TIME }],
    command: ['webhooks list', { created_at: LAST_TIME }],
  },
  {
    at: 'transactions.status',
    value: 'NOWHERE',
    listed: ['/transactions', { status: 'NOWHERE' }],
    found: `${BROKEN}transactions`,
  },
  {
    at: 'transactions.created_at_ms',
    value: NEVER,
    listed: ['/transactions', { created_at: LAST_TIME }],
    command: ['transactions', { created_at: LAST_TIME }],
  },
  {
    at: 'transactions.wallet_id',
    value: 99_999,
    listed: ['/transactions', { wallet_id: 99_999 }],
    command: ['transactions', { currency: 'XXX' }],
    found: 'names a missing row of wallets',
  },
  {
    at: 'wallets.currency_id',
    value: 99_999,
    listed: ['/wallets', { currency_code: 'XXX' }],
    command: ['wallet list', { currency: 'XXX' }],
    found: 'names a missing row of currencies',
  },
  {
    at: 'wallets.type',
    value: 'NONE',
    listed: ['/wallets', { type: 'NONE' }],
    command: ['wallet list', { type: 'NONE' }],
    found: `${BROKEN}wallets`,
  },
  { at: 'wallets.created_at_ms', value: NEVER, listed: ['/wallets', { created_at: LAST_TIME }] },
  { at: 'audit.after', value: '{', command: ['audit list', { after: '{' }], found: `${BROKEN}audit` },
]

const LISTS = ['/beneficiaries', '/payouts', '/orders', '/events', '/webhooks', '/transactions', '/wallets']

/** Another program on the file, which checks nothing, and takes the triggers away while it writes. */
class Tamperer implements Disposable {
  readonly #sqlite: Database

  constructor(operator: Operator) {
    this.#sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'), { safeIntegers: true })
    for (const pragma of ['busy_timeout = 10000', 'ignore_check_constraints = ON', 'foreign_keys = OFF'])
      this.#sqlite.run(`PRAGMA ${pragma}`)
  }

  run(sql: string, ...values: SQLQueryBindings[]): void {
    const triggers = this.#sqlite
      .query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      .all()
    this.#sqlite
      .transaction(() => {
        for (const { name } of triggers) this.#sqlite.run(`DROP TRIGGER ${name}`)
        this.#sqlite.run(sql, values)
        for (const each of triggers) this.#sqlite.run(each.sql)
      })
      .immediate()
  }

  /** Breaks a value of the newest row. Returns its id, and mends it at the end. */
  damage({ at, value }: Damage): Disposable & { id: string } {
    const [table = '', column = ''] = at.split('.')
    const newest = `SELECT id, ${column} AS sound FROM ${table} ORDER BY id DESC LIMIT 1`
    const row = this.#sqlite.query<{ id: string | bigint; sound: SQLQueryBindings }, []>(newest).get()
    if (!row) throw new Error(`${table} has no row`)
    const put = (put: SQLQueryBindings) => this.run(`UPDATE ${table} SET ${column} = ? WHERE id = ?`, put, row.id)
    put(value)
    return { id: String(row.id), [Symbol.dispose]: () => put(row.sound) }
  }

  [Symbol.dispose](): void {
    this.#sqlite.close()
  }
}

describe('One damaged row, beside a live server', () => {
  longTest('hides no other row, and stops nobody from writing', () =>
    asOperator(async (operator) => {
      const credentials = await operator.stocked()
      const codes = DAMAGES.map((_, index) => `MORE-${index}`)
      await operator.json('vouchers', 'import', operator.file('more.jsonl', codesOf(1, ...codes)))
      await operator.json('wallet', 'fund', '1', '100000')
      await operator.json('wallet', 'add', 'acme', 'EUR')
      const { path, tls } = certificateIn(operator.folder)
      await using receiver = openReceiver(undefined, tls)
      const flags = ['--mode', 'live', '--data-dir', operator.dataDir, '--port', '0', '--rate-limit', 'off']
      await using server = await start([...flags, '--webhook-allow', '127.0.0.0/8'], {
        env: { NODE_EXTRA_CA_CERTS: path },
      })
      const customer = await Customer.of(server, credentials)
      for (const name of ['sound', 'other'])
        await customer.post('/webhooks', { name, url: `${receiver.url}/${name}`, events: ['*'] })
      const ada = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', country: 'GB' }
      await customer.post('/beneficiaries', { ...ada, email: 'bob@example.com' })
      await customer.post('/beneficiaries', ada)
      await customer.payout('first')
      await customer.order(1, 1)
      using tamperer = new Tamperer(operator)
      for (const [index, damage] of DAMAGES.entries()) {
        const { at, listed, read, command, logged, found } = damage
        const place = `${at} = ${damage.value}`
        const idsOf = async (path: string): Promise<unknown[]> => {
          const response = await customer.get(`${path}?limit=100`)
          expect({ place, path, status: response.status }).toEqual({ place, path, status: 200 })
          return ((await response.json()) as { id: unknown }[]).map(({ id }) => String(id))
        }
        const before = await Promise.all(LISTS.map(idsOf))
        using row = tamperer.damage(damage)
        const logStart = server.log().length

        const after = await Promise.all(LISTS.map(idsOf))
        expect({ place, after: after.map((ids) => ids.sort()) }).toEqual({
          place,
          after: before.map((ids) => ids.sort()),
        })
        if (listed) {
          const rows = await customer.read<Record<string, unknown>[]>(`${listed[0]}?limit=100`)
          // The API has other ids of events than the table. The newest one comes first.
          const shown = listed[0] === '/events' ? rows[0] : rows.find((each) => String(each.id) === row.id)
          expect({ place, shown }).toMatchObject({ place, shown: listed[1] })
        }
        if (read) expect(await customer.read(`${read[0]}${row.id}`)).toMatchObject(read[1])
        const order = await customer.order(1, 1)
        const { id } = await customer.payout(`beside ${index}`)
        expect((await customer.get(`/orders/${order.id}/vouchers`)).status).toBe(200)
        if (command) {
          const [words, shown] = command
          const rows = await operator.json<Record<string, unknown>[]>(...words.split(' '), '--limit', '1000')
          expect({ place, rows: rows.filter((each) => String(each.id) === row.id) }).toMatchObject({
            place,
            rows: [shown],
          })
        }
        if (found !== undefined) {
          const { exitCode, stdout } = await operator.run(['verify'])
          expect({ place, exitCode, stdout }).toEqual({ place, exitCode: 1, stdout: expect.stringContaining(found) })
        }
        while (!receiver.received.some(({ path, event: { data } }) => path === '/hooks/sound' && data.id === id))
          await receiver.until(receiver.received.length + 1)
        if (logged !== undefined) expect(server.log().slice(logStart)).toContain(logged)
      }
    }),
  )
})
