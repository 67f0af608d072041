import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { closeSync, copyFileSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { POSTGRES } from '../postgres.ts'
import { run } from '../program.ts'
import { serve } from '../rigs/server.ts'
import { asOperator, type Credentials, Customer, type Operator, operatorTest } from './live.ts'
import { LIVE, withPostgres } from './postgres.ts'

/** A database that turns out damaged is not served as if it were whole (contract C4). */

const fileOf = ({ dataDir }: Pick<Operator, 'dataDir'>): string => join(dataDir, 'scrip.sqlite')

/** Zeroes the pages of a table, as a bad disk does: those below its root, or the root of a small one. */
const damageTable = (operator: Pick<Operator, 'dataDir'>, table: string): void => {
  const path = fileOf(operator)
  using sqlite = new Database(path)
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const { size = 0 } = sqlite.query<{ size: number }, []>('SELECT page_size AS size FROM pragma_page_size').get() ?? {}
  const pages = sqlite
    .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'")
    .all(table)
  expect(pages).not.toEqual([])
  const file = openSync(path, 'r+')
  for (const { pageno } of pages) writeSync(file, Buffer.alloc(size), 0, size, (pageno - 1) * size)
  closeSync(file)
}

const PERSON = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
/** Enough for several pages. */
const NOTED = { ...PERSON, metadata: { note: 'x'.repeat(2_000) } }
const SAVED = 40
const LOOK_MS = 20

describe('a live server whose database turns out damaged', () => {
  operatorTest('is not ready, refuses writes, and answers the reads that do not meet the damage', async (operator) => {
    const trading = await operator.trading('--rate-limit', 'off')
    for (let count = 0; count < SAVED; count++) await trading.customer.post('/beneficiaries', NOTED)
    expect(await trading.server.stop()).toMatchObject({ exitCode: 0 })
    damageTable(operator, 'beneficiaries')

    const server = await operator.serve('--metrics-port', '0', '--log-format', 'json')
    const customer = await Customer.of(server, trading.credentials)
    const metrics = async (): Promise<string> => {
      const url = /"url":"([^"]+\/metrics)"/.exec(server.log())?.[1] ?? ''
      return await (await fetch(url)).text()
    }
    const statusOf = async (path: string) => (await server.request(path)).status
    expect(await statusOf('/readyz')).toBe(200)
    expect(await metrics()).toContain('\nscrip_database_damaged 0\n')

    const met = await customer.get('/beneficiaries')
    expect([met.status, await met.json()]).toEqual([
      500,
      { error: 'InternalServerError', message: 'Failed to retrieve beneficiaries' },
    ])
    await server.logged('run scrip verify')
    expect([await statusOf('/readyz'), await statusOf('/livez')]).toEqual([503, 200])
    for (const path of ['/wallets', '/payouts', '/orders', '/transactions', '/countries/105'])
      expect([path, (await customer.get(path)).status]).toEqual([path, 200])
    const body = { reference_id: 'one', wallet_id: 1, amount: 1, currency: 'USD', beneficiary_email: 'ada@example.com' }
    const writes = [
      ['/payouts', { ...body, beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' }],
      ['/beneficiaries', PERSON],
      ['/orders', { product_id: 1, denomination: 10, quantity: 1 }],
    ] as const
    for (const [path, sent] of writes) {
      const response = await customer.post(path, sent)
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '5'])
    }
    const refused = await operator.run(['wallet', 'fund', '1', '5'])
    expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
    expect(refused.stderr).toContain(
      'is damaged\nKeep the file, and restore the last backup that scrip verify finds sound.\n',
    )
    expect(await metrics()).toContain('\nscrip_database_damaged 1\n')
    expect(await metrics()).toContain('\nscrip_build_info{')
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 1 })
    const { stderr } = await server.stop()
    expect(stderr.match(/scrip verify/g)).toHaveLength(1)
    expect(purchasesIn(operator)).toEqual([]) // nothing was written
  })

  test('is not started if the start meets the damage: exit 4, in words', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      damageTable(operator, 'migrations')
      const refused = await operator.run(['serve', '--mode', 'live', '--port', '0'])
      expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
      expect(refused.stderr).toContain(`${operator.dataDir} is damaged\nKeep the file`)
    }))

  test('is told at its start of a log that is older than the database beside it', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      const copy = join(operator.folder, 'copy.sqlite')
      await operator.json('backup', copy)
      await customer.order(1, 1)
      await server.kill()
      expect(statSync(`${fileOf(operator)}-wal`).size).toBeGreaterThan(0)
      const again = await operator.serve()
      await operator.json('wallet', 'fund', '1', '5')
      await again.kill()
      expect(again.log()).not.toContain('newer than the log')
      copyFileSync(copy, fileOf(operator))
      // The start may meet damage: chance decides on the mixture.
      const { stderr } = await run(['serve', '--mode', 'live', '--port', '0', '--data-dir', operator.dataDir], {
        through: ['timeout', '--preserve-status', '-s', 'TERM', '2'],
      })
      expect(stderr).toContain('the database is newer than the log beside it')
      expect(stderr).toContain(`log=${fileOf(operator)}-wal`)
    }))
})

const purchasesIn = (operator: Operator): unknown[] => {
  using sqlite = new Database(fileOf(operator), { readonly: true })
  return sqlite.query('SELECT id FROM payouts UNION ALL SELECT id FROM orders').all()
}

describe.skipIf(POSTGRES === undefined)(
  'a server of an installation in PostgreSQL whose copy turns out damaged',
  () => {
    const installations = withPostgres()

    test('frees the lease, sets the copy aside, and serves again from a new one', async () => {
      const [env, dataDir] = [await installations.newInstallation(), installations.newFolder()]
      const flags = [...LIVE, '--data-dir', dataDir]
      const first = await serve(flags, { env })
      const added = await run(['client', 'add', 'acme', '--json', '--data-dir', dataDir], { env })
      const credentials = JSON.parse(added.stdout) as Credentials
      const before = await Customer.of(first, credentials)
      for (let count = 0; count < SAVED; count++) await before.post('/beneficiaries', NOTED)
      expect(await first.stop()).toMatchObject({ exitCode: 0 })
      damageTable({ dataDir }, 'beneficiaries')

      await using server = await serve(flags, { env })
      const customer = await Customer.of(server, credentials)
      const met = await customer.get('/beneficiaries')
      expect([500, 503]).toContain(met.status) // 503 once the lease is free
      await server.logged('the copy is set aside, and pulled again')
      while ((await server.request('/readyz')).status !== 200) await Bun.sleep(LOOK_MS)
      const after = await customer.get('/beneficiaries')
      expect([after.status, after.headers.get('x-total-count')]).toEqual([200, String(SAVED)])
      expect((await customer.post('/beneficiaries', NOTED)).status).toBe(201)
    })
  },
)
