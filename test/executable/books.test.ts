import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { force } from './forced.ts'
import { asOperator, Customer, type Operator, operatorTest } from './live.ts'

/** Books (contract C17): the programs of accountants read the ledger, and agree with the statement to the last digit. */

const MONTH = new Date().toISOString().slice(0, 7)

/** Wallets in currencies of 2, 3 and 0 decimals, and remarks with signs that mean something to the programs. */
const trade = async (operator: Operator): Promise<void> => {
  const credentials = await operator.stocked()
  await operator.json('wallet', 'add', 'acme', 'KWD')
  await operator.json('wallet', 'add', 'acme', 'JPY')
  await operator.json('client', 'add', 'o.neill_sons@uk')
  await operator.json('wallet', 'add', 'o.neill_sons@uk', 'USD')
  await operator.json('rates', 'set', 'USD/KWD=0.3075', 'USD/JPY=149.5')
  await operator.json('wallet', 'fund', '2', '100.125', '--remarks', 'Invoice 7; date: "soon" [2026-13-45] \\ =')
  await operator.json('wallet', 'fund', '3', '500000')
  await operator.json('wallet', 'fund', '4', '0.05')
  await operator.json('wallet', 'adjust', '1', '-0.01')
  await using server = await operator.serve()
  const customer = await Customer.of(server, credentials)
  await customer.order(1, 2)
  const payee = { beneficiary_email: 'ada@example.com', beneficiary_first_name: 'Ada', beneficiary_last_name: 'L' }
  for (const [wallet_id, amount, currency] of [
    [1, 10.5, 'USD'],
    [2, 1000, 'JPY'],
    [3, 1.005, 'KWD'],
  ]) {
    const body = { reference_id: `p-${wallet_id}`, wallet_id, amount, currency, ...payee }
    const response = await customer.post('/payouts', body)
    expect({ body, status: response.status }).toEqual({ body, status: 201 })
    const { id } = (await response.json()) as { id: string }
    if (wallet_id !== 3) await operator.json('payouts', 'advance', id, '--to', 'completed')
  }
  await operator.json('orders', 'refund', '1', '--vouchers', '1-1')
}

const output = async (...command: string[]): Promise<string> => {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  expect({ command, exitCode, stdout: exitCode === 0 ? '' : stdout, stderr }).toEqual({
    command,
    exitCode: 0,
    stdout: '',
    stderr: '',
  })
  return stdout
}

/** The balances of the wallets of acme, as its statement has them: `1 USD 966.74`. */
const statedBy = async (operator: Operator): Promise<string[]> => {
  const { stdout } = await operator.run(['statement', 'acme', '--month', MONTH, '--csv'])
  const rows = stdout.split('\r\n').map((line) => line.split(','))
  const column = rows[0]?.indexOf('balance_after') ?? -1
  return rows
    .filter(([, , entry]) => entry === 'closing_balance')
    .map((row) => `${row[0]} ${row[1]} ${row[column]}`)
    .sort()
}

const fileOf = async (operator: Operator, format: string, ...flags: string[]): Promise<string> => {
  const file = join(operator.folder, `books.${format}`)
  const { exitCode, stderr } = await operator.run(['ledger', '--format', format, ...flags, file])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `${file} is written.\n` })
  return file
}

// The sum of bare numbers is shown with the decimals of most currencies.
const BALANCES = 'SELECT account, sum(position) GROUP BY account'
const WALLET = /Assets:Acme-1:Wallet-(\d+)/

/** Balances as reports have them: `1 USD 966.74`. */
const walletsIn = (report: string): string[] =>
  report
    .split('\n')
    .flatMap((line) => {
      const [, wallet] = WALLET.exec(line) ?? []
      const [, amount, currency] = /(-?[\d.]+)\s+([A-Z]{3})\b/.exec(line) ?? []
      return wallet ? [`${wallet} ${currency} ${amount}`] : []
    })
    .sort()

describe('scrip ledger', () => {
  test.skipIf(Bun.which('hledger') === null || Bun.which('ledger') === null)(
    '--format hledger: hledger and ledger find nothing to say, and have the balances of the statement',
    () =>
      asOperator(async (operator) => {
        await trade(operator)
        const stated = await statedBy(operator)
        expect(stated).toHaveLength(3)
        for (const flags of [[], ['--client', 'acme'], ['--month', MONTH]]) {
          const file = await fileOf(operator, 'hledger', ...flags)
          await output('hledger', '-f', file, 'check', '--strict')
          await output('hledger', '-f', file, 'check', 'ordereddates')
          expect(walletsIn(await output('hledger', '-f', file, 'balance', '--flat', '--empty', 'Wallet'))).toEqual(
            stated,
          )
          expect(walletsIn(await output('ledger', '-f', file, 'balance', '--flat', '--empty', 'Wallet'))).toEqual(
            stated,
          )
        }
      }),
  )

  test.skipIf(Bun.which('bean-check') === null)(
    '--format beancount: bean-check finds nothing to say, and has the balances of the statement',
    () =>
      asOperator(async (operator) => {
        await trade(operator)
        const stated = await statedBy(operator)
        for (const flags of [[], ['--client', 'acme'], ['--month', MONTH]]) {
          const file = await fileOf(operator, 'beancount', ...flags)
          await output('bean-check', file)
          const report = await output('bean-query', file, BALANCES)
          expect(walletsIn(report)).toEqual(stated)
        }
      }),
  )

  test.skipIf(Bun.which('hledger') === null)('a month begins with the balances that its clients had', () =>
    asOperator(async (operator) => {
      await trade(operator)
      // The first half of the entries moves a year back.
      force(operator, 'UPDATE journal_entries SET created_at_ms = created_at_ms - 31536000000 WHERE id <= 4')
      force(operator, 'UPDATE transactions SET created_at_ms = created_at_ms - 31536000000 WHERE entry_id <= 4')
      const file = await fileOf(operator, 'hledger', '--month', MONTH, '--client', 'acme')
      const journal = readFileSync(file, 'utf8')
      expect(journal).toMatch(
        /^\S+ \(opening\) Opening balances\n(?: {4}.*\n)* {4}Assets:Acme-1:Wallet-1 +1000\.00 USD\n/m,
      )
      expect(journal).not.toContain('O-neill')
      await output('hledger', '-f', file, 'check', '--strict')
      expect(walletsIn(await output('hledger', '-f', file, 'balance', '--flat', 'Wallet'))).toEqual(
        await statedBy(operator),
      )
    }),
  )

  operatorTest('prints the journal without a file, and refuses an unknown client', async (operator) => {
    await operator.stocked()
    const printed = await operator.run(['ledger', '--format', 'beancount'])
    expect({ ...printed, stdout: printed.stdout.split('\n')[0] }).toEqual({
      exitCode: 0,
      stdout: '; The ledger of Scrip: the money of clients is an asset.',
      stderr: '',
    })
    expect(await operator.run(['ledger', '--format', 'hledger', '--client', 'nobody'])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'scrip: there is no client nobody\nSee scrip client list.\n',
    })
  })
})
