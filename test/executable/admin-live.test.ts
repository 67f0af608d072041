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

/** The administrative commands while a server works on the same folder: its next response knows what they did. */

const open = (work: (operator: Operator, server: Running, customer: Customer) => Promise<void>): Promise<void> =>
  asOperator(async (operator) => {
    const credentials = await operator.stocked()
    const server = await operator.serve('--rate-limit', 'off')
    await work(operator, server, await Customer.of(server, credentials))
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })

operatorTest('a server that starts with an empty folder can be set up while it runs', async (operator) => {
  const server = await operator.serve()
  const credentials = await operator.json<Credentials>('client', 'add', 'acme')
  const customer = await Customer.of(server, credentials)
  expect(await customer.read('/products')).toEqual([] as never)
  await operator.json('catalog', 'import', operator.file('catalog.json', { products: [TEA, HAMPER] }))
  expect(await customer.read<{ name: string }[]>('/products')).toMatchObject([{ name: 'Hamper' }, { name: 'Tea' }])
  await operator.json('wallet', 'add', 'acme', 'USD')
  await operator.json('wallet', 'fund', '1', '1000', '--remarks', 'Invoice 7')
  expect(await customer.wallet()).toEqual([1000, 0])
  expect(await customer.read('/transactions')).toMatchObject([
    { amount: 1000, source_type: 'funding', remarks: 'Invoice 7', balance_after: 1000 },
  ])

  const buy = (product_id: number) => customer.post('/orders', { product_id, denomination: 10, quantity: 1 })
  expect(await (await buy(1)).text()).toContain('Insufficient stock')
  expect(await (await buy(2)).text()).toContain('No exchange rate found for EUR to USD')
  await operator.json('vouchers', 'import', operator.file('codes', codesOf(1, 'TEA-1') + codesOf(2, 'BOX-1')))
  await operator.json('rates', 'set', 'USD/EUR=0.8')
  expect(await (await buy(1)).json()).toMatchObject({ status: 'DELIVERED', vouchers: [{ card_number: 'TEA-1' }] })
  expect(await (await buy(2)).json()).toMatchObject({
    status: 'PENDING',
    charges: { charges_details: { forex_rate: 1.25 } },
    vouchers: [],
  })
  await operator.json('rates', 'set', 'USD/EUR=0.5')
  const charge = await customer.post('/products/2/charges', { denomination: 20, quantity: 1 })
  expect(await charge.json()).toMatchObject({ charges_details: { forex_rate: 2 } })
  expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
    { product: 'Tea', available: 0, taken: 1 },
    { product: 'Hamper', available: 0, taken: 1 },
  ])
  await server.stop()
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
    await operator.json('client', 'limit', 'acme', '1')
    expect(await refusal()).toEqual([400, 'Quantity exceeds maximum allowed quantity of 1'])
    expect(await customer.wallet()).toEqual([1000, 0])

    await operator.json('client', 'limit', 'acme', 'off')
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
  test('loses access immediately when disabled or rotated, and old tokens stay revoked', () =>
    open(async (operator, server, customer) => {
      const status = async (who: Customer) => (await who.get('/countries/1')).status
      expect(await status(customer)).toBe(200)
      await operator.json('client', 'disable', 'acme')
      expect(await status(customer)).toBe(401)
      await operator.json('client', 'enable', 'acme')
      expect(await status(customer)).toBe(401)

      const rotated = await operator.json<Credentials>('client', 'rotate', 'acme')
      const again = await Customer.of(server, rotated)
      expect(await status(again)).toBe(200)
      const newest = await operator.json<Credentials>('client', 'rotate', 'acme')
      expect(await status(again)).toBe(401)
      expect((await login(server, 'acme', rotated.password)).status).toBe(401)
      const refresh = await server.request('/auth/refresh', {
        method: 'POST',
        body: JSON.stringify({ refresh_token: again.pair.refresh_token }),
      })
      expect(refresh.status).toBe(401)
      expect((await login(server, 'acme', newest.password)).status).toBe(200)
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
    expect(await orderDuring(['client', 'limit', 'acme', '1'])).toEqual([
      400,
      expect.stringContaining('Quantity exceeds maximum allowed quantity of 1'),
    ])
    expect(await operator.run(['client', 'limit', 'acme', 'off'])).toMatchObject({ exitCode: 0 })
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

  test('gets and loses features, limits and discounts with the next request', () =>
    open(async (operator, _, customer) => {
      const categories = async () => (await customer.get('/categories')).status
      expect(await categories()).toBe(200)
      expect(await operator.json('client', 'feature', 'acme', 'vouchers', 'off')).toMatchObject({ vouchers: false })
      expect(await categories()).toBe(403)
      await operator.json('client', 'feature', 'acme', 'vouchers', 'on')
      expect(await categories()).toBe(200)

      const quantityMax = async () => {
        const response = await customer.post('/products/1/charges', { denomination: 10, quantity: 9 })
        return ((await response.json()) as { error?: string }).error
      }
      await operator.json('client', 'limit', 'acme', '2')
      expect(await quantityMax()).toBe('Quantity exceeds maximum allowed quantity of 2')
      await operator.json('client', 'limit', 'acme', 'off')
      expect(await quantityMax()).toBeUndefined()

      const discount = async () => {
        const product = await customer.read<{ available_denominations: { discount: number }[] }>('/products/1')
        return product.available_denominations[0]?.discount
      }
      expect(await discount()).toBe(2.5)
      await operator.json('client', 'discount', 'acme', '1', '7.25')
      expect(await discount()).toBe(7.25)
      await operator.json('client', 'discount', 'acme', '1', '1')
      expect(await discount()).toBe(2.5)
      await operator.json('client', 'discount', 'acme', '1', '0')
      expect(await discount()).toBe(2.5)
      expect(await operator.run(['client', 'discount', 'acme', '99', '5'])).toMatchObject({ exitCode: 1 })
    }))
})

test('orders can be delivered in parts, and the rest is refunded', () =>
  open(async (operator, _, customer) => {
    const { id, amount } = await customer.order(2, 3)
    expect(await customer.wallet()).toEqual([1000 - amount, amount])
    expect(await operator.json<object[]>('orders', 'list', '--status', 'pending')).toMatchObject([
      { id, client: 'acme', status: 'PENDING', quantity: 3, delivered: 0, paid: amount, paid_currency: 'USD' },
    ])
    await operator.json('orders', 'deliver', String(id), '1')
    const partial = await customer.read<Order & Record<string, unknown>>(`/orders/${id}`)
    expect(partial).toMatchObject({ status: 'PARTIALLY_DELIVERED', vouchers: [{ card_number: 'BOX-1' }] })
    await operator.json('orders', 'fail', String(id), '--reason', 'Sold out')
    expect(await customer.read(`/orders/${id}`)).toMatchObject({
      status: 'PARTIALLY_DELIVERED',
      failure_reason: 'Sold out',
    })
    const [left, reserved] = await customer.wallet()
    expect(reserved).toBe(0)
    expect(left).toBeCloseTo(1000 - amount / 3, 1)
    expect(await operator.run(['orders', 'deliver', String(id)])).toMatchObject({ exitCode: 1 })

    const second = await customer.order(2, 2)
    await operator.json('orders', 'deliver', String(second.id))
    const { vouchers } = await customer.read<Order & Record<string, unknown>>(`/orders/${second.id}`)
    expect(vouchers.map((voucher) => voucher.card_number)).toEqual(['BOX-2', 'BOX-3'])
    expect((await operator.run(['orders', 'deliver', '99'])).stderr).toContain('scrip orders list')
    const { stdout } = await operator.run(['orders', 'list'])
    expect(stdout).not.toContain('BOX-')
  }))

describe('a code that expires after its import', () => {
  /** Lets the codes with these numbers in the stock expire: time cannot be waited for. */
  const expire = (operator: Operator, ...ids: number[]): void => {
    const database = new Database(join(operator.dataDir, 'scrip.sqlite'))
    database.run('PRAGMA busy_timeout = 5000')
    database.run(`UPDATE voucher_stock SET expires_at_ms = 1 WHERE id IN (${ids.join(', ')})`)
    database.close()
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

  test('returns to the stock with a cancelled order and is not sold', () =>
    open(async (operator, _, customer) => {
      const { id } = await customer.order(2, 2)
      expire(operator, BOX_1)
      expect((await customer.post(`/orders/${id}/cancel`, undefined)).status).toBe(200)
      expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea' },
        { product: 'Hamper', available: 2, taken: 0, expired: 1 },
      ])
    }))
})

describe('payouts', () => {
  test('are advanced, completed and returned by an operator', () =>
    open(async (operator, _, customer) => {
      const body = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
      const ada = (await (await customer.post('/beneficiaries', body)).json()) as { id: string }
      const { id } = await customer.payout('p-1', ada.id)
      expect(await customer.wallet()).toEqual([898.5, 101.5])
      expect(await operator.json<object[]>('payouts', 'list')).toMatchObject([
        { id, client: 'acme', status: 'created', amount: 100, beneficiary_first_name: 'Ada' },
      ])
      expect(await operator.json('payouts', 'show', id)).toMatchObject({ beneficiary: 'ada@example.com' })
      expect(await operator.json('payouts', 'advance', id)).toMatchObject({ status: 'queued' })
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({ status: 'queued' })
      expect(await operator.json('payouts', 'advance', id, '--to', 'action_required')).toMatchObject({
        status: 'action_required',
        submitted: true,
      })
      expect(await operator.run(['payouts', 'advance', id, '--to', 'queued'])).toMatchObject({ exitCode: 1 })
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({ status: 'action_required' })
      await operator.json('payouts', 'advance', id, '--to', 'completed')
      expect(await customer.wallet()).toEqual([898.5, 0])
      expect(await customer.read(`/beneficiaries/${ada.id}`)).toMatchObject({ total_payouts: 1, total_amount: 100 })
      await operator.json('payouts', 'return', id)
      expect(await customer.wallet()).toEqual([998.5, 0])
      expect(await operator.run(['payouts', 'return', id])).toMatchObject({ exitCode: 1 })
      const { events } = await customer.read<{ events: { event_type: string; actor_type: string }[] }>(`/payouts/${id}`)
      expect(events.map(({ event_type, actor_type }) => `${event_type} by ${actor_type}`)).toEqual([
        'created by client',
        'queued by operator',
        'processing by operator',
        'submitted by operator',
        'settling by operator',
        'action_required by operator',
        'resumed by operator',
        'completed by operator',
        'returned by operator',
      ])
    }))

  test('that fail are refunded and have a reason', () =>
    open(async (operator, _, customer) => {
      const { id } = await customer.payout('p-2')
      expect(await operator.run(['payouts', 'fail', id])).toMatchObject({ exitCode: 1 })
      await operator.json('payouts', 'advance', id, '--to', 'processing')
      await operator.json('payouts', 'fail', id, '--code', 'account_closed', '--reason', 'The account is closed')
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({
        status: 'failed',
        failure_code: 'account_closed',
        failure_reason: 'The account is closed',
      })
      expect(await customer.wallet()).toEqual([1000, 0])
      expect(await operator.run(['payouts', 'advance', id])).toMatchObject({ exitCode: 1 })
      expect((await operator.run(['payouts', 'advance', 'pyt_none'])).stderr).toContain('scrip payouts list')
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

operatorTest('a second server on the same folder is refused until the first is killed', async (operator) => {
  const server = await operator.serve()
  const second = await operator.run(['serve', '--mode', 'live', '--port', '0'])
  expect(second).toMatchObject({ exitCode: 4, stdout: '' })
  expect(second.stderr).toContain(`${operator.dataDir}: another scrip serve works on this folder`)
  server.signal('SIGKILL')
  await server.ended()
  expect(await (await operator.serve()).stop()).toMatchObject({ exitCode: 0 })
})
