import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdBack } from '../held-body.ts'
import {
  type Credentials,
  Customer,
  codesOf,
  HAMPER,
  inOffice,
  type Office,
  type Order,
  officeTest,
  TEA,
} from './live.ts'
import { login, type Running, start } from './program.ts'

/** The administrative commands while a server works on the same folder: its next answer knows what they did. */

const open = (work: (office: Office, server: Running, customer: Customer) => Promise<void>): Promise<void> =>
  inOffice(async (office) => {
    const credentials = await office.stocked()
    const server = await office.serve('--rate-limit', 'off')
    await work(office, server, await Customer.of(server, credentials))
    expect((await office.run(['verify'])).exitCode).toBe(0)
    expect((await server.stop()).exitCode).toBe(0)
    expect((await office.run(['verify'])).exitCode).toBe(0)
  })

officeTest('a server that starts with an empty folder can be set up while it runs', async (office) => {
  const server = await office.serve()
  const credentials = await office.answer<Credentials>('client', 'add', 'acme')
  const customer = await Customer.of(server, credentials)
  expect(await customer.read('/products')).toEqual([] as never)
  await office.answer('catalog', 'import', office.file('catalog.json', { products: [TEA, HAMPER] }))
  expect(await customer.read<{ name: string }[]>('/products')).toMatchObject([{ name: 'Hamper' }, { name: 'Tea' }])
  await office.answer('wallet', 'add', 'acme', 'USD')
  await office.answer('wallet', 'fund', '1', '1000', '--remarks', 'Invoice 7')
  expect(await customer.wallet()).toEqual([1000, 0])
  expect(await customer.read('/transactions')).toMatchObject([
    { amount: 1000, source_type: 'funding', remarks: 'Invoice 7', balance_after: 1000 },
  ])

  const buy = (product_id: number) => customer.post('/orders', { product_id, denomination: 10, quantity: 1 })
  expect(await (await buy(1)).text()).toContain('Insufficient stock')
  expect(await (await buy(2)).text()).toContain('No exchange rate found for EUR to USD')
  await office.answer('vouchers', 'import', office.file('codes', codesOf(1, 'TEA-1') + codesOf(2, 'BOX-1')))
  await office.answer('rates', 'set', 'USD/EUR=0.8')
  expect(await (await buy(1)).json()).toMatchObject({ status: 'DELIVERED', vouchers: [{ card_number: 'TEA-1' }] })
  expect(await (await buy(2)).json()).toMatchObject({
    status: 'PENDING',
    charges: { charges_details: { forex_rate: 1.25 } },
    vouchers: [],
  })
  await office.answer('rates', 'set', 'USD/EUR=0.5')
  const charge = await customer.post('/products/2/charges', { denomination: 20, quantity: 1 })
  expect(await charge.json()).toMatchObject({ charges_details: { forex_rate: 2 } })
  expect(await office.answer<object[]>('vouchers', 'list')).toMatchObject([
    { product: 'Tea', available: 0, taken: 1 },
    { product: 'Hamper', available: 0, taken: 1 },
  ])
  await server.stop()
  expect((await office.run(['verify'])).exitCode).toBe(0)
})

test('a held charge fixes only the price of an order', () =>
  open(async (office, _server, customer) => {
    const ASKED = { denomination: 10, quantity: 2 }
    const sell = (change: object) =>
      office.answer('catalog', 'import', office.file('catalog.json', { products: [{ ...TEA, ...change }, HAMPER] }))
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
    await office.answer('client', 'limit', 'acme', '1')
    expect(await refusal()).toEqual([400, 'Quantity exceeds maximum allowed quantity of 1'])
    expect(await customer.wallet()).toEqual([1000, 0])

    await office.answer('client', 'limit', 'acme', 'off')
    const repeated = await customer.post('/products/1/charges', ASKED)
    expect([repeated.status, repeated.headers.get('x-cache'), await repeated.text()]).toEqual([200, 'HIT', charge])
    expect(await customer.order(1, 2)).toMatchObject({ amount: 19.5, charges: JSON.parse(charge) })

    await sell({ currency: 'EUR', country: 'DEU' })
    const stranger = await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 1 })
    expect(await stranger.json()).toMatchObject({ currency_code: 'EUR', amount: 12.25 })
  }))

officeTest('the flags set the fees, and 0 disables them', async (office) => {
  const credentials = await office.stocked()
  const server = await office.serve('--rate-limit', 'off', '--conversion-fee', '1.25', '--payout-fee', '0')
  const customer = await Customer.of(server, credentials)
  const charge = await customer.post('/products/2/charges', { denomination: 10, quantity: 1 })
  // 9.75 EUR at 1.25 are 12.19 USD, of which 1.25 % are 0.152.
  expect(await charge.json()).toMatchObject({ charges_details: { conversion_fee: 0.15 }, total_payable: 12.34 })
  const { id } = await customer.payout('free')
  expect(await customer.read(`/payouts/${id}`)).toMatchObject({ amount: 100, fees: 0, total_amount: 100 })
  expect(await customer.wallet()).toEqual([900, 100])
  expect((await server.stop()).exitCode).toBe(0)
})

describe('a client', () => {
  test('loses access immediately when disabled or rotated, and old tokens stay revoked', () =>
    open(async (office, server, customer) => {
      const status = async (who: Customer) => (await who.get('/countries/1')).status
      expect(await status(customer)).toBe(200)
      await office.answer('client', 'disable', 'acme')
      expect(await status(customer)).toBe(401)
      await office.answer('client', 'enable', 'acme')
      expect(await status(customer)).toBe(401)

      const rotated = await office.answer<Credentials>('client', 'rotate', 'acme')
      const again = await Customer.of(server, rotated)
      expect(await status(again)).toBe(200)
      const newest = await office.answer<Credentials>('client', 'rotate', 'acme')
      expect(await status(again)).toBe(401)
      expect((await login(server, 'acme', rotated.password)).status).toBe(401)
      const refresh = await server.request('/auth/refresh', {
        method: 'POST',
        body: JSON.stringify({ refresh_token: again.pair.refresh_token }),
      })
      expect(refresh.status).toBe(401)
      expect((await login(server, 'acme', newest.password)).status).toBe(200)
    }))

  officeTest('that is disabled while a body arrives pays nothing and sees no codes', async (office) => {
    const credentials = await office.stocked()
    await using server = await office.serve('--rate-limit', '1000/d')
    const customer = await Customer.of(server, credentials)
    const orderDuring = async (command: string[]): Promise<[number, string]> => {
      const headers = { authorization: `Bearer ${customer.pair.access_token}` }
      const { finish } = await holdBack(
        { product_id: 1, denomination: 10, quantity: 2 },
        (body) => server.request('/api/v1/orders', { method: 'POST', headers, body }),
        () => customer.get('/countries/1'),
      )
      expect((await office.run(command)).exitCode).toBe(0)
      const response = await finish()
      return [response.status, await response.text()]
    }
    expect(await orderDuring(['client', 'limit', 'acme', '1'])).toEqual([
      400,
      expect.stringContaining('Quantity exceeds maximum allowed quantity of 1'),
    ])
    expect((await office.run(['client', 'limit', 'acme', 'off'])).exitCode).toBe(0)
    const withdrawn = office.file('withdrawn.json', { products: [{ ...TEA, active: false }, HAMPER] })
    expect(await orderDuring(['catalog', 'import', withdrawn])).toEqual([
      404,
      expect.stringContaining('Product not found'),
    ])
    expect(
      await office.run(['catalog', 'import', office.file('again.json', { products: [TEA, HAMPER] })]),
    ).toMatchObject({
      exitCode: 0,
    })
    expect(await orderDuring(['client', 'feature', 'acme', 'vouchers', 'off'])).toEqual([
      403,
      expect.stringContaining('FORBIDDEN'),
    ])
    expect((await office.run(['client', 'feature', 'acme', 'vouchers', 'on'])).exitCode).toBe(0)
    expect(await orderDuring(['client', 'disable', 'acme'])).toEqual([401, expect.stringContaining('UNAUTHORIZED')])
    expect(await office.answer<object[]>('vouchers', 'list')).toMatchObject([
      { product: 'Tea', available: 3, taken: 0 },
      { product: 'Hamper', available: 3, taken: 0 },
    ])
    expect(await office.answer<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
  })

  test('gets and loses features, limits and discounts with the next request', () =>
    open(async (office, _, customer) => {
      const categories = async () => (await customer.get('/categories')).status
      expect(await categories()).toBe(200)
      expect(await office.answer('client', 'feature', 'acme', 'vouchers', 'off')).toMatchObject({ vouchers: false })
      expect(await categories()).toBe(403)
      await office.answer('client', 'feature', 'acme', 'vouchers', 'on')
      expect(await categories()).toBe(200)

      const quantityMax = async () => {
        const response = await customer.post('/products/1/charges', { denomination: 10, quantity: 9 })
        return ((await response.json()) as { error?: string }).error
      }
      await office.answer('client', 'limit', 'acme', '2')
      expect(await quantityMax()).toBe('Quantity exceeds maximum allowed quantity of 2')
      await office.answer('client', 'limit', 'acme', 'off')
      expect(await quantityMax()).toBeUndefined()

      const discount = async () => {
        const product = await customer.read<{ available_denominations: { discount: number }[] }>('/products/1')
        return product.available_denominations[0]?.discount
      }
      expect(await discount()).toBe(2.5)
      await office.answer('client', 'discount', 'acme', '1', '7.25')
      expect(await discount()).toBe(7.25)
      await office.answer('client', 'discount', 'acme', '1', '1')
      expect(await discount()).toBe(2.5)
      await office.answer('client', 'discount', 'acme', '1', '0')
      expect(await discount()).toBe(2.5)
      expect((await office.run(['client', 'discount', 'acme', '99', '5'])).exitCode).toBe(1)
    }))

  test('that is unknown is refused by every command', () =>
    open(async (office) => {
      for (const args of [
        ['rotate', 'nobody'],
        ['disable', 'nobody'],
        ['limit', 'nobody', '2'],
        ['discount', 'nobody', '1', '5'],
      ]) {
        const { exitCode, stderr } = await office.run(['client', ...args])
        expect({ args, exitCode }).toEqual({ args, exitCode: 1 })
        expect(stderr).toContain('scrip client list')
      }
    }))
})

test('orders can be delivered in parts, and the rest is refunded', () =>
  open(async (office, _, customer) => {
    const { id, amount } = await customer.order(2, 3)
    expect(await customer.wallet()).toEqual([1000 - amount, amount])
    expect(await office.answer<object[]>('orders', 'list', '--status', 'pending')).toMatchObject([
      { id, client: 'acme', status: 'PENDING', quantity: 3, delivered: 0, paid: amount, paid_currency: 'USD' },
    ])
    await office.answer('orders', 'deliver', String(id), '1')
    const partial = await customer.read<Order & Record<string, unknown>>(`/orders/${id}`)
    expect(partial).toMatchObject({ status: 'PARTIALLY_DELIVERED', vouchers: [{ card_number: 'BOX-1' }] })
    await office.answer('orders', 'fail', String(id), '--reason', 'Sold out')
    expect(await customer.read(`/orders/${id}`)).toMatchObject({
      status: 'PARTIALLY_DELIVERED',
      failure_reason: 'Sold out',
    })
    const [left, reserved] = await customer.wallet()
    expect(reserved).toBe(0)
    expect(left).toBeCloseTo(1000 - amount / 3, 1)
    expect((await office.run(['orders', 'deliver', String(id)])).exitCode).toBe(1)

    const second = await customer.order(2, 2)
    await office.answer('orders', 'deliver', String(second.id))
    const { vouchers } = await customer.read<Order & Record<string, unknown>>(`/orders/${second.id}`)
    expect(vouchers.map((voucher) => voucher.card_number)).toEqual(['BOX-2', 'BOX-3'])
    expect((await office.run(['orders', 'deliver', '99'])).stderr).toContain('scrip orders list')
    const { stdout } = await office.run(['orders', 'list'])
    expect(stdout).not.toContain('BOX-')
  }))

describe('a code that expires after its import', () => {
  /** Lets the codes with these numbers in the stock expire: time cannot be waited for. */
  const expire = (office: Office, ...ids: number[]): void => {
    const database = new Database(join(office.dataDir, 'scrip.sqlite'))
    database.run('PRAGMA busy_timeout = 5000')
    database.run(`UPDATE voucher_stock SET expires_at_ms = 1 WHERE id IN (${ids.join(', ')})`)
    database.close()
  }
  const [TEA_1, BOX_1, BOX_2] = [1, 4, 5] as const
  const cardsOf = ({ vouchers }: Order) => vouchers.map(({ card_number }) => card_number)

  test('is not sold, and is counted as expired', () =>
    open(async (office, _, customer) => {
      expire(office, TEA_1)
      const canBuy = async (quantity: number) =>
        (await (await customer.post('/products/1/availability', { denomination: 10, quantity })).json()) as object
      expect([await canBuy(2), await canBuy(3)]).toEqual([{ is_available: true }, { is_available: false }])
      expect(await office.answer<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea', available: 2, taken: 0, expired: 1 },
        { product: 'Hamper', available: 3, taken: 0, expired: 0 },
      ])
      const refused = await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 3 })
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Insufficient stock')])
      expect(cardsOf(await customer.order(1, 2))).toEqual(['TEA-2', 'TEA-3'])
    }))

  test('is replaced by a valid code if an order waited for it', () =>
    open(async (office, _, customer) => {
      const { id } = await customer.order(2, 2)
      expire(office, BOX_1)
      await office.answer('orders', 'deliver', String(id), '1')
      expect(cardsOf(await customer.read<Order>(`/orders/${id}`))).toEqual(['BOX-2'])
      expect((await office.run(['verify'])).exitCode).toBe(0)
      expire(office, BOX_2)
      await office.answer('orders', 'deliver', String(id))
      expect(cardsOf(await customer.read<Order>(`/orders/${id}`))).toEqual(['BOX-2', 'BOX-3'])
      expect(await office.answer<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea' },
        { product: 'Hamper', available: 0, taken: 2, expired: 1 },
      ])
    }))

  test('is not delivered if there is no other code', () =>
    open(async (office, _, customer) => {
      const { id } = await customer.order(2, 3)
      expire(office, BOX_1)
      const refused = await office.run(['orders', 'deliver', String(id)])
      expect([refused.exitCode, refused.stderr]).toEqual([
        1,
        'scrip: insufficient stock\nSee scrip vouchers list, and add codes with scrip vouchers import.\n',
      ])
      expect(await customer.read(`/orders/${id}`)).toMatchObject({ status: 'PENDING', vouchers: [] })
      await office.answer('orders', 'deliver', String(id), '2')
      await office.answer('vouchers', 'import', office.file('more', codesOf(2, 'BOX-4')))
      await office.answer('orders', 'deliver', String(id))
      const delivered = await customer.read<Order>(`/orders/${id}`)
      expect([delivered.status, cardsOf(delivered)]).toEqual(['DELIVERED', ['BOX-2', 'BOX-3', 'BOX-4']])
    }))

  test('returns to the stock with a cancelled order and is not sold', () =>
    open(async (office, _, customer) => {
      const { id } = await customer.order(2, 2)
      expire(office, BOX_1)
      expect((await customer.post(`/orders/${id}/cancel`, undefined)).status).toBe(200)
      expect(await office.answer<object[]>('vouchers', 'list')).toMatchObject([
        { product: 'Tea' },
        { product: 'Hamper', available: 2, taken: 0, expired: 1 },
      ])
    }))
})

describe('payouts', () => {
  test('are advanced, completed and returned by an operator', () =>
    open(async (office, _, customer) => {
      const body = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
      const ada = (await (await customer.post('/beneficiaries', body)).json()) as { id: string }
      const { id } = await customer.payout('p-1', ada.id)
      expect(await customer.wallet()).toEqual([898.5, 101.5])
      expect(await office.answer<object[]>('payouts', 'list')).toMatchObject([
        { id, client: 'acme', status: 'created', amount: 100, beneficiary_first_name: 'Ada' },
      ])
      expect(await office.answer('payouts', 'show', id)).toMatchObject({ beneficiary: 'ada@example.com' })
      expect(await office.answer('payouts', 'advance', id)).toMatchObject({ status: 'queued' })
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({ status: 'queued' })
      expect(await office.answer('payouts', 'advance', id, '--to', 'action_required')).toMatchObject({
        status: 'action_required',
        submitted: true,
      })
      expect((await office.run(['payouts', 'advance', id, '--to', 'queued'])).exitCode).toBe(1)
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({ status: 'action_required' })
      await office.answer('payouts', 'advance', id, '--to', 'completed')
      expect(await customer.wallet()).toEqual([898.5, 0])
      expect(await customer.read(`/beneficiaries/${ada.id}`)).toMatchObject({ total_payouts: 1, total_amount: 100 })
      await office.answer('payouts', 'return', id)
      expect(await customer.wallet()).toEqual([998.5, 0])
      expect((await office.run(['payouts', 'return', id])).exitCode).toBe(1)
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
    open(async (office, _, customer) => {
      const { id } = await customer.payout('p-2')
      expect((await office.run(['payouts', 'fail', id])).exitCode).toBe(1)
      await office.answer('payouts', 'advance', id, '--to', 'processing')
      await office.answer('payouts', 'fail', id, '--code', 'account_closed', '--reason', 'The account is closed')
      expect(await customer.read(`/payouts/${id}`)).toMatchObject({
        status: 'failed',
        failure_code: 'account_closed',
        failure_reason: 'The account is closed',
      })
      expect(await customer.wallet()).toEqual([1000, 0])
      expect((await office.run(['payouts', 'advance', id])).exitCode).toBe(1)
      expect((await office.run(['payouts', 'advance', 'pyt_none'])).stderr).toContain('scrip payouts list')
    }))
})

officeTest('commands work on sandbox data too, and leave no due work', async (office) => {
  const server = await start(['--data-dir', office.dataDir])
  const customer = await Customer.of(server, { client_id: 1, username: 'sandbox', password: 'sandbox' })
  const clock = (body: object) =>
    server.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify({ ...body, frozen: true }) })
  await clock({})
  const placed = await customer.post('/orders', { product_id: 1, denomination: 100, quantity: 9 })
  const { id, status } = (await placed.json()) as Order
  expect(status).toBe('PENDING')
  await office.answer('orders', 'deliver', String(id))
  const payout = await customer.payout('p-1')
  await office.answer('payouts', 'advance', payout.id, '--to', 'completed')
  await clock({ advance: 'PT10S' })
  const delivered = await customer.read<Order & Record<string, unknown>>(`/orders/${id}`)
  expect(delivered).toMatchObject({ status: 'DELIVERED' })
  expect(delivered.vouchers.map(({ card_number }) => card_number.slice(0, 4))).toEqual(Array(9).fill('TEST'))
  expect(await customer.read(`/payouts/${payout.id}`)).toMatchObject({ status: 'completed' })
  await server.stop()
  expect((await office.run(['verify'])).exitCode).toBe(0)
})

test('simultaneous commands and requests lose no writes', () =>
  open(async (office, _, customer) => {
    const funding = Array.from({ length: 6 }, () =>
      accepted(
        () => office.run(['wallet', 'fund', '1', '1']),
        ({ exitCode, stderr }) => exitCode === 1 && stderr.includes('another program writes for too long'),
      ),
    )
    const payouts = Array.from({ length: 6 }, (_, index) =>
      accepted(
        () =>
          customer.post('/payouts', {
            reference_id: `p-${index}`,
            wallet_id: 1,
            amount: 100,
            currency: 'USD',
            ...PAYEE,
          }),
        ({ status }) => status === 503,
      ),
    )
    expect((await Promise.all(funding)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0])
    expect((await Promise.all(payouts)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201])
    expect(await customer.wallet()).toEqual([1006 - 609, 609])
  }))

const PAYEE = { beneficiary_email: 'ada@example.com', beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' }

/** Whoever waits more than five seconds for other writers is refused, and has written nothing: it is asked again. */
const accepted = async <Answer>(
  ask: () => Promise<Answer>,
  isRefused: (response: Answer) => boolean,
): Promise<Answer> => {
  for (;;) {
    const response = await ask()
    if (!isRefused(response)) return response
  }
}

officeTest('codes, passwords and tokens are not in logs, errors or backups', async (office) => {
  const credentials = await office.stocked()
  const server = await office.serve('--log-level', 'debug', '--log-format', 'json')
  const customer = await Customer.of(server, credentials)
  const order = await customer.order(1, 2)
  const { id } = await customer.order(2, 1)
  await office.answer('orders', 'deliver', String(id))
  const said = [
    await (await login(server, 'acme', `${credentials.password}x`)).text(),
    await (await customer.post('/orders', { product_id: 1, denomination: 10, quantity: 9 })).text(),
    await (await server.request('/auth/refresh', { method: 'POST', body: customer.pair.refresh_token })).text(),
    (await office.run(['vouchers', 'import', office.file('again', codesOf(1, 'TEA-1'))])).stderr,
    (await office.run(['orders', 'list'])).stdout,
    (await office.run(['orders', 'deliver', String(order.id)])).stderr,
  ]
  const backup = join(office.folder, 'backup')
  await office.answer('backup', backup)
  said.push((await server.stop()).stderr, readFileSync(backup, 'latin1'))
  expect(said.filter((text) => text === '')).toEqual([])
  const secrets = ['TEA-1', 'BOX-1', credentials.password, customer.pair.access_token, customer.pair.refresh_token]
  for (const text of said) expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})

officeTest('a second server on the same folder is refused until the first is killed', async (office) => {
  const server = await office.serve()
  const second = await office.run(['serve', '--mode', 'live', '--port', '0'])
  expect(second).toMatchObject({ exitCode: 4, stdout: '' })
  expect(second.stderr).toContain(`${office.dataDir}: another scrip serve works on this folder`)
  server.signal('SIGKILL')
  await server.ended()
  expect((await (await office.serve()).stop()).exitCode).toBe(0)
})
