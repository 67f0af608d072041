import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import packageJson from '../../package.json' with { type: 'text' }
import { serviceRoutes } from '../../src/http/service-routes.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { expectResponse, forFile, startServer } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import { bareLayer } from './layer.ts'

const { version } = JSON.parse(packageJson as unknown as string) as { version: string }
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const server = forFile(await startServer())

describe('GET /status', () => {
  test('200 returns version, mode and time', async () => {
    const response = await server.request('/status')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(await response.json()).toEqual({ status: 'ok', version, mode: 'sandbox', time: TIME })
  })

  test('the time is that of the default world', async () => {
    const body = JSON.stringify({ now: '2030-01-01T00:00:00Z', frozen: true })
    await server.request('/_sandbox/clock', { method: 'POST', body })
    expect(await (await server.request('/status')).json()).toMatchObject({ time: '2030-01-01T00:00:00.000Z' })
    await server.request('/_sandbox/reset', { method: 'POST' })
  })

  test('is public: ignores an invalid token, and has no rate-limit headers', async () => {
    const response = await server.request('/status', { headers: { authorization: 'Bearer a.b.c' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-limit')).toBeNull()
  })

  test('shows live mode', async () => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    const live = await startServer('--mode', 'live', '--data-dir', folder)
    expect(await (await live.request('/status')).json()).toEqual({ status: 'ok', version, mode: 'live', time: TIME })
    await live.stop()
  })
})

describe('Probes', () => {
  test.each(['/livez', '/readyz'])('%s is public and 200', async (path) => {
    const response = await server.request(path, { headers: { authorization: 'Bearer a.b.c' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-limit')).toBeNull()
    expect(await response.json()).toEqual({ status: 'ok' })
  })

  test('/readyz is 503 while the program is closing, and /livez is not', async () => {
    const layer = bareLayer()
    const closing = new Elysia().use(layer.hooks)
    serviceRoutes({ version, mode: 'sandbox', clock: () => systemClock, isReady: () => false }).addTo(closing, layer)
    await expectResponse(closing.handle(new Request('http://localhost/readyz')), 503, { status: 'unavailable' })
    expect((await closing.handle(new Request('http://localhost/livez'))).status).toBe(200)
  })
})
