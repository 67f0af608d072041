import { expect } from 'bun:test'
import { Customer, operatorTest, stockedTest } from './live.ts'

/** `scrip orders refund` (contract C17); test/orders/refund.test.ts has the amounts. */

operatorTest('gives back some vouchers, then the rest, and the client sees it at once', async (operator) => {
  const { server, customer } = await operator.trading()
  const { id } = await customer.order(1, 3)
  expect(await customer.read(`/orders/${id}`)).toMatchObject({ amount: 29.25, refunded_amount: 0 })
  const some = await operator.json('orders', 'refund', String(id), '--vouchers', '1-1,1-3', '--remarks', 'Damaged')
  expect(some).toMatchObject({ id, status: 'DELIVERED', refunded_amount: 19.5 })
  expect(await customer.read(`/orders/${id}`)).toMatchObject({ status: 'DELIVERED', refunded_amount: 19.5 })
  expect(await customer.wallet()).toEqual([990.25, 0])
  expect(await operator.json('orders', 'show', String(id))).toMatchObject({ refunded_vouchers: ['1-1', '1-3'] })
  expect(await operator.json('orders', 'refund', String(id))).toMatchObject({ refunded_amount: 29.25 })
  expect(await customer.wallet()).toEqual([1000, 0])
  const refunded = await customer.read<{ data: object }[]>('/events?type=order.refunded')
  expect(refunded.map(({ data }) => data)).toMatchObject([
    { id, status: 'DELIVERED', refunded_amount: 29.25 },
    { id, status: 'DELIVERED', refunded_amount: 19.5 },
  ])
  const [refund] = await customer.read<object[]>('/transactions?source_type=refund')
  expect(refund).toMatchObject({ transaction_type: 'CREDIT', source_id: '1', amount: 9.75, remarks: 'Refunded' })
  // The codes are not sold again.
  expect(await operator.json<object[]>('vouchers', 'list')).toMatchObject([{ available: 0 }, { available: 3 }])
  for (const [args, message] of [
    [['orders', 'refund', String(id)], 'order 1 is already refunded'],
    [['orders', 'refund', String(id), '--vouchers', '1-1'], 'is already refunded'],
    [['orders', 'refund', '7'], 'there is no order 7'],
  ] as const) {
    const { exitCode, stderr } = await operator.run([...args])
    expect({ args, exitCode }).toEqual({ args, exitCode: 1 })
    expect(stderr).toContain(message)
  }
  await server.stop()
  expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
})

stockedTest('happens once when several operators ask for it at the same time', async (operator, credentials) => {
  const server = await operator.serve()
  const { id } = await (await Customer.of(server, credentials)).order(1, 3)
  await server.stop()
  const ended = await Promise.all(Array.from({ length: 4 }, () => operator.run(['orders', 'refund', String(id)])))
  expect(ended.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1, 1, 1])
  expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
  expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
})
