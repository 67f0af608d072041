import { describe, expect, test } from 'bun:test'
import { bearer, login } from '../program.ts'
import { asOperator, Customer, operatorTest, stockedTest } from './live.ts'

/** Clients and wallets of live mode, from their first day to their last (contract C17). */

describe('scrip client', () => {
  stockedTest('show says what a client has, and no password', async (operator) => {
    await operator.json('wallet', 'add', 'acme', 'EUR')
    await operator.json('client', 'discount', 'acme', '1', '7.5')
    await operator.json('client', 'discount', 'acme', '2', '0')
    expect(await operator.json('client', 'show', 'acme')).toEqual({
      client_id: 1,
      username: 'acme',
      status: 'enabled',
      vouchers: true,
      max_quantity: null,
      rate_limit: 'default',
      wallets: ['1 USD', '2 EUR'],
      conversion_fee: 'default',
      payout_fee: 'default',
      discounts: 1,
      old_password_until: null,
      created_at: expect.any(String),
    })
    expect(await operator.json<object[]>('client', 'discounts', 'acme')).toEqual([
      { product_id: 1, product: 'Tea', discount: 7.5 },
    ])
  })

  operatorTest(
    'fees sets the fees of a client, which its next price has; show and the audit say so',
    async (operator) => {
      const { server, customer } = await operator.trading('--rate-limit', 'off')
      const charge = async (quantity: number) =>
        (await customer.post('/products/2/charges', { denomination: 10, quantity })).json()
      const feeOf = async (reference: string) =>
        (await customer.read<{ fees: number }>(`/payouts/${(await customer.payout(reference)).id}`)).fees
      // 9.75 EUR at 1.25 are 12.19 USD.
      expect(await charge(1)).toMatchObject({ charges_details: { conversion_fee: 0.06 }, total_payable: 12.25 })
      const terms = { username: 'acme', max_quantity: null, rate_limit: 'default' }
      expect(await operator.json('client', 'show', 'acme')).toMatchObject({
        ...terms,
        conversion_fee: 'default',
        payout_fee: 'default',
      })
      expect(await operator.run(['client', 'fees', 'acme'])).toMatchObject({ exitCode: 2, stdout: '' })
      const set = ['client', 'fees', 'acme', '--conversion-fee', '10', '--payout-fee', '0']
      expect(await operator.json(...set)).toEqual({ ...terms, conversion_fee: 10, payout_fee: 0 })
      // The quoted price is held; an order of another quantity has a new price.
      expect(await charge(1)).toMatchObject({ total_payable: 12.25 })
      expect(await charge(2)).toMatchObject({ net_amount: 24.38, charges_details: { conversion_fee: 2.44 } })
      expect(await customer.order(2, 2)).toMatchObject({ amount: 26.82 })
      expect(await feeOf('free')).toBe(0)
      await operator.json('client', 'fees', 'acme', '--payout-fee', 'default')
      expect(await feeOf('usual')).toBe(1.5)
      expect(await operator.json('client', 'show', 'acme')).toMatchObject({ conversion_fee: 10, payout_fee: 'default' })
      const rows = await operator.json<object[]>('audit', 'list')
      expect(rows.slice(0, 2)).toMatchObject([
        { command: 'client fees', after: { conversion_fee: 10, payout_fee: 'default' } },
        {
          command: 'client fees',
          before: { conversion_fee: 'default', payout_fee: 'default' },
          after: { conversion_fee: 10, payout_fee: 0 },
        },
      ])
      expect(await operator.run(['client', 'fees', 'acme', '--payout-fee', '1.255'])).toMatchObject({ exitCode: 2 })
      await server.stop()
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    },
  )

  stockedTest(
    'rename changes the username, while a server runs; password and tokens stay',
    async (operator, { username, password }) => {
      const server = await operator.serve()
      const customer = await Customer.of(server, { client_id: 1, username, password })
      expect(await operator.json('client', 'rename', 'acme', 'acme-uk')).toMatchObject({
        client_id: 1,
        username: 'acme-uk',
      })
      expect((await customer.get('/wallets')).status).toBe(200)
      expect((await login(server, 'acme', password)).status).toBe(401)
      expect((await login(server, 'acme-uk', password)).status).toBe(200)
      await server.stop()
      await operator.json('client', 'add', 'other')
      expect(await operator.run(['client', 'rename', 'other', 'acme-uk'])).toMatchObject({ exitCode: 1 })
      expect(await operator.run(['client', 'rename', 'other', 'sbx_x'])).toMatchObject({ exitCode: 2 })
      expect(await operator.run(['client', 'rename', 'nobody', 'new'])).toMatchObject({ exitCode: 1 })
    },
  )

  test('remove takes a client without records, and refuses one with records, which can be disabled', () =>
    asOperator(async (operator) => {
      const credentials = await operator.stocked()
      await operator.json('client', 'add', 'mistake')
      await operator.json('wallet', 'add', 'mistake', 'USD')
      await operator.json('client', 'discount', 'mistake', '1', '7.5')
      expect(await operator.json('client', 'remove', 'mistake')).toEqual({
        client_id: 2,
        username: 'mistake',
        status: 'removed',
      })
      const { exitCode, stderr } = await operator.run(['client', 'remove', 'acme'])
      expect(exitCode).toBe(1)
      expect(stderr).toContain('scrip client disable acme')
      expect(await operator.json<object[]>('client', 'list')).toMatchObject([{ username: 'acme' }])
      expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ id: 1, amount: 1000 }])
      const server = await operator.serve()
      expect((await login(server, credentials.username, credentials.password)).status).toBe(200)
      await server.stop()
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    }))
})

describe('scrip client rotate', () => {
  test('--keep-old lets tokens and the old password live on; a second rotation ends older ones', () =>
    asOperator(async (operator) => {
      const { username, password } = await operator.stocked()
      await using server = await operator.serve()
      const customer = await Customer.of(server, { client_id: 1, username, password })
      const statusOf = async (tried: string) => (await login(server, 'acme', tried)).status
      type Rotated = { password: string; old_password_until: string }
      const second = await operator.json<Rotated>('client', 'rotate', 'acme', '--keep-old', '24h')
      expect(Date.parse(second.old_password_until) - Date.now()).toBeWithin(23 * 3_600_000, 24 * 3_600_000 + 1)
      expect([await statusOf(password), await statusOf(second.password)]).toEqual([200, 200])
      const third = await operator.json<Rotated>('client', 'rotate', 'acme', '--keep-old', '1s')
      expect([await statusOf(password), await statusOf(third.password)]).toEqual([401, 200])
      expect((await customer.get('/wallets')).status).toBe(200)
      while (Date.now() <= Date.parse(third.old_password_until)) await Bun.sleep(20)
      expect(await statusOf(second.password)).toBe(401)
      expect((await server.request('/api/v1/wallets', bearer(customer.pair))).status).toBe(200)
      const last = await operator.json<Rotated>('client', 'rotate', 'acme')
      expect([await statusOf(third.password), await statusOf(last.password)]).toEqual([401, 200])
      expect((await customer.get('/wallets')).status).toBe(401)
    }))
})

describe('scrip wallet', () => {
  stockedTest('limit sets how far below zero a POSTPAID wallet may go', async (operator) => {
    await operator.json('wallet', 'add', 'acme', 'EUR', '--postpaid', '100')
    expect(await operator.json('wallet', 'limit', '2', '50.25')).toMatchObject({ id: 2, credit_limit: 50.25 })
    await operator.json('wallet', 'adjust', '2', '-50.25')
    const { exitCode, stderr } = await operator.run(['wallet', 'limit', '2', '50'])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'scrip: wallet 2 owes 50.25 EUR, which is more\nFund it first.\n',
    })
    expect(await operator.run(['wallet', 'limit', '1', '50'])).toMatchObject({ exitCode: 1 })
    expect(await operator.run(['wallet', 'limit', '2', '1,000'])).toMatchObject({ exitCode: 2 })
    expect(await operator.run(['wallet', 'limit', '2', '--', '-1'])).toMatchObject({ exitCode: 2 })
  })

  stockedTest('default moves from one wallet to another, so that a client always has one', async (operator) => {
    await operator.json('wallet', 'add', 'acme', 'EUR')
    expect(await operator.json('wallet', 'default', '2')).toMatchObject({ id: 2, is_default: true })
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ is_default: true }, { is_default: false }])
    expect(await operator.json('wallet', 'default', '2')).toMatchObject({ id: 2, is_default: true })
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })

  stockedTest('close leaves a wallet that is not active and pays nothing', async (operator, credentials) => {
    await operator.json('wallet', 'add', 'acme', 'EUR', '--postpaid', '1000')
    await using server = await operator.serve()
    const customer = await Customer.of(server, credentials)
    expect(await operator.json('wallet', 'close', '2')).toMatchObject({ id: 2, is_active: false })
    expect(await customer.read('/wallets/2')).toMatchObject({ id: 2, is_active: false })
    expect(await customer.read<object[]>('/wallets?is_active=false')).toMatchObject([{ id: 2 }])
    expect(await customer.read<object[]>('/wallets?is_active=true')).toMatchObject([{ id: 1 }])
    const refused = await customer.post('/orders', { product_id: 2, denomination: 10, quantity: 1, wallet_id: 2 })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { message: 'Insufficient wallet balance' } })
    // The product is sold in EUR: without the closed wallet, the default one pays.
    expect(
      await (await customer.post('/orders', { product_id: 2, denomination: 10, quantity: 1 })).json(),
    ).toMatchObject({ wallet_id: 1 })
  })

  stockedTest('fund and adjust refuse a closed wallet', async (operator) => {
    await operator.json('wallet', 'add', 'acme', 'EUR')
    await operator.json('wallet', 'close', '2')
    const before = await operator.json<object[]>('wallet', 'list')
    for (const [command, amount] of [
      ['fund', '5'],
      ['adjust', '5'],
      ['adjust', '-5'],
    ] as const)
      expect(await operator.run(['wallet', command, '2', amount])).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'scrip: wallet 2 is closed\nscrip wallet add opens another one.\n',
      })
    expect(await operator.json<object[]>('wallet', 'list')).toEqual(before)
    expect(await operator.json<object[]>('transactions', '--wallet', '2')).toEqual([])
  })

  stockedTest('refunds of what a closed wallet has paid reach it', async (operator, credentials) => {
    await operator.json('wallet', 'add', 'acme', 'EUR')
    await operator.json('wallet', 'fund', '2', '20')
    const server = await operator.serve()
    const customer = await Customer.of(server, credentials)
    const order = await customer.post('/orders', { product_id: 2, denomination: 10, quantity: 2, wallet_id: 2 })
    const { id, amount } = (await order.json()) as { id: number; amount: number }
    await server.stop()
    await operator.json('orders', 'deliver', String(id))
    const [left] = (await operator.json<{ amount: number }[]>('wallet', 'list')).map((wallet) => wallet.amount)
    await operator.json('wallet', 'adjust', '2', String(-Number(left)))
    await operator.json('wallet', 'close', '2')
    await operator.json('orders', 'refund', String(id))
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount, is_active: false }, {}])
  })

  stockedTest('close refuses the default wallet, one with money, a closed one and none', async (operator) => {
    await operator.json('wallet', 'add', 'acme', 'EUR')
    await operator.json('wallet', 'fund', '2', '5')
    await operator.json('wallet', 'add', 'acme', 'JPY')
    await operator.json('wallet', 'close', '3')
    for (const [command, id, words] of [
      ['close', '1', 'scrip wallet default'],
      ['close', '2', 'has 5.00 EUR available and 0.00 reserved'],
      ['close', '3', 'is closed'],
      ['close', '9', 'scrip wallet list'],
      ['default', '3', ''],
    ] as const)
      expect(await operator.run(['wallet', command, id])).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(words),
      })
  })
})
