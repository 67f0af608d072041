import { describe, expect, test } from 'bun:test'
import { run } from '../program.ts'
import { force } from './forced.ts'
import { Customer, type Operator, operatorTest } from './live.ts'

/** Statements (contract C17): a month of a client's wallets, proven by the ledger. */

interface Statement {
  wallet_id: number
  currency: string
  opening_balance: number
  lines: {
    id: number
    transaction_type: 'CREDIT' | 'DEBIT'
    amount: number
    balance_after: number
    created_at: string
  }[]
  closing_balance: number
}

const MONTH = new Date().toISOString().slice(0, 7)

const statementOf = (operator: Operator, month = MONTH) =>
  operator.json<Statement[]>('statement', 'acme', '--month', month)

/** Moves all records to a time, as if they had been made then. */
const moveRecords = (operator: Operator, timeMs: number): void => {
  const tables = ['transactions', 'journal_entries']
  force(operator, ...tables.map((table) => `UPDATE ${table} SET created_at_ms = ${timeMs}`))
}

/** Two wallets; the first one has bought, paid out and been refunded. */
const traded = async (operator: Operator): Promise<void> => {
  const credentials = await operator.stocked()
  await operator.json('wallet', 'add', 'acme', 'KWD')
  await using server = await operator.serve()
  const customer = await Customer.of(server, credentials)
  await customer.order(1, 2)
  await customer.order(2, 1)
  await operator.json('orders', 'fail', '2', '--reason', '<b>Sold & out</b>')
  await customer.payout('p-1')
}

describe('scrip statement', () => {
  operatorTest('leads from the opening to the closing balance, which is what the wallet holds', async (operator) => {
    await traded(operator)
    const statements = await statementOf(operator)
    expect(statements).toMatchObject([
      { wallet_id: 1, currency: 'USD', opening_balance: 0 },
      { wallet_id: 2, currency: 'KWD', opening_balance: 0, lines: [], closing_balance: 0 },
    ])
    const [{ lines = [], closing_balance = 0 } = {}] = statements
    expect(lines.map(({ transaction_type, amount }) => [transaction_type, amount])).toEqual([
      ['CREDIT', 1000],
      ['DEBIT', 19.5],
      ['DEBIT', 12.25],
      ['CREDIT', 12.25],
      ['DEBIT', 101.5],
    ])
    expect(closing_balance).toBe(879)
    expect(lines.at(-1)?.balance_after).toBe(879)
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 0 }, { amount: 879 }])
  })

  operatorTest('is of a month in UTC: the first instant of the next one is not in it', async (operator) => {
    await traded(operator)
    moveRecords(operator, Date.parse('2026-11-01T00:00:00.000Z'))
    expect(await statementOf(operator, '2026-10')).toMatchObject([{ lines: [], closing_balance: 0 }, {}])
    const [november] = await statementOf(operator, '2026-11')
    expect(november).toMatchObject({ opening_balance: 0, closing_balance: 879 })
    expect(november?.lines).toHaveLength(5)
    moveRecords(operator, Date.parse('2026-10-31T23:59:59.999Z'))
    expect(await statementOf(operator, '2026-11')).toMatchObject([
      { opening_balance: 879, lines: [], closing_balance: 879 },
      {},
    ])
  })

  operatorTest('is not shown when the ledger does not prove it', async (operator) => {
    await traded(operator)
    force(operator, 'UPDATE transactions SET amount_minor = amount_minor + 1 WHERE id = 2')
    const ended = await operator.run(['statement', 'acme', '--month', MONTH, '--json'])
    expect(ended).toMatchObject({ exitCode: 4, stdout: '' })
    expect(ended.stderr).toContain('wallet 1')
    expect(ended.stderr).toContain('scrip verify')
  })

  operatorTest('is one list as CSV and as a table: the balances are rows', async (operator) => {
    await traded(operator)
    const { stdout } = await operator.run(['statement', 'acme', '--month', MONTH, '--csv'])
    const lines = stdout.trimEnd().split('\r\n')
    expect(lines[0]).toBe(
      'wallet_id,currency,entry,id,transaction_type,amount,balance_after,source_type,source_id,remarks,created_at',
    )
    expect(lines.map((line) => line.split(',').slice(0, 7).join(','))).toEqual([
      'wallet_id,currency,entry,id,transaction_type,amount,balance_after',
      '1,USD,opening_balance,,,,0.00',
      '1,USD,transaction,1,CREDIT,1000.00,1000.00',
      '1,USD,transaction,2,DEBIT,19.50,980.50',
      '1,USD,transaction,3,DEBIT,12.25,968.25',
      '1,USD,transaction,4,CREDIT,12.25,980.50',
      '1,USD,transaction,5,DEBIT,101.50,879.00',
      '1,USD,closing_balance,,,,879.00',
      '2,KWD,opening_balance,,,,0.000',
      '2,KWD,closing_balance,,,,0.000',
    ])
    expect((await operator.run(['statement', 'acme', '--month', MONTH])).stdout).toContain('closing_balance')
  })

  test.each([
    ['no month', ['statement', 'acme']],
    ['a month that is none', ['statement', 'acme', '--month', '2026-13']],
    ['two forms at once', ['statement', 'acme', '--month', '2026-11', '--csv', '--json']],
  ])('%s is a usage error', async (_, args) => {
    expect(await run([...args, '--data-dir', '/none'])).toMatchObject({ exitCode: 2, stdout: '' })
  })
})
