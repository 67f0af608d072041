import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdBack } from '../held-body.ts'
import { login, type Running } from '../program.ts'
import {
  asOperator,
  type Credentials,
  Customer,
  codesOf,
  HAMPER,
  type Operator,
  type Order,
  operatorTest,
  stockedTest,
  TEA,
} from './live.ts'

/** The administrative commands while a server works on the same folder: its next response shows their effect. */

const BOX = (number: number) => ({ card_number: `BOX-${number}` })

const open = (work: (operator: Operator, server: Running, customer: Customer) => Promise<void>): Promise<void> =>
  asOperator(async (operator) => {
    const credentials = await operator.stocked()
    const server = await operator.serve('--rate-limit', 'off')
    await work(operator, server, await Customer.of(server, credentials))
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })

test('a held charge fixes only the price of an order', () =>
  open(async (operator, _server, customer) => {
    const ASKED = { denomination: 10, quantity: 2 }
    const sell = (change: object) =>
      operator.json('catalog', 'import', operator.file('catalog.json', { products: [{ ...TEA, ...change }, HAMPER] }))
    const refusal = async (): Promise<unknown> => {
      const response = await customer.post('/orders', { product_id: 1, ...ASKED })
      return [response.status, ((await response.json()) as { error: { message: string } }).error.message]
    }
    const charge = await (await customer.post('/products/1/charges', ASKED)).text()

    await sell({ active: false })
    expect(await refusal()).toEqual([404, 'Product not found'])
    await sell({ gst_percent: 50, denominations: [{ min_value: 20, max_value: 50, discount: 2.5 }] })
    expect(await refusal()).toEqual([404, 'Denomination not found'])
    await sell({ gst_percent: 50 })
    await operator.json('client', 'limits', 'acme', '--max-quantity', '1')
    expect(await refusal()).toEqual([400, 'Quantity exceeds maximum allowed quantity of 1'])
    expect(await customer.wallet()).toEqual([1000, 0])

    await operator.json('client', 'limits', 'acme', '--max-quantity', 'off')
    const repeated = await customer.post('/products/1/charges', ASKED)
    expect([repeated.status, repeated.headers.get('x-cache'), await repeated.text()]).toEqual([200, 'HIT', charge])
    expect(await customer.order(1, 2)).toMatchObject({ amount: 19.5, charges: JSON.parse(charge) })

    await sell({ currency: 'EUR', country: 'DEU' })
    const stranger = await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 1 })
    expect(await stranger.json()).toMatchObject({ currency_code: 'EUR', amount: 12.25 })
  }))

operatorTest('the flags set the fees, and 0 disables them', async (operator) => {
  const { server, customer } = await operator.trading(
    '--rate-limit',
    'off',
    '--conversion-fee',
    '1.25',
    '--payout-fee',
    '0',
  )
  const charge = await customer.post('/products/2/charges', { denomination: 10, quantity: 1 })
  // 9.75 EUR at 1.25 are 12.19 USD, of which 1.25 % are 0.152.
  expect(await charge.json()).toMatchObject({ charges_details: { conversion_fee: 0.15 }, total_payable: 12.34 })
  const { id } = await customer.payout('free')
  expect(await customer.read(`/payouts/${id}`)).toMatchObject({ amount: 100, fees: 0, total_amount: 100 })
  expect(await customer.wallet()).toEqual([900, 100])
  expect(await server.stop()).toMatchObject({ exitCode: 0 })
})

describe('a client', () => {
  test('loses access at once when disabled, and old tokens stay revoked', () =>
    open(async (operator, server, customer) => {
      const status = async () => (await customer.get('/countries/1')).status
      expect(await status()).toBe(200)
      for (const act of ['disable', 'enable']) {
        await operator.json('client', act, 'acme')
        expect(await status()).toBe(401)
      }
      const refresh = { method: 'POST', body: JSON.stringify({ refresh_token: customer.pair.refresh_token }) }
      expect((await server.request('/auth/refresh', refresh)).status).toBe(401)
    }))

  stockedTest('that is disabled while a body arrives pays nothing and sees no codes', async (operator, credentials) => {
    await using server = await operator.serve('--rate-limit', '1000/d')
    const customer = await Customer.of(server, credentials)
    const orderDuring = async (command: string[]): Promise<[number, string]> => {
      const headers = { authorization: `Bearer ${customer.pair.access_token}` }
      const { finish } = await holdBack(
        { product_id: 1, denomination: 10, quantity: 2 },
        (body) => server.request('/api/v1/orders', { method: 'POST', headers, body }),
        () => customer.get('/countries/1'),
      )
      expect(await operator.run(command)).toMatchObject({ exitCode: 0 })
      const response = await finish()
      return [response.status, await response.text()]
    }
    expect(await orderDuring(['client', 'limits', 'acme', '--max-quantity', '1'])).toEqual([
      400,
      expect.stringContaining('Quantity exceeds maximum allowed quantity of 1'),
    ])
    expect(await operator.run(['client', 'limits', 'acme', '--max-quantity', 'off'])).toMatchObject({ exitCode: 0 })
    const withdrawn = operator.file('withdrawn.json', { products: [{ ...TEA, active: false }, HAMPER] })
    expect(await orderDuring(['catalog', 'import', withdrawn])).toEqual([
      404,
      expect.stringContaining('Product not found'),
    ])
    expect(
      await operator.run(['catalog', 'import', operator.file('again.json', { products: [TEA, HAMPER] })]),
    ).toMatchObject({ exitCode: 0 })
    expect(await orderDuring(['client', 'feature', 'acme', 'vouchers', 'off'])).toEqual([
      403,
      expect.stringContaining('FORBIDDEN'),
    ])
    expect(await operator.run(['client', 'feature', 'acme', 'vouchers', 'on'])).toMatchObject({ exitCode: 0 })
    expect(await orderDuring(['client', 'disable', 'acme'])).toEqual([401, expect.stringContaining('UNAUTHORIZED')])
    expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
      { product: 'Tea', available: 3, taken: 0 },
      { product: 'Hamper', available: 3, taken: 0 },
    ])
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
  })
})

/** An act, its result, the next request of the client, and its response. P, Q and R are payouts. */
const ACTS: [act: string, answer: object, path: string, seen: object][] = [
  ['client feature acme vouchers off', { vouchers: false }, '/categories', { error: { code: 'FORBIDDEN' } }],
  ['client feature acme vouchers on', { vouchers: true }, '/categories', [{}]],
  ['client discount acme 1 7.25', { discount: 7.25 }, '/products/1', { available_denominations: [{ discount: 7.25 }] }],
  // The better of two discounts counts.
  ['client discount acme 1 1', { discount: 1 }, '/products/1', { available_denominations: [{ discount: 2.5 }] }],
  ['client discount acme 1 0', { discount: 0 }, '/products/1', { available_denominations: [{ discount: 2.5 }] }],
  ['orders deliver 1 1', { status: 'PARTIALLY_DELIVERED', delivered: 1 }, '/orders/1', { vouchers: [BOX(1)] }],
  ['orders fail 1 --reason Sold', { status: 'PARTIALLY_DELIVERED' }, '/orders/1', { failure_reason: 'Sold' }],
  ['orders deliver 2', { status: 'DELIVERED', delivered: 2 }, '/orders/2', { vouchers: [BOX(4), BOX(5)] }],
  ['orders refund 2 --vouchers 2-1', { refunded_amount: 12.25 }, '/orders/2', { refunded_amount: 12.25 }],
  ['orders refund 2', { refunded_amount: 24.5 }, '/orders/2', { refunded_amount: 24.5, status: 'DELIVERED' }],
  ['payouts advance P', { status: 'queued', submitted: false }, '/payouts/P', { status: 'queued' }],
  ['payouts advance P --to action_required', { submitted: true }, '/payouts/P', { status: 'action_required' }],
  ['payouts advance P --to completed', { status: 'completed' }, '/payouts/P', { status: 'completed' }],
  ['payouts return P', { returned: true }, '/transactions', [{ transaction_type: 'CREDIT', amount: 100 }]],
  ['payouts advance Q --to processing', { status: 'processing' }, '/payouts/Q', { status: 'processing' }],
  ['payouts fail Q --code gone --reason Left', { failure_reason: 'Left' }, '/payouts/Q', { failure_code: 'gone' }],
  ['payouts cancel R', { status: 'cancelled' }, '/payouts/R', { events: [{}, { actor_type: 'operator' }] }],
]

const REFUSED: [act: string, message: string][] = [
  ['client discount acme 99 5', 'there is no product 99\nSee scrip catalog export.'],
  ['orders deliver 1', 'order 1 is PARTIALLY_DELIVERED, and cannot be changed like this\nSee scrip orders show 1.'],
  ['orders deliver 99', 'there is no order 99\nSee scrip orders list.'],
  ['orders refund 2', 'order 2 is already refunded'],
  ['orders refund 2 --vouchers 2-1', 'is already refunded'],
  ['orders refund 7', 'there is no order 7'],
  ['payouts return P', 'is completed, and cannot be changed like this'],
  ['payouts cancel Q', 'is failed, and cannot be changed like this'],
  ['payouts advance R', 'is cancelled, and cannot be changed like this'],
  ['payouts advance pyt_none', 'there is no payout pyt_none\nSee scrip payouts list.'],
]

test('an act answers with the record, the next request of its client sees it, and the audit has its row', () =>
  open(async (operator, _, customer) => {
    await operator.json('vouchers', 'import', operator.file('more', codesOf(2, 'BOX-4', 'BOX-5')))
    await customer.order(2, 3)
    await customer.order(2, 2)
    const ids = new Map<string, string>()
    for (const name of ['P', 'Q', 'R']) ids.set(name, (await customer.payout(name)).id)
    const named = (text: string) => text.replace(/\b[PQR]\b/, (name) => ids.get(name) ?? name)
    for (const [act, answer, path, seen] of ACTS) {
      expect({ act, answer: await operator.json(...named(act).split(' ')) }).toMatchObject({ act, answer })
      const read = await customer.read<object>(named(path))
      expect({ act, seen: Array.isArray(seen) ? [(read as object[])[0]] : read }).toMatchObject({ act, seen })
    }
    expect(await operator.json('orders', 'show', '2')).toMatchObject({ refunded_vouchers: ['2-1', '2-2'] })
    // The codes of a refund are not sold again.
    expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([{}, { available: 2, taken: 3 }])
    const balance = await customer.wallet()
    for (const [act, message] of REFUSED) {
      const { exitCode, stdout, stderr } = await operator.run(named(act).split(' '))
      expect({ act, exitCode, stdout, stderr }).toEqual({
        ...{ act, exitCode: 1, stdout: '' },
        stderr: expect.stringContaining(message),
      })
    }
    expect(await customer.wallet()).toEqual(balance)
    const rows = await operator.json<{ command: string; outcome: string }[]>('audit', 'list')
    const expected = [...ACTS.map(([act]) => [act, 'done']), ...REFUSED.map(([act]) => [act, 'refused'])]
    expect(
      rows
        .slice(0, expected.length)
        .reverse()
        .map(({ command, outcome }) => [command, outcome]),
    ).toEqual(expected.map(([act = '', outcome = '']) => [act.split(' ', 2).join(' '), outcome]))
    expect((await operator.run(['orders', 'list'])).stdout).not.toContain('BOX-')
  }))

stockedTest(
  'a reference that several clients have is left in a list, and the rest is done',
  async (operator, credentials) => {
    await using server = await operator.serve()
    const other = await operator.json<Credentials>('client', 'add', 'other')
    await operator.json('wallet', 'add', 'other', 'USD', '--postpaid', '1000')
    const [one, two] = [await Customer.of(server, credentials), await Customer.of(server, other)]
    const { id } = await one.payout('same')
    await two.payout('same', undefined, 2)
    const advance = (list: string) =>
      operator.run(['payouts', 'advance', '--json', '--file', operator.file('list', list)])
    const left = await advance('same')
    expect([left.exitCode, left.stdout]).toEqual([1, '[]\n'])
    expect(left.stderr).toBe('scrip: line 1: same is a payout of several clients: name the client (--client)\n')
    expect(JSON.parse((await advance(id)).stdout)).toMatchObject([{ id, client: 'acme', status: 'queued' }])
  },
)

test('payouts of a list are advanced one by one, by their ids or references, and a refused one stops no other', () =>
  open(async (operator, _, customer) => {
    const made = []
    for (const name of ['p-1', 'p-2', 'p-3', 'p-4']) made.push((await customer.payout(name)).id)
    const [first = '', , third = '', fourth = ''] = made
    await operator.json('payouts', 'cancel', third)
    const list = operator.file('paid.txt', `p-1\r\n\n  p-3 \n${fourth}\np-1\n`)
    const args = ['payouts', 'advance', '--to', 'completed', '--json', '--file']
    const dryRun = await operator.run([...args, list, '--dry-run'])
    expect([dryRun.exitCode, JSON.parse(dryRun.stdout)]).toEqual([
      1,
      [first, fourth].map((id) => expect.objectContaining({ id, status: 'completed' })),
    ])
    expect(await customer.read(`/payouts/${first}`)).toMatchObject({ status: 'created' })
    const done = await operator.run([...args, list])
    expect([done.exitCode, done.stdout]).toEqual([1, dryRun.stdout])
    expect(done.stderr).toStartWith(`scrip: payout ${third} is cancelled, and cannot be changed like this\n`)
    const rows = await operator.json<{ subject: string; outcome: string }[]>('audit', 'list', '--limit', '3')
    expect(rows.map(({ subject, outcome }) => [subject, outcome])).toEqual([
      [fourth, 'done'],
      [third, 'refused'],
      [first, 'done'],
    ])
    const partly = await operator.run([...args, operator.file('partly.txt', 'p-9\np-2\n')])
    expect([partly.exitCode, partly.stderr]).toEqual([1, '1 line without a payout:\nline 1: p-9\n'])
    expect(await customer.read(`/payouts/${made[1]}`)).toMatchObject({ status: 'completed' })
    for (const which of [[], [first, '--file', list]])
      expect(await operator.run(['payouts', 'advance', ...which])).toMatchObject({ exitCode: 2, stdout: '' })
  }))

describe('a code that expires after its import', () => {
  /** Lets the codes with these numbers in the stock expire, because a test cannot wait for that. */
  const expire = ({ dataDir }: Operator, ...ids: number[]): void => {
    using database = new Database(join(dataDir, 'scrip.sqlite'))
    database.run('PRAGMA busy_timeout = 5000')
    database.run(`UPDATE voucher_stock SET expires_at_ms = 1 WHERE id IN (${ids.join(', ')})`)
  }
  const [TEA_1, BOX_1, BOX_2] = [1, 4, 5] as const
  const cardsOf = ({ vouchers }: Order) => vouchers.map(({ card_number }) => card_number)

  test('is not sold, and is counted as expired', () =>
    open(async (operator, _, customer) => {
      expire(operator, TEA_1)
      const canBuy = async (quantity: number) =>
        (await (await customer.post('/products/1/availability', { denomination: 10, quantity })).json()) as object
      expect([await canBuy(2), await canBuy(3)]).toEqual([{ is_available: true }, { is_available: false }])
      expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea', available: 2, taken: 0, expired: 1 },
        { product: 'Hamper', available: 3, taken: 0, expired: 0 },
      ])
      const refused = await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 3 })
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Insufficient stock')])
      expect(cardsOf(await customer.order(1, 2))).toEqual(['TEA-2', 'TEA-3'])
    }))

  test('is replaced by a valid code if an order waited for it', () =>
    open(async (operator, _, customer) => {
      const { id } = await customer.order(2, 2)
      expire(operator, BOX_1)
      await operator.json('orders', 'deliver', String(id), '1')
      expect(cardsOf(await customer.read<Order>(`/orders/${id}`))).toEqual(['BOX-2'])
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
      expire(operator, BOX_2)
      await operator.json('orders', 'deliver', String(id))
      expect(cardsOf(await customer.read<Order>(`/orders/${id}`))).toEqual(['BOX-2', 'BOX-3'])
      expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea' },
        { product: 'Hamper', available: 0, taken: 2, expired: 1 },
      ])
    }))

  test('is not delivered if there is no other code', () =>
    open(async (operator, _, customer) => {
      const { id } = await customer.order(2, 3)
      expire(operator, BOX_1)
      const refused = await operator.run(['orders', 'deliver', String(id)])
      expect([refused.exitCode, refused.stderr]).toEqual([
        1,
        'scrip: insufficient stock\nSee scrip vouchers list, and add codes with scrip vouchers import.\n',
      ])
      expect(await customer.read(`/orders/${id}`)).toMatchObject({ status: 'PENDING', vouchers: [] })
      await operator.json('orders', 'deliver', String(id), '2')
      await operator.json('vouchers', 'import', operator.file('more', codesOf(2, 'BOX-4')))
      await operator.json('orders', 'deliver', String(id))
      const delivered = await customer.read<Order>(`/orders/${id}`)
      expect([delivered.status, cardsOf(delivered)]).toEqual(['DELIVERED', ['BOX-2', 'BOX-3', 'BOX-4']])
    }))
})

operatorTest('codes, passwords and tokens are not in logs, errors or backups', async (operator) => {
  const { server, customer, credentials } = await operator.trading('--log-level', 'debug', '--log-format', 'json')
  const order = await customer.order(1, 2)
  const { id } = await customer.order(2, 1)
  await operator.json('orders', 'deliver', String(id))
  const said = [
    await (await login(server, 'acme', `${credentials.password}x`)).text(),
    await (await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 9 })).text(),
    await (await server.request('/auth/refresh', { method: 'POST', body: customer.pair.refresh_token })).text(),
    (await operator.run(['vouchers', 'import', operator.file('again', codesOf(1, 'TEA-1'))])).stderr,
    (await operator.run(['orders', 'list'])).stdout,
    (await operator.run(['orders', 'deliver', String(order.id)])).stderr,
  ]
  const backup = join(operator.folder, 'backup')
  await operator.json('backup', backup)
  said.push((await server.stop()).stderr, readFileSync(backup, 'latin1'))
  expect(said.filter((text) => text === '')).toEqual([])
  const secrets = ['TEA-1', 'BOX-1', credentials.password, customer.pair.access_token, customer.pair.refresh_token]
  for (const text of said) expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})
