import { describe, expect, test } from 'bun:test'
import { run } from '../program.ts'
import { force } from './forced.ts'
import { asOperator, Customer, type Operator, operatorTest, stockedTest } from './live.ts'

/** Lists and reports of the command line (contract C17). */

const SECOND_MS = 1_000

/** The rows of a CSV text of RFC 4180, by the names in its header. */
const rowsOf = (csv: string): Record<string, string>[] => {
  expect(csv).toEndWith('\r\n')
  const records: string[][] = [[]]
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') records.push([])
  }
  const [header = [], ...rows] = records.slice(0, -1)
  return rows.map((cells) => {
    expect(cells).toHaveLength(header.length)
    return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']))
  })
}

const csvOf = async (operator: Operator, ...args: string[]): Promise<Record<string, string>[]> => {
  const { exitCode, stdout, stderr } = await operator.run([...args, '--csv'])
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' })
  return rowsOf(stdout)
}

const LISTS = [
  ['client', 'list'],
  ['wallet', 'list'],
  ['orders', 'list'],
  ['payouts', 'list'],
  ['transactions'],
  ['vouchers', 'list'],
  ['rates', 'list'],
]

describe.each(LISTS.map((words) => [words.join(' '), words] as const))('scrip %s', (_, words) => {
  stockedTest('says the same as JSON and as CSV, and gives the newest rows with --limit', async (operator) => {
    const rows = await operator.json<Record<string, unknown>[]>(...words)
    const shown = await csvOf(operator, ...words)
    expect(shown).toHaveLength(rows.length)
    rows.forEach((row, index) => {
      for (const [name, value] of Object.entries(row)) {
        const text = shown[index]?.[name]
        expect({ name, value: typeof value === 'number' ? Number(text) : text }).toEqual({
          name,
          value: typeof value === 'number' ? value : String(value ?? ''),
        })
      }
    })
    expect(await operator.json<object[]>(...words, '--limit', '1')).toEqual(rows.slice(0, 1))
  })

  operatorTest('has a header without rows, and refuses --json with --csv', async (operator) => {
    await operator.json('client', 'add', 'acme')
    const { stdout } = await operator.run([...words, '--csv'])
    expect(stdout.split('\r\n')[0]).toMatch(/^[a-z_]+(?:,[a-z_]+)+$/)
    const both = await operator.run([...words, '--json', '--csv'])
    expect(both).toMatchObject({ exitCode: 2, stdout: '' })
    expect(both.stderr).toContain("'--csv")
  })
})

describe('CSV', () => {
  operatorTest('quotes commas, quotes and line breaks, and takes no text for a formula', async (operator) => {
    await operator.json('client', 'add', 'acme')
    await operator.json('wallet', 'add', 'acme', 'USD', '--postpaid', '500')
    const remarks = ['=1+1', '+49 30', '-5', '@sum', '\ttab', '\rreturn', 'a "b", c', 'two\nlines', 'plain = text']
    for (const text of remarks) await operator.json('wallet', 'adjust', '1', '-1', '--remarks', text)
    const { stdout } = await operator.run(['transactions', '--csv'])
    expect(stdout).toContain('"a ""b"", c"')
    const rows = rowsOf(stdout).reverse()
    expect(rows.map((row) => row.remarks)).toEqual([
      "'=1+1",
      "'+49 30",
      "'-5",
      "'@sum",
      "'\ttab",
      "'\rreturn",
      'a "b", c',
      'two\nlines',
      'plain = text',
    ])
    // A negative number is not a formula.
    expect(rows.at(-1)?.balance_after).toBe('-9.00')
  })
})

describe('filters', () => {
  test('--client, --status, --since and --until narrow together; since is included, until is not', () =>
    asOperator(async (operator) => {
      const credentials = await operator.stocked()
      await operator.json('client', 'add', 'other')
      await operator.json('wallet', 'add', 'other', 'USD')
      const server = await operator.serve()
      const customer = await Customer.of(server, credentials)
      const first = await customer.order(2, 1)
      await Bun.sleep(2)
      await customer.order(1, 1)
      await customer.payout('p-1')
      await server.stop()
      const orders = (...args: string[]) =>
        operator.json<{ id: number; placed_at: string }[]>('orders', 'list', ...args)
      const [{ placed_at: secondAt = '' } = {}, { placed_at: firstAt = '' } = {}] = await orders()
      const idsOf = async (...args: string[]) => (await orders(...args)).map(({ id }) => id)
      expect(await idsOf('--client', 'acme')).toEqual([2, 1])
      expect(await idsOf('--client', 'other')).toEqual([])
      expect(await idsOf('--status', 'pending')).toEqual([first.id])
      expect(await idsOf('--since', secondAt)).toEqual([2])
      expect(await idsOf('--since', firstAt, '--until', secondAt)).toEqual([1])
      expect(await idsOf('--since', firstAt.slice(0, 10), '--status', 'DELIVERED')).toEqual([2])
      expect(await idsOf('--until', firstAt.slice(0, 10))).toEqual([])
      const later = new Date(Date.parse(secondAt) + 60 * SECOND_MS).toISOString()
      expect(await operator.json<object[]>('payouts', 'list', '--status', 'created', '--until', later)).toHaveLength(1)
      expect(await operator.json<object[]>('payouts', 'list', '--client', 'other')).toEqual([])
      expect(await operator.json<object[]>('wallet', 'list', '--client', 'other')).toMatchObject([{ id: 2 }])
      expect(await operator.json<object[]>('client', 'list', '--status', 'disabled')).toEqual([])
      expect(await operator.json<object[]>('transactions', '--wallet', '1')).toMatchObject([
        { id: 4, source_type: 'payout', transaction_type: 'DEBIT', amount: 101.5 },
        { id: 3, source_type: 'order', source_id: '2' },
        { id: 2, source_type: 'order', source_id: '1' },
        { id: 1, source_type: 'funding', amount: 1000, client: 'acme', currency: 'USD' },
      ])
    }))

  test.each([
    ['a day that is none', ['--since', '2026-02-30']],
    ['a time without a zone', ['--until', '2026-02-03T00:00:00']],
    ['a status that is none', ['--status', 'GONE']],
    ['a limit of 0', ['--limit', '0']],
  ])('%s is a usage error', async (_, args) => {
    expect(await run(['orders', 'list', ...args, '--data-dir', '/none'])).toMatchObject({ exitCode: 2, stdout: '' })
  })

  operatorTest('an unknown client is refused', async (operator) => {
    await operator.json('client', 'add', 'acme')
    const ended = await operator.run(['transactions', '--client', 'nobody'])
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toContain('scrip client list')
  })
})

describe('scrip orders show', () => {
  stockedTest(
    'shows the price, the times and the references of the vouchers, but no code',
    async (operator, credentials) => {
      const server = await operator.serve()
      const order = await (await Customer.of(server, credentials)).order(1, 2)
      await server.stop()
      const { exitCode, stdout } = await operator.run(['orders', 'show', String(order.id), '--json'])
      expect(exitCode).toBe(0)
      for (const { card_number } of order.vouchers) expect(stdout).not.toContain(card_number)
      expect(JSON.parse(stdout)).toMatchObject({
        id: 1,
        client: 'acme',
        status: 'DELIVERED',
        quantity: 2,
        total: 19.5,
        discount: 0.5,
        paid: 19.5,
        paid_currency: 'USD',
        refunded_amount: 0,
        conversion_fee: null,
        vouchers: ['1-1', '1-2'],
        refunded_vouchers: [],
        failed_at: null,
      })
    },
  )
})

describe('scrip vouchers list', () => {
  operatorTest('says for how many days the stock lasts at the sales of the last 30 days', async (operator) => {
    const { server, customer } = await operator.trading()
    await customer.order(1, 2)
    const waiting = await customer.order(2, 2)
    expect((await customer.post(`/orders/${waiting.id}/cancel`, {})).status).toBe(200)
    await server.stop()
    expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
      { product_id: 1, available: 1, days_left: 15, taken: 2 },
      { product_id: 2, available: 3, days_left: null, taken: 0 },
    ])
    force(
      operator,
      'UPDATE orders SET placed_at_ms = placed_at_ms - 31 * 86400000',
      'UPDATE sale_day_counts SET day = day - 31',
    )
    expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([{ days_left: null }, { days_left: null }])
  })
})
