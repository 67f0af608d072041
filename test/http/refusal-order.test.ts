// Runs in process alone: it proves logic, which is the same behind a socket.

import { describe, expect, test } from 'bun:test'
import { FORBIDDEN, notFound, structured, UNAUTHORIZED, validations } from '../errors.ts'
import { expectResponse, forFile, sharedServer, startServer, type TestWorld } from '../harness.ts'
import { errorIn, named, type ProtectedRoute, ROUTES } from './routes.ts'

/**
 * The order of refusal (contract C4): 401, 429, 403, path, body or query, existence, business. Each request breaks the
 * rule it is named for and as many later ones as its route has.
 */

const server = await sharedServer()
const strict = forFile(await startServer('--rate-limit', '1/h'))

const ROUTE_NOT_FOUND = notFound('Route not found')
const BAD_ID = '0x1'
const BAD_BODY = '{"denomination":'

/** A request with every error that a route can have. */
const worst = (route: ProtectedRoute): [path: string, init: RequestInit] => [
  (route.numericId ? withId(route.path, BAD_ID) : route.path) + (route.badQuery ? `?${route.badQuery}` : ''),
  { method: route.method, ...(route.method === 'POST' && { body: BAD_BODY }) },
]

const withId = (path: string, id: string): string => path.replace('2147483647', id)

const send = (world: TestWorld, path: string, { method, body }: RequestInit): Promise<Response> =>
  world.request(path, { method: method ?? 'GET', ...(body && { body }) })

const drained = async (): Promise<TestWorld> => {
  const limited = await (await strict.world('2030-01-01T00:00:00Z')).limited()
  expect((await limited.get('/api/v1/countries/1')).status).toBe(200)
  return limited
}

describe('401 comes first', () => {
  test.each(ROUTES.map(named))('%s, with a revoked token of a client at its limit', async (_, route) => {
    const limited = await drained()
    await limited.control('/reset')
    const [path, init] = worst(route)
    await expectResponse(send(limited, path, init), 401, UNAUTHORIZED)
  })
})

describe('429 comes second, structured everywhere', () => {
  const TOO_MANY = structured(
    'TooManyRequestsError',
    'TOO_MANY_REQUESTS',
    'Rate limit exceeded. Retry after 3600 seconds.',
  )

  // Logging out is never refused by the limits (contract C3).
  const LOGOUT = '/auth/logout'

  test.each(ROUTES.filter(({ path }) => path !== LOGOUT).map(named))('%s', async (_, route) => {
    const limited = await drained()
    const [path, init] = worst(route)
    const response = await send(limited, path, init)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('3600')
    expect(await response.json()).toEqual(TOO_MANY)
  })
})

describe('403 comes third, structured', () => {
  test.each(ROUTES.filter(({ vouchers }) => vouchers).map(named))('%s', async (_, route) => {
    const limited = await (await server.world()).limited()
    const [path, init] = worst(route)
    await expectResponse(send(limited, path, init), 403, FORBIDDEN)
  })

  test.each(ROUTES.filter(({ vouchers, method }) => !vouchers && method === 'GET').map(named))(
    'but not on %s',
    async (_, route) => {
      const limited = await (await server.world()).limited()
      const { status } = await limited.get(route.path)
      expect(status).toBe(route.resource ? 404 : 200)
    },
  )
})

describe('An invalid path id comes fourth', () => {
  const withIds = ROUTES.filter(({ numericId }) => numericId)

  test.each(withIds.map(named))('%s', async (_, route) => {
    const world = await server.world()
    const [path, init] = worst(route)
    const response = await send(world, path, init)
    await expectResponse(response, 400, errorIn(route.shape, 'BadRequest', `Invalid ${route.resource} ID`))
  })

  test.each([
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    '0x10',
    'one',
    '%20',
    '1%20',
    '%201',
    '1,2',
    '2147483648',
    '9007199254740993',
    '99999999999999999999',
    '%D9%A1',
    'null',
    '%00',
    '%',
  ])('%p is not an id', async (id) => {
    const world = await server.world()
    for (const { method, path, shape, resource, goodBody } of withIds) {
      const response = await send(world, withId(path, id), {
        method,
        ...(goodBody && { body: JSON.stringify(goodBody) }),
      })
      expect([path, response.status]).toEqual([path, 400])
      expect(await response.json()).toEqual(errorIn(shape, 'BadRequest', `Invalid ${resource} ID`))
    }
  })

  test('2147483647 is the largest id', async () => {
    const world = await server.world()
    expect((await world.get('/api/v1/countries/2147483647')).status).toBe(404)
  })
})

describe('An invalid body or query comes fifth, before the record is looked up', () => {
  test.each(ROUTES.filter(({ goodBody }) => goodBody).map(named))('%s', async (_, route) => {
    const world = await server.world()
    for (const body of [undefined, '', ' \r\n\t', 'a=1&b=2', BAD_BODY, '[]', '"x"', 'null', '7']) {
      const response = await world.post(route.path, body)
      await expectResponse(response, 400, errorIn(route.shape, 'BadRequest', 'Invalid request body'))
    }
  })

  test.each(ROUTES.filter(({ badQuery }) => badQuery).map(named))('%s', async (_, route) => {
    const world = await server.world()
    const response = await world.get(`${route.path}?${route.badQuery}`)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: string | { code: string } }
    expect(typeof error === 'string' ? error : error.code).toBe(
      route.shape === 'flat' ? 'ValidationException' : 'VALIDATION_FAILURE',
    )
  })

  test('invalid members come before an unknown product', async () => {
    const world = await server.world()
    const wrong = { denomination: 0, quantity: 0.5 }
    const response = world.post('/api/v1/products/2147483647/availability', wrong)
    const refused = validations(
      ['denomination', 'min', 'must be at least 0.01'],
      ['quantity', 'integer', 'must be a whole number'],
    )
    await expectResponse(response, 400, refused)
    for (const action of ['charges', 'discount']) {
      await expectResponse(world.post(`/api/v1/products/2147483647/${action}`, wrong), 400, {
        error: {
          message: 'Validation failed',
          details: 'denomination must be at least 0.01; quantity must be a whole number',
        },
      })
    }
  })
})

describe('An unknown route', () => {
  const BELOW = ['/api/v1', '/api/v1/', '/api/v1/nowhere', '/api/v1/products/1/nothing', '/api/v1/beneficiaries/a/b']
  const OUTSIDE = ['/nowhere', '/api', '/api/v2/products', '/api/v10', '/auth', '/auth/nothing', '/_sandbox/x']

  test.each(BELOW)('%s is 401 without a valid token', async (path) => {
    const missing = await server.request(path)
    expect(missing.status).toBe(401)
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    expect(await missing.json()).toEqual(UNAUTHORIZED)
    const bad = await server.request(path, { headers: { authorization: 'Bearer a.b.c' } })
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    expect(await bad.json()).toEqual(UNAUTHORIZED)
  })

  test.each(BELOW)('%s is 404 with a token', async (path) => {
    const world = await server.world()
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await world.request(path, { method })
      expect([method, response.status]).toEqual([method, 404])
      expect(await response.json()).toEqual(ROUTE_NOT_FOUND)
    }
  })

  test.each([
    ['PUT', '/api/v1/beneficiaries'],
    ['PATCH', '/api/v1/beneficiaries/ben_000000000000000000000000'],
    ['DELETE', '/api/v1/beneficiaries'],
    ['POST', '/api/v1/products'],
    ['POST', '/api/v1/products/1'],
    ['GET', '/api/v1/products/1/charges'],
    ['GET', '/api/v1/products/1/availability'],
    ['DELETE', '/api/v1/categories/1'],
    ['POST', '/api/v1/countries'],
    ['PUT', '/api/v1/currencies/1'],
  ])('%s %s is 401 without a token and 404 with one', async (method, path) => {
    const world = await server.world()
    expect((await server.request(path, { method })).status).toBe(401)
    await expectResponse(world.request(path, { method }), 404, ROUTE_NOT_FOUND)
  })

  test.each(OUTSIDE)('%s is 404 with a token and without', async (path) => {
    const world = await server.world()
    for (const response of [await server.request(path), await world.get(path), await world.post(path, {})]) {
      await expectResponse(response, 404, ROUTE_NOT_FOUND)
    }
  })

  test.each([
    ['GET', '/auth/login'],
    ['GET', '/auth/refresh'],
    ['GET', '/auth/logout'],
    ['POST', '/'],
    ['POST', '/status'],
    ['DELETE', '/openapi.json'],
  ])('%s %s is 404 if the path has other methods', async (method, path) => {
    await expectResponse(server.request(path, { method }), 404, ROUTE_NOT_FOUND)
  })

  test.each(['/health', '/healthz', '/healthcheck', '/ready'])('%s links to the health checks', async (path) => {
    const response = await server.request(path)
    expect(response.headers.get('link')).toBe('</livez>; rel="status", </readyz>; rel="status"')
    await expectResponse(response, 404, ROUTE_NOT_FOUND)
  })
})
