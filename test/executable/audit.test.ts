import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { login, type Place, run } from '../program.ts'
import { force } from './forced.ts'
import { asOperator, Customer, type Operator, operatorTest, stockedTest } from './live.ts'

/** The audit (contract C17): acts of operators, and refused ones. */

interface Row {
  id: number
  at: string
  user: string
  command: string
  subject: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  outcome: 'done' | 'refused'
  address: string | null
  hash: string
  previous_hash: string
}

/** In the order of time. */
const auditOf = async (operator: Operator, ...args: string[]) =>
  (await operator.json<Row[]>('audit', 'list', ...args)).reverse()
const lastOf = async (operator: Operator): Promise<Row | undefined> => (await auditOf(operator, '--limit', '1'))[0]

const FIRST = '0'.repeat(64)
const FACTS = [
  'id',
  'at_ms',
  'user',
  'command',
  'subject',
  'before',
  'after',
  'outcome',
  'address',
  'act',
  'request_sha256',
]
type StoredRow = Record<string, string | number | null>

const storedRows = ({ dataDir }: Operator): StoredRow[] => {
  using sqlite = new Database(join(dataDir, 'scrip.sqlite'), { readonly: true })
  return sqlite.query<StoredRow, []>('SELECT * FROM audit ORDER BY id').all()
}

/** The report of verify; its exit code is checked. */
const faultsOf = async (operator: Operator): Promise<string[]> => {
  const { exitCode, stdout } = await operator.run(['verify', '--json'])
  const broken = (JSON.parse(stdout) as { faults: number; first: string }[]).filter(({ faults }) => faults > 0)
  expect(exitCode).toBe(broken.length > 0 ? 1 : 0)
  return broken.map(({ first }) => first)
}

describe('scrip audit list', () => {
  stockedTest('shows what one person did, by sudo too, and one act or the acts of a noun', async (operator) => {
    await operator.json('client', 'limits', 'acme', '--max-quantity', '5')
    await operator.json('client', 'disable', 'acme')
    const sudo = { env: { SUDO_UID: '12345' } }
    expect(await operator.run(['wallet', 'fund', '1', '5'], sudo)).toMatchObject({ exitCode: 0 })
    const commandsOf = async (...args: string[]) =>
      (await operator.json<{ command: string }[]>('audit', 'list', ...args)).map(({ command }) => command)
    const all = await commandsOf()
    const [{ user = '' } = {}] = await operator.json<{ user: string }[]>('audit', 'list')
    const [process = '', person = ''] = user.split(' by ')
    expect(user).toBe(`${process} by 12345`)
    expect(await commandsOf('--user', person)).toEqual(['wallet fund'])
    expect(await commandsOf('--user', process)).toEqual(all)
    expect(await commandsOf('--user', process.slice(1))).toEqual([])
    expect(await commandsOf('--command', 'client limits')).toEqual(['client limits'])
    expect(await commandsOf('--command', 'client')).toEqual(['client disable', 'client limits', 'client add'])
    expect(await commandsOf('--command', 'cli')).toEqual([])
    expect(await commandsOf('--command', 'wallet fund', '--user', person, '--limit', '1')).toEqual(['wallet fund'])
  })

  stockedTest('has who did an act, what it was before and after, and no secret', async (operator, credentials) => {
    const { password } = await operator.json<{ password: string }>('client', 'rotate', 'acme')
    await operator.json('client', 'limits', 'acme', '--max-quantity', '5')
    await operator.json('wallet', 'adjust', '1', '-12.50', '--remarks', 'Twice')
    const server = await operator.serve()
    const customer = await Customer.of(server, { ...credentials, password })
    const order = await customer.order(2, 1)
    const payout = await customer.payout('p-1')
    await server.stop()
    await operator.json('orders', 'deliver', String(order.id))
    await operator.json('orders', 'refund', String(order.id))
    await operator.json('payouts', 'advance', payout.id)
    await operator.json('payouts', 'cancel', payout.id)
    const rows = await auditOf(operator)
    const row = (command: string) => rows.find((one) => one.command === command)
    expect(row('client limits')).toMatchObject({
      subject: 'acme',
      before: { max_quantity: null },
      after: { max_quantity: 5 },
      address: null,
    })
    expect(row('wallet adjust')).toMatchObject({
      subject: '1 -12.50',
      before: { amount: 1000 },
      after: { amount: 987.5 },
    })
    expect(row('orders refund')).toMatchObject({ before: { refunded_amount: 0 }, after: { status: 'DELIVERED' } })
    expect(row('payouts cancel')).toMatchObject({
      subject: payout.id,
      before: { status: 'queued' },
      after: { status: 'cancelled' },
    })
    expect(row('catalog import')).toMatchObject({ before: { products: 0 }, after: { products: 2 } })
    for (const { user } of rows) expect(user).toMatch(/\S/)
    const text = JSON.stringify(rows)
    for (const secret of [password, credentials.password, 'BOX-1', 'ada@example.com', 'Lovelace']) {
      expect(text).not.toContain(secret)
    }
  })

  test('names the user of the process as the system knows it, and whoever became that user by sudo', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      const nameOf = (userId: number) =>
        Bun.spawnSync(['id', '-un', String(userId)])
          .stdout.toString()
          .trim()
      const self = nameOf(process.getuid?.() ?? 0)
      const userAfter = async (place: Place) => {
        expect(await operator.run(['wallet', 'fund', '1', '1'], place)).toMatchObject({ exitCode: 0 })
        return (await lastOf(operator))?.user
      }
      expect(await userAfter({ env: { USER: 'mallory', LOGNAME: 'mallory', SUDO_USER: 'mallory' } })).toBe(self)
      expect(await userAfter({ through: ['env', '-u', 'USER', '-u', 'LOGNAME'] })).toBe(self)
      expect(await userAfter({ env: { SUDO_UID: '1', SUDO_USER: 'mallory' } })).toBe(`${self} by ${nameOf(1)}`)
      expect(await userAfter({ env: { SUDO_UID: '54321' } })).toBe(`${self} by 54321`)
      expect(await userAfter({ env: { SUDO_UID: 'mallory' } })).toBe(self)
    }))

  stockedTest('has what was refused, with the reason, and without an effect', async (operator) => {
    const before = (await auditOf(operator)).length
    expect(await operator.run(['wallet', 'adjust', '1', '-5000'])).toMatchObject({ exitCode: 1 })
    expect(await operator.run(['client', 'disable', 'ada@example.com'])).toMatchObject({ exitCode: 1 })
    expect(await operator.run(['orders', 'refund', '7'])).toMatchObject({ exitCode: 1 })
    expect((await auditOf(operator)).slice(before)).toMatchObject([
      {
        command: 'wallet adjust',
        subject: '1 -5000',
        outcome: 'refused',
        before: null,
        after: { reason: 'insufficient wallet balance' },
      },
      {
        command: 'client disable',
        subject: '[e-mail]',
        outcome: 'refused',
        after: { reason: 'there is no client [e-mail]' },
      },
      { command: 'orders refund', outcome: 'refused' },
    ])
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
    expect(await auditOf(operator, '--status', 'refused', '--limit', '2')).toHaveLength(2)
  })

  stockedTest('has one row for the failed logins of a name, an address and a minute', async (operator) => {
    const server = await operator.serve()
    for (let count = 0; count < 3; count++) await login(server, 'acme', 'wrong')
    await login(server, 'nobody', 'wrong')
    await server.stop()
    const rows = (await auditOf(operator)).filter(({ command }) => command === 'login')
    const counts = new Map<string, number>()
    for (const { subject, after, outcome, address } of rows) {
      expect({ outcome, address }).toEqual({ outcome: 'refused', address: '127.0.0.1' })
      counts.set(subject, (counts.get(subject) ?? 0) + Number(after?.count))
    }
    expect([...counts]).toEqual([
      ['acme', 3],
      ['nobody', 1],
    ])
    expect(JSON.stringify(rows)).not.toContain('wrong')
  })
})

const keyIn = ({ dataDir }: Operator): Buffer => {
  const voucherKey = Buffer.from(readFileSync(join(dataDir, 'voucher.key'), 'utf8').trim(), 'hex')
  return createHmac('sha256', voucherKey).update('the key of the audit').digest()
}

/** Statements that hash rows again without their key, as if there had never been one, and move the head. */
const hashedAgain = (rows: readonly StoredRow[], previousHash = FIRST): string[] => {
  let previous = previousHash
  const updates = rows.map((row) => {
    const facts = JSON.stringify([...FACTS.map((name) => row[name]), previous])
    const hash = createHash('sha256').update(facts).digest('hex')
    const update = `UPDATE audit SET previous_hash = '${previous}', hash = '${hash}', key_mark = NULL WHERE id = ${row.id}`
    previous = hash
    return update
  })
  return [...updates, `UPDATE audit_head SET count = ${rows.at(-1)?.id}, hash = '${previous}'`]
}

/** Somebody who can write to the database of {@link Operator.stocked} but does not have the key; and the report of verify. */
const FORGERIES: [what: string, statements: (rows: StoredRow[]) => string[], fault: RegExp][] = [
  ['a row that is changed', () => ["UPDATE audit SET subject = '1 10' WHERE id = 3"], /^row 3 .* was changed$/],
  ['the first of several', () => ["UPDATE audit SET user = 'eve' WHERE id IN (2, 4)"], /^row 2 .* was changed$/],
  ['a row that is removed', () => ['DELETE FROM audit WHERE id = 2'], /^row 2 .* is missing$/],
  ['a tail that is cut off', () => ['DELETE FROM audit WHERE id >= 5'], /^a row after row 4 .* is missing/],
  ['a head that is moved', () => ['UPDATE audit_head SET count = count - 1'], /head was changed$/],
  ['a head that is removed', () => ['DELETE FROM audit_head'], /head was changed$/],
  [
    'a tail that is cut off with its head',
    (rows) => ['DELETE FROM audit WHERE id = 6', `UPDATE audit_head SET count = 5, hash = '${rows[4]?.hash}'`],
    /^a row after row 5 .* is missing/,
  ],
  ['a chain that is hashed again', (rows) => hashedAgain(rows), /head was changed$/],
  [
    'a tail that is replaced by a restore without a key',
    (rows) => [
      "UPDATE audit SET command = 'restore' WHERE id = 6",
      ...hashedAgain([{ ...rows[5], command: 'restore' }], String(rows[4]?.hash)),
    ],
    /^row 6 .* has no key$/,
  ],
  [
    'a key that does not open',
    (rows) => [
      "INSERT INTO audit_keys (mark, sealed) VALUES ('of eve', x'00')",
      ...hashedAgain(rows),
      "UPDATE audit SET key_mark = 'of eve'",
    ],
    /^the key of eve of the audit cannot be decrypted$/,
  ],
  [
    'an audit that is emptied',
    () => ['DELETE FROM audit', `UPDATE audit_head SET count = 0, hash = '${FIRST}', seal = NULL`],
    /^a row after row 0 .* is missing/,
  ],
  [
    'a mark of the key that is removed',
    (rows) => ['DELETE FROM voucher_key', ...hashedAgain(rows), 'UPDATE audit_head SET seal = NULL'],
    /^the audit was written without a key, and the folder has one$/,
  ],
  [
    'an audit that is emptied, with the mark of its key',
    () => [
      'DELETE FROM audit',
      'DELETE FROM voucher_key',
      `UPDATE audit_head SET count = 0, hash = '${FIRST}', seal = NULL`,
    ],
    /^the audit was written without a key, and the folder has one$/,
  ],
]

describe('the chain', () => {
  stockedTest('can be computed again by whoever has the voucher key', async (operator) => {
    const key = keyIn(operator)
    let previous = FIRST
    for (const row of storedRows(operator)) {
      expect(row.previous_hash).toBe(previous)
      const facts = JSON.stringify([...FACTS.map((name) => row[name]), previous])
      const hash = row.key_mark === null ? createHash('sha256') : createHmac('sha256', key)
      previous = hash.update(facts).digest('hex')
      expect(row.hash).toBe(previous)
    }
    expect((await lastOf(operator))?.hash).toBe(previous)
    using sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'), { readonly: true })
    const seal = createHmac('sha256', key).update(`head 6 ${previous}`).digest('hex')
    expect(sqlite.query('SELECT count, hash, seal FROM audit_head').get()).toEqual({ count: 6, hash: previous, seal })
  })

  test.each(FORGERIES)('%s is a fault, in a folder and a backup, also after the next acts', (_, statements, fault) =>
    asOperator(async (operator) => {
      await operator.stocked()
      force(operator, ...statements(storedRows(operator)))
      expect(await faultsOf(operator)).toEqual([expect.stringMatching(fault)])
      const backup = join(operator.folder, 'backup.sqlite')
      copyFileSync(join(operator.dataDir, 'scrip.sqlite'), backup)
      expect((await operator.run(['verify', backup])).exitCode).toBe(1)
      expect((await operator.run(['restore', backup, '--force'])).exitCode).toBe(4)
      await (await operator.serve()).stop()
      await operator.run(['wallet', 'fund', '1', '1'])
      expect(await faultsOf(operator)).toHaveLength(1)
    }),
  )

  stockedTest('is checked with the key of its time after the voucher key was replaced', async (operator) => {
    await operator.json('vouchers', 'rekey')
    await operator.json('wallet', 'fund', '1', '1')
    await operator.json('vouchers', 'rekey')
    expect(await faultsOf(operator)).toEqual([])
    force(operator, "UPDATE audit SET user = 'eve' WHERE id = 5")
    expect(await faultsOf(operator)).toEqual(['row 5 of the audit was changed'])
  })

  operatorTest('takes rows from before there is a key as they are, and none after that', async (operator) => {
    await operator.json('client', 'add', 'acme')
    expect(await faultsOf(operator)).toEqual([])
    await (await operator.serve()).stop()
    await operator.json('client', 'limits', 'acme', '--max-quantity', '5')
    expect(await faultsOf(operator)).toEqual([])
    const [first, second] = storedRows(operator)
    expect([first?.key_mark, typeof second?.key_mark]).toEqual([null, 'string'])
    force(operator, "UPDATE audit SET user = 'eve' WHERE id = 1")
    expect(await faultsOf(operator)).toEqual(['row 1 of the audit was changed'])
  })

  operatorTest(
    'of a backup from before the first key is unbroken, and goes on with a key after its restore',
    async (operator) => {
      await operator.json('client', 'add', 'acme')
      const backup = join(operator.folder, 'backup.sqlite')
      await operator.json('backup', backup)
      const forged = join(operator.folder, 'forged.sqlite')
      copyFileSync(backup, forged)
      await (await operator.serve()).stop()
      await operator.json('client', 'limits', 'acme', '--max-quantity', '5')
      expect(await operator.run(['verify', backup])).toMatchObject({ exitCode: 0 })
      using database = new Database(forged)
      database.run('DROP TRIGGER audit_kept')
      const trigger =
        "CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END"
      for (const sql of ['DELETE FROM audit', `UPDATE audit_head SET count = 0, hash = '${FIRST}'`, trigger])
        database.run(sql)
      database.close()
      const refused = await operator.run(['restore', forged, '--force'])
      expect(refused).toMatchObject({
        exitCode: 4,
        stderr: expect.stringContaining('the audit was written without a key, and the folder has'),
      })
      expect(await operator.run(['restore', backup, '--force'])).toMatchObject({ exitCode: 0 })
      expect(await faultsOf(operator)).toEqual([])
      await (await operator.serve()).stop()
      await operator.json('client', 'limits', 'acme', '--max-quantity', '6')
      expect(await faultsOf(operator)).toEqual([])
      const marks = storedRows(operator).map(({ key_mark }) => typeof key_mark)
      expect(marks).toEqual(['object', 'string', 'string'])
    },
  )

  operatorTest('has keyed rows alone where the key is there before the first act', async (operator) => {
    const env = { SCRIP_VOUCHER_KEY: 'ab'.repeat(32) }
    expect(await operator.run(['client', 'add', 'acme'], { env })).toMatchObject({ exitCode: 0 })
    expect(storedRows(operator)[0]?.key_mark).toBeString()
    expect(await operator.run(['verify'], { env })).toMatchObject({ exitCode: 0 })
  })

  operatorTest('reports the checks that are not possible for a backup without its key', async (operator) => {
    const backup = await operator.backedUp()
    const unchecked = async (...args: string[]) => {
      const [text, json] = [await run(['verify', backup, ...args]), await run(['verify', backup, '--json', ...args])]
      expect([text.exitCode, json.exitCode]).toEqual([0, 0])
      const rows = JSON.parse(json.stdout) as { check: string; unchecked?: string }[]
      return [text.stderr.includes('Without the voucher key'), rows.find(({ unchecked }) => unchecked)?.check]
    }
    expect(await unchecked()).toEqual([true, 'the audit is unbroken'])
    expect(await unchecked('--data-dir', operator.dataDir)).toEqual([false, undefined])
  })

  stockedTest('is written by nobody without the key', async (operator) => {
    const before = await auditOf(operator)
    const { exitCode, stderr } = await operator.run(['wallet', 'fund', '1', '1'], {
      env: { SCRIP_VOUCHER_KEY: 'f'.repeat(64) },
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining('voucher key') })
    expect(await auditOf(operator)).toEqual(before)
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
  })

  stockedTest('cannot be changed or deleted by a program that keeps the schema', async (operator) => {
    using sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
    expect(() => sqlite.run('UPDATE audit SET user = 1')).toThrow('the audit is final')
    expect(() => sqlite.run('DELETE FROM audit')).toThrow('the audit is kept')
  })

  operatorTest('goes on after a restore, which is an act itself', async (operator) => {
    const backup = await operator.backedUp()
    await operator.json('wallet', 'fund', '1', '1')
    await operator.json('restore', backup, '--force')
    const rows = await auditOf(operator)
    expect(rows.at(-1)).toMatchObject({ command: 'restore', subject: backup, outcome: 'done' })
    expect(rows.some(({ command, subject }) => command === 'wallet fund' && subject === '1 1')).toBe(false)
    expect(storedRows(operator).at(-1)?.key_mark).toBeString()
    expect(await faultsOf(operator)).toEqual([])
  })
})
