import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { bearer, type Ended, run } from '../program.ts'
import { forceFile } from './forced.ts'
import { asOperator, type Credentials, Customer, Operator, operatorTest } from './live.ts'

/** Backups, and the proof that books balance (contract C1, C3, C11 to C13). */

const databaseOf = (operator: Operator): string => join(operator.dataDir, 'scrip.sqlite')

/** Another folder beside this one, with the voucher key that the operator kept. */
const elsewhere = (operator: Operator): Operator => {
  const other = new Operator(operator.folder, join(operator.folder, 'other'))
  mkdirSync(other.dataDir)
  copyFileSync(join(operator.dataDir, 'voucher.key'), join(other.dataDir, 'voucher.key'))
  return other
}

describe('beside a server that hangs', () => {
  test(
    'a backup is good, and says within seconds that its row is missing',
    () =>
      asOperator(async (operator) => {
        await operator.stocked()
        const server = await operator.serve()
        server.signal('SIGSTOP')
        const backup = join(operator.folder, 'backup.sqlite')
        const made = await operator.run(['backup', backup, '--json'])
        expect({ ...made, stdout: JSON.parse(made.stdout) }).toEqual({
          exitCode: 0,
          stdout: { file: backup, bytes: statSync(backup).size },
          stderr: 'The copy is good, but has no row in the audit: the server of the folder is not responding.\n',
        })
        expect(await run(['verify', backup])).toMatchObject({ exitCode: 0 })
        const refused = await operator.run(['backup', backup])
        expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('already exists') })
        server.signal('SIGCONT')
        await server.stop()
        expect(await operator.json('wallet', 'fund', '1', '5')).toMatchObject({ amount: 1005 })
      }),
    60_000,
  )
})

describe('a backup', () => {
  operatorTest('during operation contains acknowledged writes, is valid, and can be restored', async (operator) => {
    const { server, customer, credentials } = await operator.trading()
    const order = await customer.order(1, 2)
    const payout = await customer.payout('p-1')
    const second = await Customer.of(server, await operator.json<Credentials>('client', 'add', 'second'))
    const backup = join(operator.folder, 'backup.sqlite')
    expect(await operator.json('backup', backup)).toEqual({ file: backup, bytes: statSync(backup).size })
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    expect(readdirSync(operator.folder).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite'])
    await customer.payout('p-2')
    expect(await run(['verify', backup])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(backup).includes(readFileSync(join(operator.dataDir, 'voucher.key')))).toBe(false)

    const other = elsewhere(operator)
    copyFileSync(join(operator.dataDir, 'signing.key'), join(other.dataDir, 'signing.key'))
    expect(await other.run(['restore', backup])).toMatchObject({ exitCode: 0 })
    const restored = await other.serve()
    // Tokens from before the backup are invalid for all clients, whatever key signed them, so that a logout still counts.
    for (const { pair } of [customer, second])
      expect((await restored.request('/api/v1/wallets', bearer(pair))).status).toBe(401)
    const back = await Customer.of(restored, credentials)
    expect(await back.read(`/orders/${order.id}`)).toEqual({ ...order })
    expect(await back.read<object[]>('/payouts')).toMatchObject([{ id: payout.id }])
    await Promise.all([server.stop(), restored.stop()])
  })

  operatorTest('does not overwrite files', async (operator) => {
    await operator.json('client', 'add', 'acme')
    const file = operator.file('precious', 'mine')
    const { exitCode, stderr } = await operator.run(['backup', file])
    expect(exitCode).toBe(1)
    expect(stderr).toContain(file)
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(await operator.run(['backup', '/no/such/folder/file'])).toMatchObject({ exitCode: 4 })
  })

  operatorTest('reminds people, but not scripts, that it has no keys', async (operator) => {
    await operator.json('client', 'add', 'acme')
    expect((await operator.run(['backup', join(operator.folder, 'one')])).stderr).toContain('voucher.key')
    await operator.json('backup', join(operator.folder, 'two'))
  })
})

describe('restore', () => {
  operatorTest('refuses a folder with data unless forced, and one in use', async (operator) => {
    const backup = await operator.backedUp()
    await operator.json('wallet', 'fund', '1', '5')
    const amount = async () => (await operator.json<{ amount: number }[]>('wallet', 'list'))[0]?.amount
    const refused = await operator.run(['restore', backup])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('--force')
    const server = await operator.serve()
    const served = await operator.run(['restore', backup, '--force'])
    expect(served.exitCode).toBe(4)
    expect(served.stderr).toContain('Stop it first')
    await server.stop()
    expect(await amount()).toBe(1005)
    chmodSync(backup, 0o644)
    await operator.json('restore', backup, '--force')
    expect(await amount()).toBe(1000)
    expect(statSync(databaseOf(operator)).mode & 0o777).toBe(0o600)
    expect(readdirSync(operator.dataDir).filter((name) => /draft|\.new/.test(name))).toEqual([])
  })

  operatorTest('needs the voucher key of the backup', async (operator) => {
    const backup = await operator.backedUp()
    const other = new Operator(operator.folder, join(operator.folder, 'other'))
    for (const env of [{ SCRIP_VOUCHER_KEY: 'f'.repeat(64) }, {}]) {
      const { exitCode, stderr } = await other.run(['restore', backup], { env })
      expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining('voucher.key') })
      expect(existsSync(databaseOf(other))).toBe(false)
    }
  })
})

/** Changes of a sound database that each break one promise, and the message of verify. */
const DAMAGES: [change: string, fault: string][] = [
  ['UPDATE journal_lines SET amount_minor = amount_minor + 7 WHERE id = 2', 'ledger entry 1 sums to 7 in currency'],
  ['UPDATE wallets SET amount_minor = amount_minor + 5 WHERE id = 1', 'wallet 1 holds '],
  ['UPDATE wallets SET reserved_minor = reserved_minor + 5 WHERE id = 1', 'wallet 1 reserves '],
  ['UPDATE transactions SET balance_after_minor = 1 WHERE id = 2', 'transaction 2 of wallet 1 leaves 1, not '],
  ['UPDATE transactions SET amount_minor = amount_minor + 1 WHERE id = 1', 'transaction 1 says 100001, '],
  ['DELETE FROM transactions WHERE id = 1', 'ledger entry 1 moves wallet 1 in 0 transactions'],
  ['UPDATE orders SET payable_minor = payable_minor + 1 WHERE id = 1', 'order 1 is not what transaction '],
  ['UPDATE orders SET delivered_quantity = 1 WHERE id = 1', 'order 1 is DELIVERED with 1 of 2 delivered'],
  ['DELETE FROM vouchers WHERE id = 1', 'order 1 has delivered 2 and holds 1 vouchers'],
  [
    'UPDATE vouchers SET sealed = (SELECT sealed FROM vouchers WHERE id = 1) WHERE id = 2',
    'voucher 2 of order 1 is the code of voucher 1',
  ],
  ['UPDATE voucher_stock SET order_id = NULL WHERE id = 1', 'which order none took'],
  ['UPDATE voucher_stock SET order_id = 1 WHERE id = 3', 'order 1 of 2 holds 3 codes of the stock'],
  [
    "UPDATE payouts SET paid_minor = paid_minor + 1 WHERE reference_id = 'open'",
    ' was paid in 1 transactions of 10150, not in one of 10151',
  ],
  ["UPDATE payouts SET status = 'failed', failed_at_ms = 1 WHERE reference_id = 'done'", ' is failed and gave 0 back'],
  [
    "UPDATE payouts SET completed_at_ms = NULL WHERE reference_id = 'done'",
    ' is completed, which its times do not tell',
  ],
  [
    "UPDATE payouts SET status = 'queued', queued_at_ms = 1 WHERE reference_id = 'open'",
    ' is queued, its last event led to created',
  ],
  [
    "UPDATE payout_events SET from_status = 'settling' WHERE event_type = 'queued'",
    ' starts from settling, not from created',
  ],
  ['UPDATE beneficiaries SET total_payouts = 4', ' has 4 payouts of 10000, not 1 of 10000'],
  ['UPDATE wallets SET is_default = 0', 'client 1 has no default wallet'],
  ['UPDATE orders SET transaction_id = 999 WHERE id = 1', 'of orders names a missing row of transactions'],
  ['UPDATE transactions SET client_id = 99 WHERE id = 1', 'transaction 1 is of client 99, its wallet of client 1'],
  ['UPDATE wallets SET is_low = 1 WHERE id = 1', 'wallet 1 is low with '],
  ["UPDATE payout_counts SET n = n + 1 WHERE status = 'created'", ' differ by 1, 0'],
  [
    "INSERT INTO webhook_queue VALUES (1, 'whk_1', 1, 'order 1', 0, NULL, 0)",
    'delivery 1 of webhook whk_1 waits for nothing',
  ],
  ['UPDATE orders SET refunded_minor = 1 WHERE id = 1', 'order 1 has refunded 1, its transactions say 0'],
  [
    "INSERT INTO sqlite_sequence VALUES ('webhook_queue', 9999999999)",
    'the ids of webhook_queue have reached 9999999999, and paths take them up to 2147483647',
  ],
  ['UPDATE clients SET id = 2147483648', 'the ids of clients have reached 2147483648, '],
  ['CREATE VIEW planted AS SELECT 1', 'the view "planted" does not belong to Scrip'],
  ["UPDATE audit SET user = 'eve' WHERE id = 2", 'row 2 of the audit was changed'],
  ["UPDATE payouts SET due_at_ms = 1 WHERE reference_id = 'open'", ' was due at 1970-01-01T00:00:00Z'],
]

/** A folder with an order, a payout that is open, and one that was completed. */
const withTrade = (work: (operator: Operator) => Promise<void>): Promise<void> =>
  asOperator(async (operator) => {
    const server = await operator.stocked().then(async (credentials) => {
      const running = await operator.serve()
      const customer = await Customer.of(running, credentials)
      await customer.order(1, 2)
      await customer.payout('open')
      const body = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
      const ada = (await (await customer.post('/beneficiaries', body)).json()) as { id: string }
      const { id } = await customer.payout('done', ada.id)
      await operator.json('payouts', 'advance', id, '--to', 'completed')
      return running
    })
    await server.stop()
    await work(operator)
  })

describe('verify', () => {
  test("accepts the program's data, and names the first modified row of each kind", () =>
    withTrade(async (operator) => {
      const sound = readFileSync(databaseOf(operator))
      const checks = await operator.json<{ check: string; faults: number }[]>('verify')
      expect(checks.filter(({ faults }) => faults > 0)).toEqual([])
      const unbroken = new Set(checks.map(({ check }) => check))
      const check = async ([change, fault]: (typeof DAMAGES)[number], index: number): Promise<void> => {
        const file = join(operator.folder, `damaged-${index}.sqlite`)
        writeFileSync(file, sound)
        forceFile(file, change)
        const { exitCode, stdout, stderr }: Ended = await run(['verify', file, '--json'])
        const results = JSON.parse(stdout) as { check: string; first: string | null }[]
        const broken = results.filter(({ first }) => first !== null)
        expect({ change, exitCode }).toEqual({ change, exitCode: 1 })
        expect(broken.map(({ first }) => first).join('\n')).toContain(fault)
        for (const { check } of broken) unbroken.delete(check)
        expect(stderr).toContain('found something wrong')
      }
      await Promise.all(DAMAGES.map(check))
      // Other tests break these.
      expect([...unbroken]).toEqual(['the file is whole', 'codes and secrets can be decrypted'])
    }))
})
