import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Server, startServer, structured } from '../harness.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const ADA = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }

describe('POST /api/v1/beneficiaries', () => {
  test('201 answers the saved beneficiary with nothing paid yet', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const response = await world.post('/api/v1/beneficiaries', {
      ...ADA,
      country: 'gb',
      phone: '+44 (20) 7946-0958',
      metadata: { employee: 'E-1815' },
    })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^ben_[0-9a-z]{20,}$/),
      ...ADA,
      country: 'GB',
      phone: '+442079460958',
      metadata: { employee: 'E-1815' },
      total_payouts: 0,
      total_amount: 0,
      last_payout_at: null,
      created_at: '2030-01-01T00:00:00.000Z',
    })
  })

  test('members that were left out, or null, come back as null, metadata as an empty object', async () => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, country: null, phone: null, metadata: null })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ country: null, phone: null, metadata: {} })
  })

  test.each([
    ['email', { email: undefined }, 'email is required'],
    ['first_name', { first_name: undefined }, 'first_name is required'],
    ['last_name', { last_name: undefined }, 'last_name is required'],
    ['a null email', { email: null }, 'email is required'],
    ['an empty first_name', { first_name: '   ' }, 'first_name must be at least 1 character long'],
    ['a long last_name', { last_name: 'x'.repeat(101) }, 'last_name must be at most 100 characters long'],
    ['a number as email', { email: 7 }, 'email must be a string'],
    ['no address as email', { email: 'ada@' }, 'Invalid email format'],
    ['an empty email', { email: '' }, 'Invalid email format'],
    ['an unknown country', { country: 'XX' }, 'country must be an ISO 3166-1 alpha-2 country code'],
    ['an empty country', { country: '' }, 'country must be an ISO 3166-1 alpha-2 country code'],
    [
      'a phone without country code',
      { phone: '020 7946 0958' },
      'phone must be a valid phone number including the country code',
    ],
    ['metadata that is a list', { metadata: [] }, 'metadata must be an object'],
    ['metadata over 16 KiB', { metadata: { note: 'x'.repeat(16_384) } }, 'metadata must be at most 16 KiB as JSON'],
    ['NUL in a name', { first_name: 'A\0da' }, 'first_name must not hold NUL or half a surrogate pair'],
    [
      'half a surrogate pair in metadata',
      { metadata: { note: '\ud800' } },
      'metadata must not hold NUL or half a surrogate pair',
    ],
  ])('400 names %s, and writes nothing', async (_, change, message) => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, ...change })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'ValidationException', message })
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('0')
  })

  test.each([
    ['no body', undefined],
    ['an empty one', ''],
    ['one that is not JSON', '{"email":'],
    ['a list', '[]'],
    ['a string', '"ada"'],
    ['null', 'null'],
    ['one over 1 MiB', JSON.stringify({ ...ADA, metadata: { note: 'x'.repeat(1_048_576) } })],
    ['one nested deeper than 32', `{"metadata":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`],
  ])('400 refuses %s as a body', async (_, body) => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'BadRequest', message: 'Invalid request body' })
  })

  test('401 without a token, in the structured shape', async () => {
    const response = await server.request('/api/v1/beneficiaries', { method: 'POST', body: JSON.stringify(ADA) })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await response.json()).toEqual(
      structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid or expired access token'),
    )
  })
})
