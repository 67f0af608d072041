import { expect, test } from 'bun:test'
import { COMMAND } from '../program.ts'
import { asOperator, Customer } from './live.ts'

/** `scrip reconcile` (contract C19); test/reconciliation has what it finds. */

const HEADER = 'reference,type,amount,currency,status\n'

test('reports the differences in every format and by its exit code, and changes nothing', () =>
  asOperator(async (operator) => {
    const { server, customer } = await operator.trading()
    await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 2, ref: 'mine' })
    await customer.payout('p-1')
    await customer.payout('=p-2')
    const good = operator.file(
      'good.csv',
      `${HEADER}mine,order,19.50,USD,\np-1,payout,100.00,USD,CREATED\n=p-2,payout,100,USD,\n`,
    )
    const agreeing = await operator.run(['reconcile', 'acme', good])
    expect(agreeing).toMatchObject({ exitCode: 0, stdout: '3 match, and nothing differs.\n', stderr: '' })
    expect(await operator.json('reconcile', 'acme', good)).toEqual({
      ...{ agrees: true, matched: 3, only_ours: [], only_theirs: [], differs: [], counted_twice: [], parts_at: null },
    })
    const bad = operator.file(
      'bad.csv',
      `${HEADER}mine,order,19.51,USD,\np-1,payout,100,USD,\np-1,payout,100,USD,\n<b>,order,1,EUR,\n`,
    )
    const json = await operator.run(['reconcile', 'acme', bad, '--json'])
    expect([json.exitCode, json.stderr]).toEqual([1, ''])
    expect(JSON.parse(json.stdout)).toMatchObject({
      agrees: false,
      matched: 1,
      only_ours: [{ reference: '=p-2', type: 'payout', amount: 100, currency: 'USD', status: 'created' }],
      only_theirs: [{ reference: '<b>', type: 'order', amount: 1, currency: 'EUR', status: null, at: null }],
      differs: [
        { reference: 'mine', type: 'order', ours: { amount: 19.5 }, theirs: { amount: 19.51 }, members: ['amount'] },
      ],
      counted_twice: [{ reference: 'p-1', type: 'payout', times: 2 }],
      parts_at: { reference: 'mine', type: 'order', currency: 'USD', ours: 19.5, theirs: 19.51 },
    })
    const csv = await operator.run(['reconcile', 'acme', bad, '--csv'])
    expect(csv.exitCode).toBe(1)
    expect(csv.stdout.split('\r\n').map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'finding,type,reference,differs_in',
      "only_ours,payout,'=p-2,",
      'only_theirs,order,<b>,',
      'differs,order,mine,amount',
      'counted_twice,payout,p-1,',
      '',
    ])
    const text = await operator.run(['reconcile', 'acme', bad])
    expect(text.stdout).toMatch(/^only_theirs .* 1\.00 +EUR /m)
    expect(text.stdout).toMatch(
      /^1 match\.\nThe sums in USD diverge at order mine, .*: 19\.50 here, 19\.51 in the list\.\n\nfinding/,
    )
    await server.stop()
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  }))

test('names what a spreadsheet did to a list, and reads what tools pad, space and disarm', () =>
  asOperator(async (operator) => {
    const credentials = await operator.stocked()
    await operator.json('wallet', 'add', 'acme', 'KWD')
    await operator.json('wallet', 'fund', '2', '100')
    await using server = await operator.serve()
    const customer = await Customer.of(server, credentials)
    const payee = { beneficiary_email: 'ada@example.com', beneficiary_first_name: 'Ada', beneficiary_last_name: 'L' }
    for (const reference_id of ['00123', '-5', 'p-1']) {
      const body = { reference_id, wallet_id: 2, amount: 12.345, currency: 'KWD', ...payee }
      expect((await customer.post('/payouts', body)).status).toBe(201)
    }
    const at = `${new Date().toISOString().slice(0, 10)} 16:06:52`
    const rows = [
      "'-5, payout ,12.345 , KWD,,2026-11-28 16:06:52",
      `p-1,payout,12345,KWD,,${at}`,
      `123,payout,12.345,KWD,,`,
    ]
    const list = operator.file('saved.csv', `reference,type,amount,currency,status,at\n${rows.join('\n')}\n`)
    const { exitCode, stdout, stderr } = await operator.run(['reconcile', 'acme', list])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
    const said = stdout.split('\n')
    expect(said[0]).toBe('1 match.')
    expect(said.slice(2, 5)).toEqual([
      'payout 00123 is missing, 123 is there: did a spreadsheet write this file?',
      'The list has a thousand times the amount of payout p-1: did a spreadsheet write this file?',
      '',
    ])
  }))

test('accepts a month, and a list on standard input', () =>
  asOperator(async (operator) => {
    await operator.stocked()
    const args = ['reconcile', 'acme', '-', '--month', '2026-11', '--json', '--data-dir', operator.dataDir]
    const stdin = new Blob([`${HEADER}none,order,1,USD,\n`])
    const piped = Bun.spawn([...COMMAND, ...args], { stdin, stdout: 'pipe' })
    expect(JSON.parse(await piped.stdout.text())).toMatchObject({ agrees: false, only_theirs: [{ reference: 'none' }] })
    expect(await piped.exited).toBe(1)
  }))

test.each([
  ['an empty file', '', 4, 'list.csv has 1 problem:\nline 1: the file is empty'],
  ['a wrong cell', `${HEADER}a,order,x,USD,\n`, 4, 'line 2, amount: is not a decimal number, such as 1000.50'],
])('refuses %s, and compares nothing', (_, text, code, message) =>
  asOperator(async (operator) => {
    await operator.stocked()
    const { exitCode, stdout, stderr } = await operator.run(['reconcile', 'acme', operator.file('list.csv', text)])
    expect([exitCode, stdout]).toEqual([code, ''])
    expect(stderr).toContain(message)
  }),
)

test('refuses an unknown client with 1, an unknown file with 4, and two formats with 2', () =>
  asOperator(async (operator) => {
    await operator.stocked()
    const list = operator.file('list.csv', HEADER)
    for (const [args, code] of [
      [['nobody', list], 1],
      [['acme', '/nowhere.csv'], 4],
      [['acme', list, '--csv', '--json'], 2],
      [['acme', list, '--month', '2026-13'], 2],
    ] as const) {
      const { exitCode } = await operator.run(['reconcile', ...args])
      expect({ args, exitCode }).toEqual({ args, exitCode: code })
    }
  }))
