// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { readList } from '../../src/reconciliation/partner-list.ts'
import { booksOf, type Entry, emptyYear, reconcile, reference } from './year.ts'

/** The formats of a list, and the messages about a wrong one (contract C19). */

const read = (text: string) => readList(text, reference)
const problemsOf = (text: string) =>
  read(text).problems.map(({ line, column, what }) => `${line} ${column ?? '-'} ${what}`)
const HEADER = 'reference,type,amount,currency'
const ROW = {
  line: 2,
  type: 'order',
  reference: 'a',
  amountMinor: 1_050,
  currencyId: 139,
  status: null,
  atMs: null,
} as const

describe('a list', () => {
  test.each([
    ['in any order, with columns that nobody knows', 'note,currency,reference,amount,type\nx,USD,a,10.50,order\n', 2],
    ['with a byte order mark and CRLF', `\ufeff${HEADER}\r\na,order,10.5,USD\r\n`, 2],
    ['with quotes', `"reference","type","amount","currency"\n"a","order","10.50","USD"`, 2],
    ['with names in either case', 'Reference,TYPE,Amount,Currency\na,ORDER,10.50,usd', 2],
    ["with Excel's first line", `sep=,\r\n${HEADER}\r\na,order,10.50,USD\r\n`, 3],
    ['with rows of bare commas', `,,,\n${HEADER}\n,,,\n,,,,,,\na,order,10.50,USD\n , , ,\n`, 5],
    ['with empty optional cells', `${HEADER},status,at\na,order,10.50,USD,,\n\n`, 2],
  ])('as CSV %s', (_, text, line) => {
    expect(read(text)).toEqual({ rows: [{ ...ROW, line }], problems: [] })
  })

  test('as CSV may have names with commas, quotes and line breaks, and its lines are counted', () => {
    const { rows, problems } = read(`${HEADER}\n"a ""b"", c\nd",order,1,USD\ne,payout,2,JPY`)
    expect(problems).toEqual([])
    expect(rows.map(({ line, reference: name }) => [line, name])).toEqual([
      [2, 'a "b", c\nd'],
      [4, 'e'],
    ])
  })

  test('as JSON lines may have numbers or texts, nulls and blank lines', () => {
    const line = (row: object) =>
      JSON.stringify({ reference: 'a', type: 'order', amount: 10.5, currency: 'USD', ...row })
    const text = `\ufeff\n${line({})}\r\n\n${line({ amount: '10.50', status: null, at: null, note: 1 })}`
    expect(read(text)).toEqual({
      rows: [
        { ...ROW, line: 2 },
        { ...ROW, line: 4 },
      ],
      problems: [],
    })
  })

  test.each([
    ['', ['1 - the file is empty']],
    ['\ufeff\n\n', ['1 - the file is empty']],
    ['sep=,\n,,,\n', ['1 - the file is empty']],
    [
      'sep=;\nreference;type;amount;currency\n',
      [
        '1 - is neither CSV with a header nor JSON lines: its cells are separated by semicolons. Save it as CSV UTF-8 with commas',
      ],
    ],
    [`${HEADER}\ra,order,1,USD\r`, ['1 - has lines that end only with CR. Save it as CSV UTF-8 with commas']],
    [
      `${HEADER}\r${'a,order,1,USD\r'.repeat(6_000)}`,
      ['1 - has lines that end only with CR. Save it as CSV UTF-8 with commas'],
    ],
    [
      'reference;type;amount;currency\n',
      [
        '1 - is neither CSV with a header nor JSON lines: its cells are separated by semicolons. Save it as CSV UTF-8 with commas',
      ],
    ],
    [
      'reference\ttype\tamount\n',
      [
        '1 - is neither CSV with a header nor JSON lines: its cells are separated by tabs. Save it as CSV UTF-8 with commas',
      ],
    ],
    [
      Buffer.from('\ufeffreference,type\n', 'utf16le').toString(),
      ['1 - contains NUL, as UTF-16 does. Save it as CSV UTF-8 with commas'],
    ],
    ['reference,type\na,b,c\n', ['1 amount is missing from the header', '1 currency is missing from the header']],
    ['[{"reference":"a"}]', ['1 - is neither CSV with a header nor JSON lines']],
    [`${HEADER},amount\n`, ['1 amount appears twice in the header']],
    [`${HEADER}\na,order,1\n`, ['2 - has 3 cells, and the header 4']],
    [`${HEADER}\na\n`, ['2 - has 1 cell, and the header 4']],
    [`${HEADER}\n"a"b,order,1,USD\n`, ['2 - has a quote inside a cell, or no closing quote']],
    [
      `${HEADER}\n,refund,ten,XXX\n`,
      [
        '2 reference is missing',
        '2 type is neither order nor payout',
        '2 currency is not an ISO 4217 currency',
        '2 amount is not a decimal number, such as 1000.50',
      ],
    ],
    [
      `${HEADER}\na,order,1.001,USD\nb,order,-1,USD\nc,order,1.5,JPY\nd,order,1.000,EUR\ne,order,1.000,JPY\nf,order,1.000,KWD\n`,
      [
        '2 amount is not an amount in USD: too large, or too many decimals',
        '3 amount is below zero',
        '4 amount is not an amount in JPY: too large, or too many decimals',
        '5 amount is not an amount in EUR: too large, or too many decimals',
        '6 amount is not an amount in JPY: too large, or too many decimals',
      ],
    ],
    [
      `${HEADER},at\na,order,1,USD,2026-02-30\n`,
      ['2 at is neither a date nor an RFC 3339 time, such as 2026-11-05T10:00:00Z'],
    ],
    [
      '{"reference":1,"type":"order","amount":true,"currency":"USD"}\n[]\n{',
      [
        '1 reference is missing',
        '1 amount is not a decimal number, such as 1000.50',
        '2 - is not a JSON object',
        '3 - is not a JSON object',
      ],
    ],
    [Buffer.from(`${HEADER}\nmüsli,order,1,USD\n`, 'latin1').toString(), ['2 - contains bytes that are not UTF-8']],
    [`${HEADER}\n${'x'.repeat(70_000)}`, ['2 - is longer than 65,536 characters']],
  ])('%j is wrong', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
  })

  test('shows the first twenty of its problems', () => {
    expect(problemsOf(`${HEADER}\n${'a,order,x,USD\n'.repeat(30)}`)).toHaveLength(20)
  })
})

describe('a record that has ended', () => {
  const ended: Entry[] = [
    { type: 'order', reference: 'o', minor: 100, currency: 'USD', status: 'CANCELLED', atMs: 1 },
    { type: 'payout', reference: 'p', minor: 100, currency: 'USD', status: 'returned', atMs: 2 },
  ]
  const found = async (list: string) => reconcile(booksOf(await emptyYear(), ended), list)

  test('counts only where the row has a status, and agrees if it is ours', async () => {
    expect(await found(`${HEADER},status\no,order,1,USD,cancelled\np,payout,1,USD,Returned\n`)).toMatchObject({
      agrees: true,
      matched: 2,
    })
    expect(await found(`${HEADER},status\np,payout,1,USD,completed\n`)).toMatchObject({ agrees: true, matched: 1 })
    expect(await found(`${HEADER}\no,order,1,USD\n`)).toMatchObject({
      only_theirs: [{ reference: 'o' }],
      only_ours: [],
      differs: [],
    })
    expect(await found(`${HEADER},status\no,order,1,USD,delivered\n`)).toMatchObject({
      differs: [
        { reference: 'o', members: ['status'], ours: { status: 'CANCELLED' }, theirs: { status: 'delivered' } },
      ],
      parts_at: { reference: 'o', ours: 0, theirs: 1 },
    })
  })
})

describe('the reference of a CSV cell', () => {
  const payout = (reference: string): Entry => ({
    ...{ type: 'payout', reference, minor: 100, currency: 'USD', status: 'created', atMs: 1 },
  })
  const cells = (...names: string[]) => `${HEADER}\n${names.map((name) => `"${name}",payout,1,USD\n`).join('')}`
  const outcome = async (records: string[], list: string) => {
    const report = reconcile(booksOf(await emptyYear(), records.map(payout)), list)
    if (!('matched' in report)) throw new Error('The list has problems')
    const names = (findings: { reference: string }[]) => findings.map(({ reference: name }) => name)
    const { matched, only_ours, only_theirs, counted_twice } = report
    return [matched, names(only_ours), names(only_theirs), names(counted_twice)]
  }

  test.each([
    ["may have the apostrophe of Scrip's own CSV", ['-5'], ["'-5"], [1, [], [], []]],
    ["is exact first: '-5 is no other record", ['-5', "'-5"], ["'-5"], [1, ['-5'], [], []]],
    ["is exact first: '-5 and -5 are two records", ['-5', "'-5"], ["'-5", '-5'], [2, [], [], []]],
    ['with and without its apostrophe is one record, listed twice', ['-5'], ['-5', "'-5"], [1, [], [], ['-5']]],
    ['keeps any other apostrophe', ['5'], ["'5"], [0, ['5'], ["'5"], []]],
    ['may be padded', ['p-1', '-5'], [' p-1\t', " '-5 "], [2, [], [], []]],
    ['is exact first: its spaces may be part of a name', ['p-1', ' p-1'], [' p-1'], [1, ['p-1'], [], []]],
    ['padded and not padded is one record, listed twice', ['p-1'], ['p-1 ', 'p-1'], [1, [], [], ['p-1']]],
    ['that stands for no record is reported as it is', [], [" '-5 ", '  '], [0, [], [" '-5 ", '  '], []]],
  ])('%s', async (_, records, names, expected) => {
    expect(await outcome(records, cells(...names))).toEqual(expected)
  })

  test('is read so in CSV alone: JSON lines have exact names', async () => {
    const line = (name: string) => JSON.stringify({ reference: name, type: 'payout', amount: 1, currency: 'USD' })
    expect(await outcome(['-5', 'p-1'], `${line("'-5")}\n${line(' p-1')}`)).toEqual([
      0,
      ['-5', 'p-1'],
      ["'-5", ' p-1'],
      [],
    ])
  })
})
