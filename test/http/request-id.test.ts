import { describe, expect, test } from 'bun:test'
import { forFile, startServer } from '../harness.ts'

const server = forFile(await startServer())
const strict = forFile(await startServer('--rate-limit', '1/h'))

const ADA = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })

/** A request to each kind of response, with these headers. */
const everyKind = async (sent: Record<string, string>): Promise<[status: number, Response][]> => {
  const world = await server.world()
  const limited = await world.limited()
  const drained = await strict.world('2030-01-01T00:00:00Z')
  await drained.get('/api/v1/countries/1')
  const created = await world.post('/api/v1/beneficiaries', ADA)
  const { id } = (await created.json()) as { id: string }
  const anyone = (path: string, init: RequestInit = {}) => server.request(path, { ...init, headers: sent })
  return [
    [200, await world.get('/api/v1/products', sent)],
    [201, await world.post('/api/v1/beneficiaries', ADA, sent)],
    [204, await world.request(`/api/v1/beneficiaries/${id}`, { method: 'DELETE', headers: sent })],
    [400, await world.post('/api/v1/beneficiaries', '', sent)],
    [400, await world.post('/api/v1/products/1/charges', '', sent)],
    [401, await anyone('/api/v1/products')],
    [401, await anyone('/api/v1/nowhere')],
    [403, await limited.get('/api/v1/categories', sent)],
    [404, await world.get('/api/v1/products/2147483647', sent)],
    [404, await world.get('/api/v1/nowhere', sent)],
    [404, await anyone('/nowhere')],
    [429, await drained.get('/api/v1/countries/1', sent)],
    [200, await anyone('/auth/login', { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' })],
    [400, await anyone('/auth/login', { method: 'POST', body: '' })],
    [401, await anyone('/auth/refresh', { method: 'POST', body: '{"refresh_token":"x"}' })],
    [200, await anyone('/status')],
    [200, await anyone('/livez')],
    [200, await anyone('/readyz')],
    [200, await anyone('/docs')],
    [200, await anyone('/docs/style.css')],
    [200, await anyone('/openapi.json')],
    [200, await anyone('/cards/1')],
    [200, await anyone('/_sandbox/clock')],
    [404, await anyone('/_sandbox/clock?world=nowhere')],
  ]
}

describe('X-Request-Id', () => {
  test('is the one that was sent, in every kind of response', async () => {
    for (const [status, response] of await everyKind({ 'x-request-id': 'order-4711.a:b_C' })) {
      expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'order-4711.a:b_C'])
    }
  })

  test('is new if none was sent, in every kind of response', async () => {
    const responses = await everyKind({})
    for (const [status, response] of responses) {
      expect(response.status).toBe(status)
      expect(response.headers.get('x-request-id')).toMatch(/^req_[\w-]+$/)
    }
    // The server with limits is another one, with its own identifiers.
    const ids = responses.filter(([status]) => status !== 429).map(([, { headers }]) => headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(responses.length - 1)
  })

  test.each([
    ['a UUID', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    ['one character', 'x'],
    ['128 characters', 'x'.repeat(128)],
  ])('%s is accepted', async (_, id) => {
    const response = await server.request('/status', { headers: { 'x-request-id': id } })
    expect(response.headers.get('x-request-id')).toBe(id)
  })

  test.each([
    ['nothing', ''],
    ['129 characters', 'x'.repeat(129)],
    ['a space', 'a b'],
    ['a comma, as two headers would have', 'a, b'],
    ['a slash', '../a'],
    ['markup', '<script>'],
    ['a quote', 'a"b'],
    ['a letter beyond ASCII', 'ü'],
    ['an escape', 'a%0d%0ab'],
  ])('%s is replaced', async (_, id) => {
    const world = await server.world()
    for (const path of ['/status', '/api/v1/countries/1', '/api/v1/nowhere']) {
      const response = await world.get(path, { 'x-request-id': id })
      expect(response.headers.get('x-request-id')).toMatch(/^req_[\w-]+$/)
    }
  })
})
