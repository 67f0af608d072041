import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run, start } from '../program.ts'
import { asOperator, type Credentials, Customer, codesOf, operatorTest, stockedTest, TEA } from './live.ts'

/** The administrative commands without a server on the folder (contract C1, C2, C8, C11, C12). */

describe('client add', () => {
  test('creates live data in a new folder, prints the credentials once, and stores only a digest', () =>
    asOperator(async (operator) => {
      const { exitCode, stdout, stderr } = await operator.run(['client', 'add', 'acme', '--json'])
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      const credentials = JSON.parse(stdout) as Credentials
      expect(credentials).toEqual({ client_id: 1, username: 'acme', password: expect.stringMatching(/^[0-9a-z]{32}$/) })
      expect(statSync(operator.dataDir).mode & 0o777).toBe(0o700)
      for (const name of readdirSync(operator.dataDir)) {
        expect(readFileSync(join(operator.dataDir, name)).includes(credentials.password)).toBe(false)
      }
    }))

  operatorTest('refuses sandbox names and invalid names', async (operator) => {
    for (const name of ['sandbox', 'limited', 'Sandbox', 'sbx_x', '', 'a b', '-x', 'x'.repeat(65)]) {
      const { exitCode } = await operator.run(['client', 'add', '--', name])
      expect({ name, exitCode }).toEqual({ name, exitCode: 2 })
    }
    expect(existsSync(operator.dataDir)).toBe(false)
  })
})

operatorTest('other commands refuse a folder without a database and do not create one', async (operator) => {
  for (const args of [
    ['client', 'list'],
    ['wallet', 'fund', '1', '10'],
    ['orders', 'list'],
    ['payouts', 'list'],
    ['rates', 'list'],
    ['vouchers', 'list'],
    ['catalog', 'export', '-'],
    ['backup', join(operator.folder, 'backup')],
    ['verify'],
  ]) {
    const { exitCode, stderr } = await operator.run(args)
    expect({ args, exitCode }).toEqual({ args, exitCode: 4 })
    expect(stderr).toContain(operator.dataDir)
  }
  expect(existsSync(operator.dataDir)).toBe(false)
})

test.each([
  ['an id that is none', ['wallet', 'fund', '01', '5', '--data-dir', '/none'], /positive whole number/],
  ['a percentage that is none', ['client', 'discount', 'acme', '1', '7.555', '--data-dir', '/none'], /two decimals/],
  ['neither on nor off', ['client', 'feature', 'acme', 'vouchers', 'maybe', '--data-dir', '/none'], /one of on, off/],
  ['a status that is none', ['orders', 'list', '--status', 'GONE', '--data-dir', '/none'], /one of PENDING/],
])('exit 2 for %s', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await run(args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

test('exit 2 for an invalid voucher key, which is not printed', async () => {
  const ended = await run(['client', 'list', '--data-dir', '/none'], { env: { SCRIP_VOUCHER_KEY: 'hush' } })
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' })
  expect(ended.stderr).toContain('32 bytes')
  expect(ended.stderr).not.toContain('hush')
})

/** Each refusal has its exit code and its message; mistakes.test.ts has the usual messages whole. */
const REFUSED: [exitCode: number, command: string, message: string][] = [
  [2, 'wallet fund 1 1e3', 'not an amount in'],
  [2, 'wallet fund 1 0', 'above zero'],
  [2, 'wallet threshold 1 -5', 'at least 0'],
  [2, 'wallet adjust 1 0', 'nothing'],
  [2, 'wallet fund 1 99999999999999.99', 'too large'],
  [2, 'wallet fund 1 1000000001', 'amount must be at most 1000000000'],
  [1, 'wallet fund 9 5', 'scrip wallet list'],
  [1, 'wallet add nobody USD', 'scrip client list'],
  [2, 'rates set USD/EUR', 'USD/EUR=0.92'],
  [2, 'rates set USD/EUR=-1', 'USD/EUR=0.92'],
  [2, 'rates set USD/EUR=0.123456789', '8 decimals'],
  [2, 'rates set USD/EUR=90071993', 'is more than 90071992.54740991'],
  [2, 'rates set USD/EUR=1 EUR/USD=1', 'same base'],
  [2, 'rates set USD/EUR=1 USD/EUR=2', 'Give each currency once'],
  [2, 'rates set USD/XXX=1', 'XXX'],
  [2, 'rates set INR/EUR=1', 'one USD'],
  [2, 'rates set', '--file'],
  [4, 'rates set --file /no/such.json', '/no/such.json'],
]

stockedTest('an import of a file without codes says so', async (operator) => {
  for (const content of ['', '\n\n'])
    expect(await operator.run(['vouchers', 'import', operator.file('empty.jsonl', content)])).toEqual({
      exitCode: 0,
      stdout: 'imported  0\n',
      stderr: 'The file contains no codes. Nothing was imported.\n',
    })
})

stockedTest('what is refused says why, and changes nothing', async (operator) => {
  const state = async () => [await operator.json('wallet', 'list'), await operator.json('rates', 'list')]
  const before = await state()
  for (const [exitCode, command, message] of REFUSED) {
    const ended = await operator.run(command.split(' '))
    expect({ command, ...ended }).toMatchObject({ command, exitCode, stdout: '' })
    expect(ended.stderr).toContain(message)
  }
  expect(await state()).toEqual(before)
})

describe('wallets', () => {
  operatorTest('are opened, funded and corrected through the ledger', async (operator) => {
    await operator.json('client', 'add', 'acme')
    expect(await operator.json('wallet', 'add', 'acme', 'usd')).toMatchObject({
      id: 1,
      currency: 'USD',
      is_default: true,
    })
    expect(await operator.json('wallet', 'add', 'acme', 'KWD', '--postpaid', '500.125')).toMatchObject({
      id: 2,
      type: 'POSTPAID',
      credit_limit: 500.125,
      is_default: false,
    })
    expect(await operator.json('wallet', 'fund', '1', '1000.50', '--remarks', 'Invoice 7')).toMatchObject({
      amount: 1000.5,
    })
    expect(await operator.json('wallet', 'adjust', '1', '-0.50')).toMatchObject({ amount: 1000 })
    expect(await operator.json('wallet', 'adjust', '2', '-500.125')).toMatchObject({ amount: -500.125 })
    const { stdout } = await operator.run(['wallet', 'list', '--client', 'acme'])
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 5))).toMatchObject([
      ['id', 'client', 'currency', 'amount', 'reserved_amount'],
      [' 2', 'acme', 'KWD', '-500.125', '0.000'],
      [' 1', 'acme', 'USD', '1000.00', '0.00'],
      [''],
    ])
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })
})

describe('vouchers import', () => {
  stockedTest('refuses a file with a code that was imported before', async (operator) => {
    for (const [content, message] of [
      [codesOf(1, 'TEA-9', 'TEA-2'), 'line 2: card_number: was imported before'],
      [codesOf(1, 'box 1'), 'line 1: card_number: was imported before'],
      [codesOf(1, 'NEW') + codesOf(2, 'n-e-w'), 'line 2: card_number: the same as at line 1'],
    ] as const) {
      const ended = await operator.run(['vouchers', 'import', operator.file('more', content)])
      expect(ended).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(message) })
    }
    expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
      { product_id: 1, product: 'Tea', denomination: 10, currency: 'USD', available: 3 },
      { product_id: 2, product: 'Hamper', denomination: 10, currency: 'EUR', available: 3 },
    ])
  })

  stockedTest('encrypts the codes: no file of the folder contains one', async (operator) => {
    for (const name of readdirSync(operator.dataDir)) {
      expect(readFileSync(join(operator.dataDir, name)).includes('TEA-1')).toBe(false)
    }
  })
})

describe('the voucher key', () => {
  const KEY = '0123456789abcdef'.repeat(4)
  const OTHER = 'f'.repeat(64)

  stockedTest(
    'is readable only by its owner, and a missing or wrong one is detected at the start',
    async (operator) => {
      expect(statSync(join(operator.dataDir, 'voucher.key')).mode & 0o777).toBe(0o600)
      const refused = await operator.run(['serve', '--mode', 'live', '--port', '0'], {
        env: { SCRIP_VOUCHER_KEY: OTHER },
      })
      expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
      expect(refused.stderr).toContain('SCRIP_VOUCHER_KEY')
      const key = readFileSync(join(operator.dataDir, 'voucher.key'), 'utf8').trim()
      await Bun.file(join(operator.dataDir, 'voucher.key')).delete()
      expect(await operator.run(['serve', '--mode', 'live', '--port', '0'])).toMatchObject({ exitCode: 4, stdout: '' })
      expect(existsSync(join(operator.dataDir, 'voucher.key'))).toBe(false)
      const place = { env: { SCRIP_VOUCHER_KEY: key } }
      await (await start(['serve', '--mode', 'live', '--port', '0', '--data-dir', operator.dataDir], place)).stop()
    },
  )

  stockedTest('is replaced while no server runs, which sells codes encrypted before', async (operator, credentials) => {
    const keyFile = join(operator.dataDir, 'voucher.key')
    const old = readFileSync(keyFile, 'utf8')
    const server = await operator.serve()
    const customer = await Customer.of(server, credentials)
    const bought = await customer.order(1, 1)
    expect(await operator.run(['vouchers', 'rekey'])).toMatchObject({ exitCode: 4, stdout: '' })
    expect(readFileSync(keyFile, 'utf8')).toBe(old)
    await server.stop()
    const response = await operator.json<{ old_key: string }>('vouchers', 'rekey')
    expect(response).toMatchObject({ resealed: 7, damaged: 0 })
    expect(readFileSync(join(operator.dataDir, response.old_key), 'utf8')).toBe(old)
    expect(readFileSync(keyFile, 'utf8')).not.toBe(old)
    const again = await operator.serve()
    const later = await Customer.of(again, credentials)
    expect(await later.read(`/orders/${bought.id}`)).toEqual(bought as never)
    expect((await later.order(1, 1)).vouchers).toMatchObject([{ card_number: 'TEA-2' }])
    await again.stop()
    expect(
      (await operator.run(['serve', '--mode', 'live', '--port', '0'], { env: { SCRIP_VOUCHER_KEY: old.trim() } }))
        .exitCode,
    ).toBe(4)
  })

  operatorTest('outside the folder is replaced while no server runs', async (operator) => {
    await operator.json('client', 'add', 'acme')
    await operator.json('catalog', 'import', operator.file('catalog.json', { products: [TEA] }))
    const [before, both, after] = [
      { SCRIP_VOUCHER_KEY: KEY },
      { SCRIP_VOUCHER_KEY: KEY, SCRIP_NEW_VOUCHER_KEY_FILE: operator.file('new', OTHER) },
      { SCRIP_VOUCHER_KEY: OTHER },
    ]
    await operator.run(['vouchers', 'import', operator.file('codes', codesOf(1, 'TEA-1'))], { env: before })
    expect(await operator.run(['vouchers', 'rekey'], { env: before })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('SCRIP_NEW_VOUCHER_KEY'),
    })
    const server = await start(['--mode', 'live', '--data-dir', operator.dataDir], {
      env: { ...before, SCRIP_PORT: '0' },
    })
    expect(await operator.run(['vouchers', 'rekey'], { env: both })).toMatchObject({ exitCode: 4 })
    await server.stop()
    expect(await operator.run(['vouchers', 'rekey', '--json'], { env: both })).toMatchObject({
      exitCode: 0,
      stdout: '{"resealed":1,"damaged":0,"old_key":null}\n',
    })
    expect(readdirSync(operator.dataDir).filter((name) => name.startsWith('voucher.key'))).toEqual([])
    const again = operator.file('codes', codesOf(1, 'tea1'))
    expect((await operator.run(['vouchers', 'import', again], { env: after })).stderr).toContain('was imported before')
  })

  test.each([
    ['SCRIP_VOUCHER_KEY as hex', { SCRIP_VOUCHER_KEY: KEY }],
    ['SCRIP_VOUCHER_KEY as base64', { SCRIP_VOUCHER_KEY: Buffer.from(KEY, 'hex').toString('base64') }],
  ])('is read from %s and not stored', (_, env) =>
    asOperator(async (operator) => {
      await operator.json('client', 'add', 'acme')
      await operator.json('catalog', 'import', operator.file('catalog.json', { products: [TEA] }))
      const codes = operator.file('codes', codesOf(1, 'TEA-1'))
      expect(await operator.run(['vouchers', 'import', codes], { env })).toMatchObject({ exitCode: 0 })
      expect(existsSync(join(operator.dataDir, 'voucher.key'))).toBe(false)
      const keyFile = operator.file('key', `${KEY}\n`)
      const twice = await operator.run(['vouchers', 'import', codes], { env: { SCRIP_VOUCHER_KEY_FILE: keyFile } })
      expect(twice.stderr).toContain('was imported before')
      expect((await operator.run(['vouchers', 'import', codes], { env: { SCRIP_VOUCHER_KEY: OTHER } })).exitCode).toBe(
        4,
      )
    }),
  )
})

describe('catalog', () => {
  operatorTest('export writes the seed data, which can be imported again', async (operator) => {
    const { exitCode, stdout } = await run(['catalog', 'export'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual(await Bun.file(join(import.meta.dir, '../../seed/catalog.json')).json())
    const file = operator.file('catalog.json', stdout)
    expect(await run(['catalog', 'validate', file])).toMatchObject({ exitCode: 0 })
    // An import may be the first command of a folder.
    const { products } = JSON.parse(stdout) as { products: unknown[] }
    expect(await operator.json('catalog', 'import', file)).toMatchObject({ products: products.length })
    const copy = join(operator.folder, 'copy.json')
    expect(await operator.run(['catalog', 'export', copy])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(copy, 'utf8')).toBe(stdout)
  })

  test('schema is a JSON Schema', async () => {
    const { exitCode, stdout } = await run(['catalog', 'schema'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Scrip catalog', type: 'object', required: ['products'] })
  })
})

describe('rates', () => {
  operatorTest('are set individually or from a file', async (operator) => {
    await operator.json('client', 'add', 'acme')
    await operator.json('rates', 'set', 'USD/EUR=0.92', 'USD/INR=83.5')
    await operator.json('rates', 'set', 'USD/EUR=0.93000001')
    expect(await operator.json<object[]>('rates', 'list')).toEqual([
      { base: 'USD', currency: 'EUR', rate: '0.93000001' },
      { base: 'USD', currency: 'INR', rate: '83.5' },
    ])
    await operator.json('rates', 'set', '--file', operator.file('rates.json', { base: 'EUR', rates: { JPY: '160' } }))
    expect(await operator.json<object[]>('rates', 'list')).toEqual([{ base: 'EUR', currency: 'JPY', rate: '160' }])
  })
})
