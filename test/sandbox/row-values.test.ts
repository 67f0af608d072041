import { describe, expect } from 'bun:test'
import { forFile, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, DELAYED, INSTANT, NOON, place, saveAda } from '../records.ts'
import { FeedReader } from './feed-reader.ts'
import { succeed } from './surface.ts'

const server = forFile(await startServer('--rate-limit', 'off', '--seed', '29'))
const atNoon = testIn(() => server.world(NOON))

interface Change {
  table: string
  operation: string
  key: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** The changes of the last request of a world. */
const lastChanges = async ({ name }: TestWorld): Promise<Change[]> => {
  const [last] = await succeed<{ id: number }[]>(server, 'GET', `/requests?world=${name}&limit=1`)
  const { changes } = await succeed<{ changes: Change[] }>(server, 'GET', `/requests/${last?.id}?world=${name}`)
  return changes
}
const changeOf = (changes: readonly Change[], table: string, operation: string): Change => {
  const change = changes.find((each) => each.table === table && each.operation === operation)
  if (!change) throw new Error(`no ${operation} of ${table}`)
  return change
}

/** The columns that differ between two rows. */
const updateIn = ({ before, after }: Change): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(after ?? {}).flatMap(([name, value]) =>
      before?.[name] === value ? [] : [[name, [before?.[name], value]]],
    ),
  )

describe('The values of the rows that a request wrote', () => {
  atNoon('are those before and after the request', async (world) => {
    await place(world, DELAYED)
    const changes = await lastChanges(world)
    const wallet = changeOf(changes, 'wallets', 'update')
    expect(updateIn(wallet)).toEqual({
      amount_minor: [10_000_000, expect.any(Number)],
      reserved_minor: [0, expect.any(Number)],
      updated_at_ms: [expect.any(Number), Date.parse(NOON)],
    })
    const order = changeOf(changes, 'orders', 'insert')
    expect(order.before).toBeNull()
    expect(order.after).toMatchObject({ id: 1, status: 'PENDING', quantity: 3, denomination_minor: 2_500 })
  })

  atNoon('of a row that was written several times are the first and the last', async (world) => {
    await place(world, INSTANT)
    const changes = await lastChanges(world)
    const names = changes.map(({ table, operation, key }) => `${operation} ${table} ${key}`)
    expect(names).toEqual([...new Set(names)])
    const wallets = changes.filter(({ table }) => table === 'wallets')
    expect(wallets).toHaveLength(1)
    // Reserved, and then paid.
    expect(Object.keys(updateIn(wallets[0] as Change))).not.toContain('reserved_minor')
    // The order is delivered at once, and therefore written once.
    const orders = changes.filter(({ table }) => table === 'orders')
    expect(orders).toMatchObject([{ operation: 'insert', before: null, after: { status: 'DELIVERED' } }])
  })

  atNoon('of a deleted row are those before', async (world) => {
    const id = await saveAda(world)
    await world.delete(`/api/v1/beneficiaries/${id}`)
    const [deleted] = await lastChanges(world)
    expect(deleted).toMatchObject({
      table: 'beneficiaries',
      operation: 'delete',
      key: id,
      before: { id, ...ADA },
      after: null,
    })
  })

  atNoon('have no voucher code, no secret, and no secret member of metadata', async (world) => {
    const { vouchers } = await place(world, INSTANT)
    const bought = await lastChanges(world)
    expect(changeOf(bought, 'vouchers', 'insert')).toMatchObject({
      after: { order_id: 1, sealed: '[redacted]' },
    })
    for (const { card_number, pin_code, claim_url } of vouchers) {
      for (const code of [card_number, pin_code, claim_url]) expect(JSON.stringify(bought)).not.toContain(code)
    }
    const url = `${server.url}/_sandbox/inbox/shop?world=${world.name}`
    const response = await world.post('/api/v1/webhooks', { name: 'Shop', url, events: ['*'] })
    const { secret } = (await response.json()) as { secret: string }
    const made = await lastChanges(world)
    expect(changeOf(made, 'webhooks', 'insert').after).toMatchObject({ name: 'Shop', secret: '[redacted]' })
    expect(JSON.stringify(made)).not.toContain(secret)
    await world.post('/api/v1/beneficiaries', { ...ADA, metadata: { password: 'hunter2', note: 'kept' } })
    const [saved] = await lastChanges(world)
    expect(saved?.after?.metadata).toBe('{"password":"[redacted]","note":"kept"}')
  })

  atNoon('are not in lists and messages, which name the rows', async (world) => {
    const feed = await FeedReader.open(server, `?world=${world.name}`)
    await world.post('/api/v1/beneficiaries', ADA)
    const message = await feed.next()
    await feed.close()
    const [listed] = await succeed<{ changes: object[] }[]>(server, 'GET', `/requests?world=${world.name}&limit=1`)
    const named = [{ table: 'beneficiaries', operation: 'insert', key: expect.any(String) }]
    expect([message?.data.changes, listed?.changes]).toEqual([named, named])
  })
})
