import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer } from '../harness.ts'
import { ADA } from '../records.ts'

const server = await sharedServer()

describe('POST /api/v1/beneficiaries', () => {
  test('201 returns the saved beneficiary without payouts', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    await expectResponse(
      world.post('/api/v1/beneficiaries', {
        ...ADA,
        country: 'gb',
        phone: '+44 (20) 7946-0958',
        metadata: { employee: 'E-1815' },
      }),
      201,
      {
        id: expect.stringMatching(/^ben_[0-9a-z]{20,}$/),
        ...ADA,
        country: 'GB',
        phone: '+442079460958',
        metadata: { employee: 'E-1815' },
        total_payouts: 0,
        total_amount: 0,
        last_payout_at: null,
        created_at: '2030-01-01T00:00:00.000Z',
      },
    )
  })

  test('returns null for omitted or null members, and an empty object for metadata', async () => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, country: null, phone: null, metadata: null })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ country: null, phone: null, metadata: {} })
  })

  test.each([
    ['email', { email: undefined }, 'email is required'],
    ['first_name', { first_name: undefined }, 'first_name is required'],
    ['last_name', { last_name: undefined }, 'last_name is required'],
    ['an empty first_name', { first_name: '   ' }, 'first_name must be at least 1 character long'],
    ['a long last_name', { last_name: 'x'.repeat(101) }, 'last_name must be at most 100 characters long'],
    ['a number as email', { email: 7 }, 'email must be a string'],
    ['no address as email', { email: 'ada@' }, 'Invalid email format'],
    ['an unknown country', { country: 'XX' }, 'country must be an ISO 3166-1 alpha-2 country code'],
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
  ])('400 names %s and writes nothing', async (_, change, message) => {
    const world = await server.world()
    await expectResponse(world.post('/api/v1/beneficiaries', { ...ADA, ...change }), 400, {
      error: 'ValidationException',
      message,
    })
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('0')
  })

  test.each<[string, object, string]>([
    [
      'all that is required',
      { email: undefined, first_name: undefined, last_name: undefined },
      'email is required; first_name is required; last_name is required',
    ],
    [
      'every member, in the order of the specification',
      { metadata: 'x', phone: '123', country: 'XX', last_name: '', first_name: 7, email: 'ada' },
      'Invalid email format; first_name must be a string; last_name must be at least 1 character long; ' +
        'country must be an ISO 3166-1 alpha-2 country code; ' +
        'phone must be a valid phone number including the country code; metadata must be an object',
    ],
    [
      'what the schema says and what it cannot say',
      { first_name: '\0', country: 'ZZ', metadata: { note: 'x'.repeat(16_384) } },
      'first_name must not hold NUL or half a surrogate pair; country must be an ISO 3166-1 alpha-2 country code; ' +
        'metadata must be at most 16 KiB as JSON',
    ],
    [
      'only the first rule that a member breaks',
      { phone: 7, country: '\0' },
      'country must not hold NUL or half a surrogate pair; phone must be a string',
    ],
  ])('400 names all invalid fields: %s', async (_, change, message) => {
    const world = await server.world()
    await expectResponse(world.post('/api/v1/beneficiaries', { ...ADA, ...change }), 400, {
      error: 'ValidationException',
      message,
    })
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('0')
  })

  test.each<[string, object, object]>([
    [
      'an e-mail of 254 characters',
      { email: `${'l'.repeat(64)}@${'d'.repeat(61)}.${'d'.repeat(61)}.${'d'.repeat(61)}.com` },
      {},
    ],
    ['an e-mail with letters of any script', { email: 'jürgen@exämple.de' }, {}],
    ['names of 100 characters, however wide', { first_name: '𝒜'.repeat(100), last_name: 'é'.repeat(100) }, {}],
    [
      'names with space around them',
      { first_name: '  Ada ', last_name: '\tKing Noel\n' },
      { first_name: 'Ada', last_name: 'King Noel' },
    ],
    ['a country in lower case', { country: 'us' }, { country: 'US' }],
    ['a phone number with every mark of grouping', { phone: '+1 (212) [736]-5000' }, { phone: '+12127365000' }],
    ['a phone number with typographic dashes', { phone: '+1\u2011212\u2013736\u20145000' }, { phone: '+12127365000' }],
    ['a phone number of a small country', { phone: '+290 22222' }, { phone: '+29022222' }],
    ['metadata of 16 KiB', { metadata: { note: 'x'.repeat(16_384 - '{"note":""}'.length) } }, {}],
    ['metadata of any form', { metadata: { '': [], 'a b': { c: [1.5, true, null, 'é'] }, constructor: 1 } }, {}],
    [
      'metadata nested as deep as bodies may be',
      { metadata: JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) },
      {},
    ],
  ])('201 stores %s', async (_, change, kept) => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, ...change })
    expect(response.status).toBe(201)
    const saved = (await response.json()) as { id: string }
    expect(saved).toMatchObject({ ...ADA, ...change, ...kept })
    expect(await (await world.get(`/api/v1/beneficiaries/${saved.id}`)).json()).toEqual(saved)
  })

  test.each<[string, object, string]>([
    [
      'an e-mail of 255 characters',
      { email: `${'l'.repeat(64)}@${'d'.repeat(61)}.${'d'.repeat(61)}.${'d'.repeat(62)}.com` },
      'email must be at most 254 characters long',
    ],
    ['an e-mail with space around it', { email: ' ada@example.com' }, 'Invalid email format'],
    ['an e-mail with a name', { email: 'Ada <ada@example.com>' }, 'Invalid email format'],
    [
      'a name of 101 wide characters',
      { first_name: '𝒜'.repeat(101) },
      'first_name must be at most 100 characters long',
    ],
    ['an alpha-3 code', { country: 'GBR' }, 'country must be an ISO 3166-1 alpha-2 country code'],
    [
      'a letter that turns into a code in capitals',
      { country: 'ß' },
      'country must be an ISO 3166-1 alpha-2 country code',
    ],
    ['a country with space around it', { country: ' GB' }, 'country must be an ISO 3166-1 alpha-2 country code'],
    [
      'a number that no country gives out',
      { phone: '+1 555' },
      'phone must be a valid phone number including the country code',
    ],
    [
      'a phone number with an extension',
      { phone: '+12127365000;ext=5' },
      'phone must be a valid phone number including the country code',
    ],
    [
      'digits of another script',
      { phone: '+٤٤٢٠٧٩٤٦٠٩٥٨' },
      'phone must be a valid phone number including the country code',
    ],
    [
      'an international prefix in the place of the plus',
      { phone: '0044 20 7946 0958' },
      'phone must be a valid phone number including the country code',
    ],
    [
      'metadata of one byte more than 16 KiB',
      { metadata: { note: 'x'.repeat(16_385 - '{"note":""}'.length) } },
      'metadata must be at most 16 KiB as JSON',
    ],
    [
      'metadata whose bytes are more than its letters',
      { metadata: { note: 'é'.repeat(8_190) } },
      'metadata must be at most 16 KiB as JSON',
    ],
    [
      'NUL in the name of a metadata member',
      { metadata: { 'a\0': 1 } },
      'metadata must not hold NUL or half a surrogate pair',
    ],
  ])('400 refuses %s', async (_, change, message) => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, ...change })
    expect(await response.json()).toEqual({ error: 'ValidationException', message })
    expect(response.status).toBe(400)
  })
})
