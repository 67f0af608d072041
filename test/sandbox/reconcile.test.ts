import { describe, expect, test } from 'bun:test'
import { sharedServer } from '../harness.ts'

/** `POST /_sandbox/reconcile` (contract C19). */

const server = await sharedServer()

const ORDER = { product_id: 2, denomination: 50, quantity: 1, ref: 'mine' }
const HEADER = 'reference,type,amount,currency\n'
const post = (query: string, body: string | Uint8Array<ArrayBuffer>) =>
  server.request(`/_sandbox/reconcile?${query}`, { method: 'POST', body })

describe('a list', () => {
  test('is compared with the ledger of a world, as CSV or JSON lines', async () => {
    const world = await server.world()
    await world.post('/api/v1/orders', ORDER)
    for (const list of [
      `${HEADER}mine,order,48.00,USD\n`,
      '{"reference":"mine","type":"order","amount":48,"currency":"USD"}\n',
    ]) {
      const response = await post(`world=${world.name}`, list)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({
        ...{ agrees: true, matched: 1, only_ours: [], only_theirs: [], differs: [], counted_twice: [], parts_at: null },
      })
    }
  })

  test('is compared for the named client and month', async () => {
    const world = await server.world('2030-03-05T00:00:00Z')
    await world.post('/api/v1/orders', ORDER)
    const ours = async (query: string) =>
      ((await (await post(`world=${world.name}&${query}`, HEADER)).json()) as { only_ours: object[] }).only_ours
    expect(await ours('month=2030-03')).toMatchObject([
      { reference: 'mine', amount: 48, at: '2030-03-05T00:00:00.000Z' },
    ])
    expect(await ours('month=2030-02')).toEqual([])
    expect(await ours('client=limited')).toEqual([])
    expect(await ours(`client=sbx_${world.name}`)).toHaveLength(1)
  })

  test.each([
    ['month=2030-13', HEADER, 'month'],
    ['client=nobody', HEADER, 'client'],
    ['', '', 'list'],
    ['', `${HEADER}a,order,x,USD\n`, 'amount'],
  ])('is refused with %s and %j: %s', async (query, list, field) => {
    const world = await server.world()
    const response = await post(`world=${world.name}&${query}`, list)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 'VALIDATION_FAILURE', messages: { [field]: [{ field }] } },
    })
  })

  test.each([
    ['of more than 8 MiB', `${HEADER}${'a,order,1,USD\n'.repeat(600_000)}`],
    ['that is not UTF-8', new Uint8Array(Buffer.from(`${HEADER}\xe9,order,1,USD\n`, 'latin1'))],
  ])('%s is refused with a message', async (_, list) => {
    const world = await server.world()
    const response = await post(`world=${world.name}`, list)
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('UTF-8, and at most 8 MiB')])
  })
})
