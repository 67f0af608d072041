import { describe, expect, test } from 'bun:test'
import { forFile, startServer } from '../harness.ts'
import { ADA, BENEFICIARIES, INSTANT, ORDERS } from '../records.ts'
import { WEBHOOKS } from '../webhooks/webhooks.ts'

/** A proxy serves Scrip below a path of its own, and takes that path away (contract C1). */

const server = forFile(await startServer('--public-url', 'https://example.com/rewards/', '--rate-limit', 'off'))
const sent = async (path: string, body?: object) => {
  const init = { method: 'POST', ...(body && { body: JSON.stringify(body) }) }
  const response = await server.request(path, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('With a path in --public-url', () => {
  test('each Location begins with it', async () => {
    const world = await server.world()
    const hook = { name: 'orders', url: 'http://127.0.0.1:9/', events: ['*'] }
    for (const [path, body] of [
      [BENEFICIARIES, ADA],
      [WEBHOOKS, hook],
    ] as const) {
      const response = await world.post(path, body, { 'idempotency-key': `the key ${path}` })
      const { id } = (await response.json()) as { id: string }
      expect(response.headers.get('location')).toBe(`/rewards${path}/${id}`)
      const again = await world.post(path, body, { 'idempotency-key': `the key ${path}` })
      expect(again.headers.get('location')).toBe(`/rewards${path}/${id}`)
    }
    const wallet = await world.control('/wallets', { currency: 'USD' })
    expect(wallet.headers.get('location')).toStartWith('/rewards/api/v1/wallets/')
  })

  test('requests are sent and replayed by the control API, and none of its own', async () => {
    const world = await server.world()
    await world.make(ORDERS, INSTANT)
    const [, last] = await world.read<{ id: number; path: string }[]>(`/_sandbox/requests?world=${world.name}&limit=2`)
    expect(last?.path).toBe('/auth/login')
    const of = (path: string) => sent(`/_sandbox/requests${path}?world=${world.name}`)
    expect(await of('/2/replay')).toMatchObject({ status: 200, body: { status: 200 } })
    const client = `sbx_${world.name}`
    const get = (path: string) => sent(`/_sandbox/requests?world=${world.name}`, { method: 'GET', path, client })
    expect(await get('/api/v1/countries/1')).toMatchObject({ status: 200, body: { status: 200 } })
    expect(await get('/_sandbox/clock')).toMatchObject({ status: 400 })
  })
})
