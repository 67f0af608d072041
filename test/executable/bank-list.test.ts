import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderOfFile } from '../program.ts'
import { type Credentials, Customer, Operator } from './live.ts'

/** `scrip payouts advance --file` with lines, and with the CSV of a bank (contract C17). */

const folder = join(folderOfFile(), 'bank')
mkdirSync(folder)
const operator = new Operator(folder)
/** The ids of payouts of 100.00 USD by their references; `1` to `3` look like the numbers of rows. */
const ids: Record<string, string> = {}
let server: Awaited<ReturnType<Operator['serve']>>

beforeAll(async () => {
  const credentials = await operator.stocked()
  const other = await operator.json<Credentials>('client', 'add', 'other')
  await operator.json('wallet', 'add', 'other', 'USD', '--postpaid', '1000')
  server = await operator.serve()
  const [acme, others] = [await Customer.of(server, credentials), await Customer.of(server, other)]
  for (const reference of ['salary-1', 'salary-2', 'salary-3', '1', '2', '3', 'both'])
    ids[reference] = (await acme.payout(reference)).id
  ids.theirs = (await others.payout('both', undefined, 2)).id
})
afterAll(() => server.stop())

/** The dry run of `advance --to completed` with a file: its exit code, the payouts, and its words. */
const advanced = async (content: string | Uint8Array, ...args: string[]) => {
  const file = operator.file('bank.csv', content)
  const words = ['payouts', 'advance', '--to', 'completed', '--dry-run', '--json', '--file', file, ...args]
  const { exitCode, stdout, stderr } = await operator.run(words)
  const rows = stdout === '' ? [] : (JSON.parse(stdout) as { id: string; status: string }[])
  const names = rows.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id))
  return { exitCode, names, stderr: stderr.replaceAll(file, 'FILE') }
}

const BANK = `Account;DE02120300000000202051;;
Date;No;Text;Amount
2026-11-02;1;salary-1;-100,00
2026-11-02;2;Rent;-900,00
2026-11-03;3;salary-2;-100,00
2026-11-03;4;salary-3;-99,00
`

describe('the CSV of a bank', () => {
  test('with --column advances the payouts that it names; other lines are counted and listed, and refuse nothing', async () => {
    expect(await advanced(BANK, '--column', 'text')).toEqual({
      exitCode: 0,
      names: ['salary-1', 'salary-2', 'salary-3'],
      stderr: '4 lines: 3 name a payout in text.\n1 line without a payout:\nline 4: 2026-11-02, 2, Rent, -900,00\n',
    })
  })

  test('with --amount-column leaves a payout of another amount, and exits with 1', async () => {
    expect(await advanced(BANK, '--column', 'Text', '--amount-column', 'Amount')).toEqual({
      exitCode: 1,
      names: ['salary-1', 'salary-2'],
      stderr: `4 lines: 2 name a payout in Text.
1 line without a payout:
line 4: 2026-11-02, 2, Rent, -900,00
scrip: line 6: salary-3 is a payout of 100.00 USD, and the list says -99,00
`,
    })
  })

  test.each([
    ['commas', 'reference,amount\nsalary-1,100.00\nsalary-2,100\n'],
    ['semicolons', 'reference;amount\nsalary-1;"100,00"\nsalary-2;100,0\n'],
    ['tabs', 'reference\tamount\nsalary-1\t+100.00 USD\nsalary-2\tUSD 100.00\n'],
    ['CRLF and a byte order mark', '\ufeffreference,amount\r\nsalary-1,100.00\r\n\r\nsalary-2,100.00-\r\n'],
    ['CR alone', 'reference,amount\rsalary-1,100.00\rsalary-2,100.00\r'],
    ['quotes, and one that nobody closed', 'reference,amount,text\n"salary-1","100.00","a\nb"\nsalary-2,100.00,"Ada\n'],
    ['no header', 'salary-1,100.00\nsalary-2,100.00\n'],
    [
      'bytes of another encoding beside',
      Buffer.from('reference;amount;text\nsalary-1;100;M\xfcller\nsalary-2;100;x\n', 'latin1'),
    ],
  ])('may have %s', async (_, content) => {
    const columns = typeof content === 'string' && !content.includes('reference') ? [] : ['--amount-column', 'amount']
    const { exitCode, names } = await advanced(content, ...columns)
    expect({ exitCode, names }).toEqual({ exitCode: 0, names: ['salary-1', 'salary-2'] })
  })

  test('says the column that it chose: the one in which most cells name a payout that can be advanced', async () => {
    expect((await advanced('id,what\n7,salary-1\n9,salary-2\n12,Rent\n')).stderr).toStartWith(
      '3 lines: 2 name a payout in what.\n',
    )
    expect((await advanced('7,salary-1\n9,salary-2\n')).stderr).toBe('2 lines: 2 name a payout in column 2.\n')
  })

  test('is refused without --column if rows are numbered like references, and nothing is advanced', async () => {
    for (const file of ['no,text\n1,Rent\n2,Power\n3,Water\n', '1;Rent\n', '1,Rent\n2,Power\n'])
      expect(await advanced(file)).toEqual({
        exitCode: 1,
        names: [],
        stderr: expect.stringMatching(
          /^scrip: no column names a payout in most of its lines\nName the column of the references \(--column\)\. The first line has .*\.\n$/,
        ),
      })
    expect((await advanced('no,text\n1,Rent\n2,Power\n3,Water\n', '--column', 'no')).names).toEqual(['1', '2', '3'])
  })

  test('is refused if two columns name payouts, or the named one is not there', async () => {
    expect(await advanced('a,b\nsalary-1,3\nsalary-2,1\n')).toEqual({
      exitCode: 1,
      names: [],
      stderr:
        'scrip: a and b both name payouts\nName the column of the references (--column). The first line has a, b.\n',
    })
    expect(await advanced('a,b\nsalary-1,3\n', '--column', 'c')).toEqual({
      exitCode: 1,
      names: [],
      stderr: 'scrip: the list has no column c\nThe first line has a, b.\n',
    })
  })

  test('is refused if two columns have the name that a person gives', async () => {
    const refused = {
      exitCode: 1,
      names: [],
      stderr: 'scrip: the list has several columns amount\nGive them different names in the file.\n',
    }
    const list = 'ref,amount,Amount\nsalary-1,100,99.5\n'
    expect(await advanced(list, '--amount-column', 'amount')).toEqual(refused)
    expect(await advanced(list, '--column', 'amount')).toEqual(refused)
  })

  test('leaves a reference that two clients have, unless --client decides, and a second line of a payout', async () => {
    const list = `ref,amount\nsalary-1,100\nboth,100\nsalary-1,100\n${ids['salary-2']},100\n`
    expect(await advanced(list)).toEqual({
      exitCode: 1,
      names: ['salary-1', 'salary-2'],
      stderr: `4 lines: 2 name a payout in ref.
scrip: line 3: both is a payout of several clients: name the client (--client)
scrip: line 4: salary-1 is on line 2 already
`,
    })
    expect(await advanced(list, '--client', 'other')).toMatchObject({ exitCode: 1, names: [] })
    expect(await advanced('ref,amount\nboth,100\n', '--client', 'other')).toMatchObject({
      exitCode: 0,
      names: ['theirs'],
    })
    expect(await advanced('ref,amount\nboth,100\n', '--client', 'nobody')).toMatchObject({ exitCode: 1, names: [] })
  })

  test('may be something else in one long line, of which the refusal shows the beginning', async () => {
    const first = Array.from({ length: 30 }, (_, index) => `x${index}`).join(', ')
    const { exitCode, stderr } = await advanced(Array.from({ length: 100_000 }, (_, index) => `x${index}`).join(','))
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `scrip: no column names a payout in most of its lines
Name the column of the references (--column). The first line has ${first} and 99,970 more columns.
`,
    })
  })

  test('of 100,000 lines names its payouts', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `${index},payment ${index},5.00\n`)
    lines[70_000] = '70000,salary-1,100.00\n'
    const { exitCode, names, stderr } = await advanced(`no,text,amount\n${lines.join('')}`, '--column', 'text')
    expect({ exitCode, names }).toEqual({ exitCode: 0, names: ['salary-1'] })
    expect(stderr).toStartWith(
      '100,000 lines: 1 name a payout in text.\n99,999 lines without a payout:\nline 2: 0, payment 0, 5.00\n',
    )
  })
})

describe('a list of plain lines', () => {
  test('advances what it names, and exits with 1 if a line names nothing', async () => {
    expect(await advanced(`salary-1\r\n\n  ${ids['salary-2']} \nsalary-1\n`)).toEqual({
      exitCode: 0,
      names: ['salary-1', 'salary-2'],
      stderr: '',
    })
    expect(await advanced('salary-1\nsalary-9\nboth\n')).toEqual({
      exitCode: 1,
      names: ['salary-1'],
      stderr:
        '1 line without a payout:\nline 2: salary-9\nscrip: line 3: both is a payout of several clients: name the client (--client)\n',
    })
  })

  test('may have a header, which does not count as a line', async () => {
    expect(await advanced('Reference\nsalary-1\n')).toEqual({ exitCode: 0, names: ['salary-1'], stderr: '' })
  })

  test('that is empty does nothing', async () => {
    for (const empty of ['', '\n\r\n', ';;;\n'])
      expect(await advanced(empty)).toEqual({ exitCode: 0, names: [], stderr: '' })
  })

  test('in another form than text is refused with 4', async () => {
    for (const content of [Buffer.from('salary-1\n', 'utf16le'), new Uint8Array([0, 1, 2, 255])])
      expect(await advanced(content)).toEqual({
        exitCode: 4,
        names: [],
        stderr: 'scrip: FILE: the payouts have 1 problem:\nthe file holds NUL, as UTF-16 does: save it as CSV UTF-8\n',
      })
  })
})

test('--column, --amount-column and --client belong to --file', async () => {
  for (const flags of [
    ['--column', 'a'],
    ['--amount-column', 'a'],
    ['--client', 'acme'],
  ])
    expect(await operator.run(['payouts', 'advance', ids['salary-1'] ?? '', ...flags])).toMatchObject({
      exitCode: 2,
      stdout: '',
    })
})

test('payouts that the bank paid are advanced, each with a row of the audit, and a second time refused', async () => {
  const file = operator.file('paid.csv', BANK)
  const words = [
    'payouts',
    'advance',
    '--to',
    'completed',
    '--file',
    file,
    '--column',
    'Text',
    '--amount-column',
    'Amount',
  ]
  expect(await operator.run(words)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('completed') })
  const rows = await operator.json<{ subject: string; outcome: string }[]>('audit', 'list', '--limit', '2')
  expect(rows.map(({ subject, outcome }) => [subject, outcome])).toEqual([
    [ids['salary-2'] ?? '', 'done'],
    [ids['salary-1'] ?? '', 'done'],
  ])
  const again = await operator.run(words)
  expect(again).toMatchObject({ exitCode: 1, stdout: '(none)\n' })
  expect(again.stderr).toMatch(/^scrip: payout pyt_\w+ is [a-z]+ already$/m)
})
