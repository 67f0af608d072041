import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer } from '../harness.ts'
import { ADA } from '../records.ts'

const server = await sharedServer()

const PHONE = 'phone must be a valid phone number including the country code'
const COUNTRY = 'country must be an ISO 3166-1 alpha-2 country code'
const METADATA = 'metadata must be at most 16 KiB as JSON'
const UNWRITABLE = 'must not contain NUL or half a surrogate pair'

/** An e-mail address with this number of characters. */
const emailOf = (length: number): string =>
  `${'l'.repeat(64)}@${`${'d'.repeat(61)}.`.repeat(2)}${'d'.repeat(length - 193)}.com`

describe('POST /api/v1/beneficiaries', () => {
  test('201 returns the saved beneficiary without payouts', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const sent = { ...ADA, country: 'gb', phone: '+44 (20) 7946-0958', metadata: { employee: 'E-1815' } }
    const response = await world.post('/api/v1/beneficiaries', sent)
    const saved = (await response.json()) as { id: string }
    expect([response.status, response.headers.get('location')]).toEqual([201, `/api/v1/beneficiaries/${saved.id}`])
    expect(saved).toEqual({
      id: expect.stringMatching(/^ben_[0-9a-z]{20,}$/),
      ...ADA,
      country: 'GB',
      phone: '+442079460958',
      metadata: { employee: 'E-1815' },
      total_payouts: 0,
      total_amount: 0,
      last_payout_at: null,
      created_at: '2030-01-01T00:00:00.000Z',
    } as object as typeof saved)
  })

  test('returns null for omitted or null members, and an empty object for metadata', async () => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, country: null, phone: null, metadata: null })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ country: null, phone: null, metadata: {} })
  })

  test.each<[string, object, object]>([
    ['an e-mail of 254 characters', { email: emailOf(254) }, {}],
    ['an e-mail with letters of any script', { email: 'jürgen@exämple.de' }, {}],
    ['names of 100 characters, however wide', { first_name: '𝒜'.repeat(100), last_name: 'é'.repeat(100) }, {}],
    [
      'names with space around them',
      { first_name: '  Ada ', last_name: '\tNoel\n' },
      { first_name: 'Ada', last_name: 'Noel' },
    ],
    ['a country in lower case', { country: 'us' }, { country: 'US' }],
    ['a phone number with every mark of grouping', { phone: '+1 (212) [736]-5000' }, { phone: '+12127365000' }],
    ['a phone number with typographic dashes', { phone: '+1\u2011212\u2013736\u20145000' }, { phone: '+12127365000' }],
    ['a phone number with dots', { phone: '+1.212.736.5000' }, { phone: '+12127365000' }],
    ['a British zero in brackets as none', { phone: '+44 (0)20 7946 0958' }, { phone: '+442079460958' }],
    ['a German one', { phone: '+49(0)30-123456' }, { phone: '+4930123456' }],
    ['a Russian one', { phone: '+7 (0) 495 123 45 67' }, { phone: '+74951234567' }],
    ['an Italian one as a zero', { phone: '+39 (0)2 6986 1234' }, { phone: '+390269861234' }],
    ['that of an Italian mobile as none', { phone: '+39 (0)347 123 4567' }, { phone: '+393471234567' }],
    ['one of San Marino as a zero', { phone: '+378 (0)549 882345' }, { phone: '+3780549882345' }],
    ["one of Côte d'Ivoire as a zero", { phone: '+225 (0)1 23 45 67 89' }, { phone: '+2250123456789' }],
    ['one of Congo as a zero', { phone: '+242 (0)5 551 2345' }, { phone: '+242055512345' }],
    ['a phone number of a small country', { phone: '+290 22222' }, { phone: '+29022222' }],
    ['metadata of 16 KiB', { metadata: { note: 'x'.repeat(16_384 - '{"note":""}'.length) } }, {}],
    ['metadata of any form', { metadata: { '': [], 'a b': { c: [1.5, true, null, 'é'] }, constructor: 1 } }, {}],
    ['metadata nested as deep as can be', { metadata: JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) }, {}],
  ])('201 stores %s', async (_, change, kept) => {
    const world = await server.world()
    const response = await world.post('/api/v1/beneficiaries', { ...ADA, ...change })
    expect(response.status).toBe(201)
    const saved = (await response.json()) as { id: string }
    expect(saved).toMatchObject({ ...ADA, ...change, ...kept })
    expect(await (await world.get(`/api/v1/beneficiaries/${saved.id}`)).json()).toEqual(saved)
  })

  test.each<[string, object, string]>([
    ['email', { email: undefined }, 'email is required'],
    ['first_name', { first_name: undefined }, 'first_name is required'],
    ['last_name', { last_name: undefined }, 'last_name is required'],
    ['an empty first_name', { first_name: '   ' }, 'first_name must be at least 1 character long'],
    ['a long last_name', { last_name: 'x'.repeat(101) }, 'last_name must be at most 100 characters long'],
    ['a number as email', { email: 7 }, 'email must be a string'],
    ['no address as email', { email: 'ada@' }, 'Invalid email format'],
    ['an unknown country', { country: 'XX' }, COUNTRY],
    ['a phone without country code', { phone: '020 7946 0958' }, PHONE],
    ['a zero in brackets without country code', { phone: '(0)20 7946 0958' }, PHONE],
    ['a British zero without brackets', { phone: '+44 020 7946 0958' }, PHONE],
    ['two zeros in brackets', { phone: '+44 (0)(0)20 7946 0958' }, PHONE],
    ['a zero in brackets of no number', { phone: '+44 (0)20' }, PHONE],
    ['metadata that is a list', { metadata: [] }, 'metadata must be an object'],
    ['metadata over 16 KiB', { metadata: { note: 'x'.repeat(16_384) } }, METADATA],
    ['NUL in a name', { first_name: 'A\0da' }, `first_name ${UNWRITABLE}`],
    ['half a surrogate pair', { metadata: { note: '\ud800' } }, `metadata ${UNWRITABLE}`],
    [
      'all that is required',
      { email: undefined, first_name: undefined, last_name: undefined },
      'email is required; first_name is required; last_name is required',
    ],
    [
      'every member, in the order of the specification',
      { metadata: 'x', phone: '123', country: 'XX', last_name: '', first_name: 7, email: 'ada' },
      `Invalid email format; first_name must be a string; last_name must be at least 1 character long; ${COUNTRY}; ${PHONE}; metadata must be an object`,
    ],
    [
      'what the schema says, and what it cannot',
      { first_name: '\0', country: 'ZZ', metadata: { note: 'x'.repeat(16_384) } },
      `first_name ${UNWRITABLE}; ${COUNTRY}; ${METADATA}`,
    ],
    [
      'the first rule that a member breaks',
      { phone: 7, country: '\0' },
      `country ${UNWRITABLE}; phone must be a string`,
    ],
    ['an e-mail of 255 characters', { email: emailOf(255) }, 'email must be at most 254 characters long'],
    ['an e-mail with space around it', { email: ' ada@example.com' }, 'Invalid email format'],
    ['an e-mail with a name', { email: 'Ada <ada@example.com>' }, 'Invalid email format'],
    ['a name of 101 wide letters', { first_name: '𝒜'.repeat(101) }, 'first_name must be at most 100 characters long'],
    ['an alpha-3 code', { country: 'GBR' }, COUNTRY],
    ['a letter that turns into a code in capitals', { country: 'ß' }, COUNTRY],
    ['a country with space around it', { country: ' GB' }, COUNTRY],
    ['a number that no country gives out', { phone: '+1 555' }, PHONE],
    ['a phone number with an extension', { phone: '+12127365000;ext=5' }, PHONE],
    ['digits of another script', { phone: '+٤٤٢٠٧٩٤٦٠٩٥٨' }, PHONE],
    ['an international prefix in the place of the plus', { phone: '0044 20 7946 0958' }, PHONE],
    ['metadata of more than 16 KiB', { metadata: { note: 'x'.repeat(16_385 - '{"note":""}'.length) } }, METADATA],
    ['metadata whose bytes are more than its letters', { metadata: { note: 'é'.repeat(8_190) } }, METADATA],
    ['NUL in a name of metadata', { metadata: { 'a\0': 1 } }, `metadata ${UNWRITABLE}`],
  ])('400 refuses %s and writes nothing', async (_, change, message) => {
    const world = await server.world()
    const refused = world.post('/api/v1/beneficiaries', { ...ADA, ...change })
    await expectResponse(refused, 400, { error: 'ValidationException', message })
    expect((await world.get('/api/v1/beneficiaries')).headers.get('x-total-count')).toBe('0')
  })
})
