import { afterAll, describe, expect, test } from 'bun:test'
import type { RecordedRequest } from '../../src/sandbox/requests/contract.ts'
import { validation } from '../errors.ts'
import { type Server, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, INSTANT, NOON, type Order, saveAda } from '../records.ts'
import { Connection, type Listening, listening } from '../socket.ts'
import { amountIn } from '../wallets/balances.ts'
import { read, rowsOf, succeed } from './surface.ts'

/** Faults after the work is done, which show whether a client's retries are safe (contract C15). */

const server: Server = await startServer('--rate-limit', 'off', '--seed', '15')
const inWorld = testIn(() => server.world())
afterAll(() => server.stop())

const COUNTRY = '/api/v1/countries/1'
const FAILED = { error: 'InternalServerError', message: 'Failed to create beneficiary' }

const addRule = (world: TestWorld, rule: object) => succeed(server, 'POST', `/faults?world=${world.name}`, rule)

/** True if a response arrived whole. */
const hasResponse = (response: Promise<Response>): Promise<boolean> =>
  response
    .then((response) => response.bytes())
    .then(
      () => true,
      () => false,
    )
const ordersOf = async (world: TestWorld) => await world.read<Order[]>('/api/v1/orders')
const beneficiariesOf = async (world: TestWorld) => await world.read<object[]>('/api/v1/beneficiaries')

const lastOf = async (world: TestWorld) => {
  const entries = await succeed<RecordedRequest[]>(server, 'GET', `/requests?world=${world.name}`)
  return entries.find(({ fault }) => fault !== null)
}

describe('A lost response', () => {
  const LOST = { drop: true, when: 'after', match: { method: 'POST', path: '/api/v1/orders' }, times: 1 }

  test('leaves the order placed and paid; a retry with its key gets the real response and buys nothing', async () => {
    const world = await server.world(NOON)
    const before = await amountIn(world, 1)
    await addRule(world, LOST)
    const key = { 'idempotency-key': 'order-1-try' }
    const purchase = { ...INSTANT, wallet_id: 1 }
    expect(await hasResponse(world.post('/api/v1/orders', purchase, key))).toBe(false)
    const [order] = await ordersOf(world)
    expect(order?.status).toBe('DELIVERED')
    expect(await amountIn(world, 1)).toBe((before ?? 0) - (order?.amount ?? 0))
    const retried = await world.post('/api/v1/orders', purchase, key)
    expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(((await retried.json()) as Order).id).toBe(order?.id ?? 0)
    expect(await ordersOf(world)).toHaveLength(1)
  })

  inWorld('before the work leaves nothing, and the key unused', async (world) => {
    await addRule(world, { ...LOST, when: 'before' })
    const key = { 'idempotency-key': 'order-1-try' }
    expect(await hasResponse(world.post('/api/v1/orders', INSTANT, key))).toBe(false)
    expect(await ordersOf(world)).toEqual([])
    const retried = await world.post('/api/v1/orders', INSTANT, key)
    expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([200, null])
  })

  inWorld('may be a refusal, a replay, or that of a path which does not exist', async (world) => {
    const key = { 'idempotency-key': 'order-1-try' }
    await world.post('/api/v1/orders', INSTANT, key)
    await addRule(world, { drop: true, when: 'after', times: 3 })
    expect(await hasResponse(world.post('/api/v1/orders', INSTANT, key))).toBe(false)
    expect(await hasResponse(world.get('/api/v1/countries/0'))).toBe(false)
    expect(await hasResponse(world.get('/api/v1/nowhere'))).toBe(false)
    expect((await world.get(COUNTRY)).status).toBe(200)
  })

  inWorld('is in the request log with its row changes and without a status', async (world) => {
    await addRule(world, LOST)
    await hasResponse(world.post('/api/v1/orders', INSTANT, { 'x-request-id': 'lost-1' }))
    const entry = await lastOf(world)
    expect(entry).toMatchObject({
      request_id: 'lost-1',
      path: '/api/v1/orders',
      fault: 'drop; when=after',
      outcome: null,
      response: { status: 0, body: null },
    })
    expect(entry?.changes.map(({ table }) => table)).toContain('orders')
  })
})

describe('X-Sandbox-Fault: NAME; when=after', () => {
  test.each(['internal; when=after', 'internal;when=after', 'internal ;  when=after'])(
    '%p does the work and responds with the error',
    async (fault) => {
      const world = await server.world()
      const { status, headers, body } = await read(
        await world.post('/api/v1/beneficiaries', ADA, { 'x-sandbox-fault': fault, 'x-request-id': 'mine-1' }),
      )
      expect({ status, body }).toEqual({ status: 500, body: FAILED })
      expect(headers.get('x-request-id')).toBe('mine-1')
      expect(headers.get('location')).toBeNull()
      expect(await beneficiariesOf(world)).toMatchObject([ADA])
      expect(await lastOf(world)).toMatchObject({
        fault: 'internal; when=after',
        outcome: 'internal',
        response: { status: 500, body: JSON.stringify(FAILED) },
        changes: [{ table: 'beneficiaries' }],
      })
    },
  )

  inWorld('stores the real response under the Idempotency-Key', async (world) => {
    const key = { 'idempotency-key': 'ada-1-try' }
    const fault = { 'x-sandbox-fault': 'rate_limited; when=after' }
    expect((await world.post('/api/v1/beneficiaries', ADA, { ...key, ...fault })).status).toBe(429)
    const retried = await world.post('/api/v1/beneficiaries', ADA, key)
    expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(await retried.json()).toEqual((await beneficiariesOf(world))[0] ?? {})
  })

  test('has the headers of the error and of the limits, and none of the real response', async () => {
    const limited = await startServer('--rate-limit', '10/h')
    const world = await limited.world(NOON)
    const fault = { 'x-sandbox-fault': 'rate_limited; when=after' }
    const { status, headers } = await world.get('/api/v1/products?limit=1', fault)
    await limited.stop()
    expect(status).toBe(429)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('retry-after')).toBe('36')
    expect(headers.get('x-ratelimit-remaining')).toBe('9')
    expect(headers.get('x-total-count')).toBeNull()
  })

  inWorld('takes away a refusal and a 204 as well', async (world) => {
    const headers = { 'x-sandbox-fault': 'internal; when=after' }
    expect((await world.get('/api/v1/countries/0', headers)).status).toBe(500)
    const path = `/api/v1/beneficiaries/${await saveAda(world)}`
    expect((await world.request(path, { method: 'DELETE', headers })).status).toBe(500)
    expect(await beneficiariesOf(world)).toEqual([])
  })

  inWorld('waits after the work with X-Sandbox-Delay', async (world) => {
    const headers = { 'x-sandbox-fault': 'internal; when=after', 'x-sandbox-delay': '300' }
    let hasResponse = false
    const pending = world.post('/api/v1/beneficiaries', ADA, headers).then((response) => {
      hasResponse = true
      return response
    })
    while ((await beneficiariesOf(world)).length === 0) await Bun.sleep(1)
    expect(hasResponse).toBe(false)
    expect((await pending).status).toBe(500)
  })

  test.each(['internal;', 'internal; when=before', 'internal; when=After', 'internal; when=after; x'])(
    '400 refuses %p and does nothing',
    async (fault) => {
      const world = await server.world()
      const before = await rowsOf(server, world.name)
      const response = await world.post('/api/v1/products/1/availability', {}, { 'x-sandbox-fault': fault })
      const body = validation('X-Sandbox-Fault', 'format', 'accepts only "; when=after" after the name')
      expect(await read(response)).toMatchObject({ status: 400, body })
      expect(await rowsOf(server, world.name)).toEqual(before)
    },
  )
})

describe('The page of a gateway', () => {
  test.each<[number, string, string | null]>([
    [502, 'Bad Gateway', null],
    [503, 'Service Unavailable', '1'],
    [504, 'Gateway Timeout', null],
  ])('%d is HTML, before the work or after it', async (status, title, retryAfter) => {
    const world = await server.world()
    for (const when of ['before', 'after']) {
      await addRule(world, { status, when, times: 1 })
      const response = await read(await world.post('/api/v1/beneficiaries', ADA, { 'x-request-id': `${when}-1` }))
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('text/html')
      expect(response.headers.get('retry-after')).toBe(retryAfter)
      expect(response.headers.get('x-request-id')).toBe(`${when}-1`)
      expect(response.headers.get('location')).toBeNull()
      expect(response.body).toBe(
        `<html>\n<head><title>${status} ${title}</title></head>\n<body><h1>${status} ${title}</h1></body>\n</html>\n`,
      )
    }
    expect(await beneficiariesOf(world)).toHaveLength(1)
    const entries = await succeed<RecordedRequest[]>(server, 'GET', `/requests?world=${world.name}`)
    const struck = entries.filter(({ fault }) => fault !== null)
    expect(struck.map(({ fault, outcome, response }) => [fault, outcome, response.status])).toEqual([
      [`${status}; when=after`, null, status],
      [String(status), null, status],
    ])
  })
})

describe('A body that is cut off', () => {
  inWorld('is sent so far, and the work is done', async (world) => {
    await addRule(world, { cut_after_bytes: 10, match: { method: 'POST' }, times: 1 })
    expect(await hasResponse(world.post('/api/v1/beneficiaries', ADA))).toBe(false)
    expect(await beneficiariesOf(world)).toHaveLength(1)
    expect(await lastOf(world)).toMatchObject({
      fault: 'cut_after_bytes',
      outcome: 'success',
      response: { status: 201 },
    })
  })

  inWorld('of an error or a page that is injected', async (world) => {
    for (const injected of [{ error: 'internal' }, { status: 503 }]) {
      await addRule(world, { ...injected, cut_after_bytes: 5, times: 1 })
      expect(await hasResponse(world.get(COUNTRY))).toBe(false)
    }
    expect((await world.get(COUNTRY)).status).toBe(200)
  })

  inWorld('is whole where it is not longer', async (world) => {
    const whole = await (await world.get(COUNTRY)).text()
    await addRule(world, { cut_after_bytes: whole.length })
    expect(await (await world.get(COUNTRY)).text()).toBe(whole)
  })

  inWorld('is none where there is none: 204', async (world) => {
    const id = await saveAda(world)
    await addRule(world, { cut_after_bytes: 0, bytes_per_second: 1 })
    const deleted = await world.delete(`/api/v1/beneficiaries/${id}`)
    expect([deleted.status, await deleted.text()]).toEqual([204, ''])
  })

  describe('on the wire', async () => {
    const wire: Listening = await listening('--rate-limit', 'off')
    afterAll(() => wire.stop())
    const credentials = { username: 'sbx_wire', password: 'x' }
    const login = await fetch(`${wire.url}/auth/login`, { method: 'POST', body: JSON.stringify(credentials) })
    const { access_token: token } = (await login.json()) as { access_token: string }
    const post = (rule: object) =>
      fetch(`${wire.url}/_sandbox/faults?world=wire`, { method: 'POST', body: JSON.stringify(rule) })
    const heard = async (path: string): Promise<string> => {
      const connection = await Connection.open(wire.url)
      connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      return connection.closed()
    }

    test.each([1, 12])('%d bytes come, then the connection is closed', async (count) => {
      const whole = await (await fetch(wire.url + COUNTRY, { headers: { authorization: `Bearer ${token}` } })).text()
      await post({ cut_after_bytes: count, times: 1 })
      const response = await heard(COUNTRY)
      expect(response).toStartWith('HTTP/1.1 200 OK\r\n')
      expect(response).toContain('X-Request-Id: ')
      expect(bodyIn(response)).toBe(whole.slice(0, count))
      expect(isWholeIn(response)).toBe(false)
    })

    test('a body that is cut at its start leaves the whole head, each time', async () => {
      for (let time = 0; time < 3; time++) {
        await post({ cut_after_bytes: 0, times: 1 })
        const response = await heard(COUNTRY)
        expect(response).toStartWith('HTTP/1.1 200 OK\r\n')
        expect(response).toContain('X-Request-Id: ')
        expect([bodyIn(response), response.endsWith('\r\n\r\n'), isWholeIn(response)]).toEqual(['', true, false])
      }
    })

    test('a client sees the status of a body that is cut at its start', async () => {
      await post({ cut_after_bytes: 0, times: 1 })
      const response = await fetch(wire.url + COUNTRY, { headers: { authorization: `Bearer ${token}` } })
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
    })

    test.each(['before', 'after'])(
      'a response lost %s the work closes the connection before the first byte',
      async (when) => {
        await post({ drop: true, when, times: 1 })
        expect(await heard(COUNTRY)).toBe('')
      },
    )
  })
})

/** The body of a response as it came, with or without chunks. */
const bodyIn = (response: string): string => {
  const [head = '', ...rest] = response.split('\r\n\r\n')
  const sent = rest.join('\r\n\r\n')
  if (!/^transfer-encoding: chunked/im.test(head)) return sent
  let body = ''
  for (let at = 0; at < sent.length; ) {
    const end = sent.indexOf('\r\n', at)
    const size = Number.parseInt(sent.slice(at, end), 16)
    if (Number.isNaN(size) || size === 0) break
    body += sent.slice(end + 2, end + 2 + size)
    at = end + 4 + size
  }
  return body
}
/** True if a client can take a response for a whole one. */
const isWholeIn = (response: string): boolean => {
  const [head = '', ...rest] = response.split('\r\n\r\n')
  if (/^transfer-encoding: chunked/im.test(head)) return response.endsWith('0\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  return length === undefined || Number(length) === rest.join('\r\n\r\n').length
}

inWorld('bytes_per_second sends a body slowly and whole', async (world) => {
  const whole = await (await world.get(COUNTRY)).text()
  await addRule(world, { bytes_per_second: 1_000, times: 1 })
  const start = Bun.nanoseconds()
  const response = await world.get(COUNTRY)
  expect(await response.text()).toBe(whole)
  expect((Bun.nanoseconds() - start) / 1e6).toBeGreaterThan(whole.length * 0.9)
  expect(await lastOf(world)).toMatchObject({ fault: 'bytes_per_second', outcome: 'success' })
})
