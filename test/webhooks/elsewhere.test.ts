import { describe, expect, test } from 'bun:test'
import { invalid } from '../errors.ts'
import { forFile, startServer } from '../harness.ts'
import { hook, openReceiver, readHook, WEBHOOKS } from './webhooks.ts'

/** A sandbox that other machines reach: they do not read its own network through deliveries (decision 72). */

const SHARED = ['--rate-limit', 'off', '--host', '0.0.0.0', '--sandbox-token', 'secret', '--trusted-proxy', '127.0.0.1']
const server = forFile(await startServer(...SHARED))
const open = forFile(await startServer(...SHARED, '--webhook-allow', '127.0.0.0/8'))

const FROM_ELSEWHERE = { 'x-forwarded-for': '203.0.113.9' }
const HOOK = { name: 'mine', url: 'http://127.0.0.1:9/', events: ['*'] }
const REFUSED = invalid({
  url: [
    { rule: 'format', field: 'url', message: 'The url field must not lead to a private, reserved or unknown address.' },
  ],
})

describe('A request from another machine', () => {
  test.each([
    'http://127.0.0.1:9/',
    'http://[::1]:9/',
    'http://localhost:9/',
    'http://10.0.0.1/',
    'http://2130706433/',
  ])('400 for a webhook to %s, and there is none', async (url) => {
    const world = await server.world()
    const response = await world.post(WEBHOOKS, { ...HOOK, url }, FROM_ELSEWHERE)
    expect([response.status, await response.json()]).toEqual([400, REFUSED])
    expect(await (await world.get(WEBHOOKS)).json()).toEqual([])
  })

  test('400 for a webhook that is changed to such a URL, and it stays as it is', async () => {
    const world = await server.world()
    const { secret: _, ...before } = await hook(world, HOOK.url)
    const response = await world.request(`${WEBHOOKS}/${before.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ url: 'http://127.0.0.1:22/' }),
      headers: FROM_ELSEWHERE,
    })
    expect([response.status, await response.json()]).toEqual([400, REFUSED])
    expect(await readHook(world, before.id)).toEqual(before as never)
  })

  test('201 where --webhook-allow has the network, and its events are delivered', async () => {
    const [world, receiver] = [await open.world(), openReceiver()]
    const { id } = await hook(world, receiver.url)
    const other = await world.post(WEBHOOKS, { ...HOOK, url: receiver.url }, FROM_ELSEWHERE)
    expect(other.status).toBe(201)
    await world.post(`${WEBHOOKS}/${id}/ping`)
    await receiver.until(1)
    receiver.stop()
  })
})

test('A request from this machine: 201 for a webhook to it, and its events are delivered', async () => {
  const [world, receiver] = [await server.world(), openReceiver()]
  const { id } = await hook(world, receiver.url)
  await world.post(`${WEBHOOKS}/${id}/ping`)
  await receiver.until(1)
  receiver.stop()
})
