import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { certificateIn } from '../certificate.ts'
import { run, start } from '../program.ts'
import { openReceiver, WEBHOOKS } from '../webhooks/webhooks.ts'
import { asOperator, Customer, type Operator } from './live.ts'

/** A data folder and a backup in the hands of other programs (contract C1): the sqlite3 of the system, and a newer SQLite. */

const sqlite3 = Bun.which('sqlite3')

/** Runs the shell of the system's SQLite, and returns what it prints. */
const shell = async (file: string, input: string): Promise<string> => {
  const child = Bun.spawn([sqlite3 ?? '', file], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

const databaseOf = ({ dataDir }: Operator): string => join(dataDir, 'scrip.sqlite')

const changed = (file: string, ...statements: string[]): void => {
  const sqlite = new Database(file)
  for (const statement of statements) sqlite.run(statement)
  sqlite.close()
}

/** Tables that are empty in a live folder of one machine once all events are delivered. */
const EMPTY = [
  'kept_pace',
  'kept_randomness',
  'moved_clock',
  'product_changes',
  'record_copy',
  'stock_taken',
  'webhook_queue',
]

/** The rows of tables of a file; by default, of all that SQLite has not made itself. */
const rowsIn = (file: string, which = "name NOT LIKE 'sqlite_%'"): Record<string, unknown[]> => {
  const sqlite = new Database(file, { readonly: true })
  const names = sqlite
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${which} ORDER BY name`)
    .all()
  const rows = Object.fromEntries(names.map(({ name }) => [name, sqlite.query(`SELECT * FROM "${name}"`).values()]))
  sqlite.close()
  return rows
}

/** A stopped folder with rows in every table that live mode fills, and a backup of it. */
const furnished = async (operator: Operator): Promise<string> => {
  const credentials = await operator.stocked()
  // A receiver may say anything.
  const { path: certificate, tls } = certificateIn(operator.folder)
  await using receiver = openReceiver(() => new Response('half\0and half\n\'" \u{1f381}'), tls)
  const flags = ['--mode', 'live', '--data-dir', operator.dataDir, '--port', '0', '--webhook-allow', '127.0.0.0/8']
  const server = await start(flags, { env: { NODE_EXTRA_CA_CERTS: certificate } })
  const customer = await Customer.of(server, credentials)
  const made = async (path: string, body: object, key = ''): Promise<{ id: string }> => {
    const headers = { authorization: `Bearer ${customer.pair.access_token}`, ...(key && { 'idempotency-key': key }) }
    const response = await server.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const record = (await response.json()) as { id: string }
    expect({ status: response.status, record }).toMatchObject({ status: 201 })
    return record
  }
  const hook = await made(WEBHOOKS, { name: 'mine', url: receiver.url, events: ['*'] })
  const saved = await made('/api/v1/beneficiaries', {
    email: "o'neil@example.com",
    first_name: 'Zoë',
    last_name: "O'Neil\n",
    metadata: { note: 'a "quoted" \\ text' },
  })
  const payment = { wallet_id: 1, amount: 5, currency: 'USD', description: 'two\r\nlines' }
  const paid = await made(
    '/api/v1/payouts',
    { ...payment, reference_id: 'p-1', beneficiary_id: saved.id },
    'pay-the-person-1',
  )
  const payee = { beneficiary_email: 'i@example.com', beneficiary_first_name: 'I', beneficiary_last_name: 'J' }
  await made('/api/v1/payouts', {
    ...payment,
    reference_id: 'p-2',
    ...payee,
    beneficiary_identifiers: { passport: 'X' },
  })
  await customer.order(1, 1)
  await customer.order(2, 1)
  await operator.json('payouts', 'advance', paid.id, '--to', 'processing')
  await operator.json('client', 'discount', 'acme', '1', '5')
  await receiver.until(3)
  await operator.run(['payouts', 'fail', 'nothing'])
  await operator.json('webhooks', 'disable', hook.id)
  await server.stop()
  await operator.json('vouchers', 'rekey')
  const backup = join(operator.folder, 'backup.sqlite')
  await operator.json('backup', backup)
  return backup
}

describe.skipIf(sqlite3 === null)("the system's sqlite3", () => {
  test('finds a folder and a backup sound, and loads a dump of either without losing a row', () =>
    asOperator(async (operator) => {
      const backup = await furnished(operator)
      for (const file of [databaseOf(operator), backup]) {
        expect(await shell(file, 'PRAGMA integrity_check; PRAGMA foreign_key_check;')).toBe('ok\n')
        const loaded = `${file}.loaded`
        expect(await shell(loaded, await shell(file, '.dump'))).toBe('')
        const rows = rowsIn(file)
        expect(rowsIn(loaded)).toEqual(rows)
        expect(Object.keys(rows).filter((name) => rows[name]?.length === 0)).toEqual(EMPTY)
        expect(await run(['verify', loaded])).toMatchObject({ exitCode: 0 })
      }
    }))
})

const statisticsIn = (file: string): string[] => Object.keys(rowsIn(file, "name LIKE 'sqlite_stat%'")).sort()

describe('statistics that another program has written', () => {
  /** 3.40 has ANALYZE; from 3.46 on the manual of SQLite advises this one at the end of each connection. */
  const WRITERS: [what: string, write: (file: string) => unknown][] = [
    ['ANALYZE of a new SQLite', (file) => changed(file, 'ANALYZE')],
    ['PRAGMA optimize of a new SQLite', (file) => changed(file, 'PRAGMA optimize = 0x10002')],
  ]
  if (sqlite3) WRITERS.push(["ANALYZE of the system's sqlite3", (file) => shell(file, 'ANALYZE')])

  test.each(WRITERS)('%s: do not count as data, which is sound as before', (_, write) =>
    asOperator(async (operator) => {
      const backup = await operator.backedUp()
      for (const file of [databaseOf(operator), backup]) {
        await write(file)
        expect(statisticsIn(file)).toContain('sqlite_stat1')
      }
      for (const args of [['verify'], ['verify', backup], ['serve', '--mode', 'live', '--check']])
        expect(await operator.run(args)).toMatchObject({ exitCode: 0 })
      const again = join(operator.folder, 'again.sqlite')
      expect(await operator.run(['backup', again])).toMatchObject({ exitCode: 0 })
      expect(readdirSync(operator.folder)).not.toContain('again.sqlite.unsound')
      for (const file of [backup, again])
        expect(await operator.run(['restore', file, '--force'])).toMatchObject({ exitCode: 0 })
      const wallets = await operator.json<{ amount: number }[]>('wallet', 'list')
      expect(wallets).toMatchObject([{ amount: 1000 }])
    }),
  )

  test('do not change how a server looks for its rows: it takes them out when it starts', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      changed(databaseOf(operator), 'ANALYZE')
      const server = await operator.serve()
      expect(statisticsIn(databaseOf(operator))).toEqual([])
      await server.stop()
    }))

  test('excuse no table, trigger or view of somebody else', () =>
    asOperator(async (operator) => {
      const backup = await operator.backedUp()
      for (const [statement, fault] of [
        ['CREATE TABLE stat1 (x)', 'the table "stat1" does not belong to Scrip'],
        ['CREATE TRIGGER later AFTER INSERT ON logins BEGIN SELECT 1; END', 'the trigger "later" does not belong'],
        ['CREATE VIEW v AS SELECT * FROM sqlite_stat1', 'the view "v" does not belong to Scrip'],
      ] as const) {
        const file = join(operator.folder, 'planted.sqlite')
        copyFileSync(backup, file)
        changed(file, 'ANALYZE', statement)
        const refused = await operator.run(['restore', file, '--force'])
        expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(fault) })
      }
    }))
})
