import { beforeAll, describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer, type TestWorld } from '../harness.ts'
import { type Beneficiary, pageOf } from '../records.ts'

const server = await sharedServer()

/** Saves people a second apart, or all in one moment. */
const save = async (world: TestWorld, people: readonly object[], waitsMs = 1_000) => {
  const saved: Beneficiary[] = []
  for (const person of people) {
    const response = await world.post('/api/v1/beneficiaries', person)
    expect(response.status).toBe(201)
    saved.push((await response.json()) as Beneficiary)
    if (waitsMs > 0) await world.clock({ advance: `PT${waitsMs / 1_000}S` })
  }
  return saved
}
const person = (email: string, first_name = 'Ada', last_name = 'Lovelace', country?: string) => ({
  email,
  first_name,
  last_name,
  ...(country && { country }),
})

const request = (world: TestWorld, query = '') => world.get(`/api/v1/beneficiaries${query}`)
const list = async (world: TestWorld, query = '') => (await (await request(world, query)).json()) as Beneficiary[]
const emails = (people: readonly Beneficiary[]) => people.map(({ email }) => email)

const expectRefusal = async (response: Response, message: string) => {
  await expectResponse(response, 400, { error: 'ValidationException', message })
}

describe('GET /api/v1/beneficiaries', () => {
  test('200 returns an empty array and zero pages if there are none', async () => {
    const response = await request(await server.world())
    await expectResponse(response, 200, [])
    expect(pageOf(response)).toEqual(['1', '20', '0', '0', null, null])
  })

  test('200 returns the newest first, with four headers', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const saved = await save(world, [person('a@example.com'), person('b@example.com', 'Bo', 'Lin', 'SE')])
    const response = await request(world)
    await expectResponse(response, 200, saved.toReversed())
    expect(pageOf(response)).toEqual(['1', '20', '2', '1', null, null])
    expect(saved.map(({ created_at }) => created_at)).toEqual(['2030-01-01T00:00:00.000Z', '2030-01-01T00:00:01.000Z'])
  })

  test('of a repeated parameter the last value counts', async () => {
    const world = await server.world()
    const [ada] = await save(world, [person('ada@example.com'), person('bo@example.com')])
    const response = await request(world, '?limit=x&limit=5&search=bo&search=ada@&sort_order=&sort_order=ASC')
    await expectResponse(response, 200, [ada])
    expect(pageOf(response).slice(0, 2)).toEqual(['1', '5'])
  })
})

describe('pages of beneficiaries', () => {
  let world: TestWorld
  let newestFirst: string[]
  beforeAll(async () => {
    world = await server.world('2030-01-01T00:00:00Z')
    const people = Array.from({ length: 45 }, (_, index) => person(`p${index}@example.com`))
    newestFirst = emails(await save(world, people, 0)).toReversed()
  })

  test.each([
    ['', 1, 20, 3, 0, 20],
    ['?page=2', 2, 20, 3, 20, 40],
    ['?page=3', 3, 20, 3, 40, 45],
    ['?limit=100', 1, 100, 1, 0, 45],
    ['?limit=45', 1, 45, 1, 0, 45],
    ['?limit=44&page=2', 2, 44, 2, 44, 45],
    ['?limit=1&page=45', 45, 1, 45, 44, 45],
  ])('%p', async (query, page, limit, pages, start, end) => {
    const response = await request(world, query)
    expect(response.status).toBe(200)
    expect(pageOf(response)).toEqual([String(page), String(limit), '45', String(pages), null, null])
    expect(emails((await response.json()) as Beneficiary[])).toEqual(newestFirst.slice(start, end))
  })

  test.each(['4', '9007199254740991'])('page %s past the end is empty and has the right totals', async (page) => {
    const response = await request(world, `?page=${page}`)
    await expectResponse(response, 200, [])
    expect(pageOf(response)).toEqual([page, '20', '45', '3', null, null])
  })

  test.each([
    ['page=0', 'page must be at least 1'],
    ['limit=101', 'limit must be at most 100'],
    ['limit=', 'limit must be a whole number'],
    ['page=0&limit=101', 'page must be at least 1; limit must be at most 100'],
  ])('400 names the error in %s, in the flat format', async (query, message) => {
    await expectRefusal(await request(world, `?${query}`), message)
  })
})

describe('sort of beneficiaries', () => {
  const people = [
    person('zoe@example.com', 'zoe', 'Ångström', 'SE'),
    person('Bob@example.com', 'Émile', 'Zola', 'FR'),
    person('bob@example.com', 'emile', 'zola'),
    person('alice@example.com', 'Zoe', 'Ångström', 'US'),
    person('ALICE@example.com', 'Élodie', 'Ähre', 'FR'),
    person('bob@example.com', 'emile', 'zola', 'AE'),
    person('carol@example.com', '𝒜da', 'Ω', 'SE'),
    person('dave@example.com', '\uff21da', 'ω'),
    person('erin@example.com', 'E\u0301lodie', 'A\u0308hre', 'FR'),
  ]
  let world: TestWorld
  let saved: Beneficiary[]
  beforeAll(async () => {
    world = await server.world('2030-01-01T00:00:00Z')
    const early = await save(world, people.slice(0, 4), 0)
    await world.clock({ advance: 'PT1M' })
    saved = [...early, ...(await save(world, people.slice(4), 0))]
  })

  const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const lowerCase = (text: string) => text.normalize('NFC').toLowerCase().normalize('NFC')
  const compareLowerCase = (a: string, b: string) => compareText(lowerCase(a), lowerCase(b)) || compareText(a, b)
  const byId = (a: Beneficiary, b: Beneficiary) => compareText(a.id, b.id)

  /** Ascending, as contract C7 promises; null is smallest, and ties break by id. */
  const ASCENDING: Record<string, (a: Beneficiary, b: Beneficiary) => number> = {
    created_at: (a, b) => compareText(a.created_at, b.created_at) || byId(a, b),
    email: (a, b) => compareLowerCase(a.email, b.email) || byId(a, b),
    first_name: (a, b) => compareLowerCase(a.first_name, b.first_name) || byId(a, b),
    last_name: (a, b) => compareLowerCase(a.last_name, b.last_name) || byId(a, b),
    country: (a, b) => compareText(a.country ?? '', b.country ?? '') || byId(a, b),
    total_payouts: byId,
    total_amount: byId,
    last_payout_at: byId,
  }

  test.each(
    Object.entries(ASCENDING).flatMap(([field, compare]) =>
      (['ASC', 'DESC'] as const).map((order) => [field, order, compare] as const),
    ),
  )('by %s %s: every page follows the last', async (field, order, compare) => {
    const ascending = saved.toSorted(compare)
    const expected = order === 'ASC' ? ascending : ascending.toReversed()
    expect(await list(world, `?sort_by=${field}&sort_order=${order}`)).toEqual(expected)
    const walked: Beneficiary[] = []
    for (let page = 1; page <= 4; page++) {
      walked.push(...(await list(world, `?sort_by=${field}&sort_order=${order}&limit=3&page=${page}`)))
    }
    expect(walked).toEqual(expected)
  })

  test('sorts null as the smallest value', async () => {
    const countries = async (order: string) =>
      (await list(world, `?sort_by=country&sort_order=${order}`)).map(({ country }) => country)
    expect(await countries('ASC')).toEqual([null, null, 'AE', 'FR', 'FR', 'FR', 'SE', 'SE', 'US'])
    expect(await countries('DESC')).toEqual(['US', 'SE', 'SE', 'FR', 'FR', 'FR', 'AE', null, null])
  })

  test('sorts text by code point, including the supplementary planes', async () => {
    const names = (await list(world, '?sort_by=first_name&sort_order=ASC')).map(({ first_name }) => first_name)
    expect(names.slice(-2)).toEqual(['\uff21da', '𝒜da'])
  })

  test.each([
    ['', 'created_at', 'DESC'],
    ['?sort_by=email', 'email', 'DESC'],
    ['?sort_order=ASC', 'created_at', 'ASC'],
    ['?sort_order=asc', 'created_at', 'ASC'],
    ['?sort_by=email&sort_order=Desc', 'email', 'DESC'],
  ])('%p is by %s %s', async (query, field, order) => {
    expect(await list(world, query)).toEqual(await list(world, `?sort_by=${field}&sort_order=${order}`))
  })

  const FIELDS = Object.keys(ASCENDING).join(', ')
  test.each([
    ['sort_by=phone', `sort_by must be one of ${FIELDS}`],
    ['sort_by=', `sort_by must be one of ${FIELDS}`],
    ['sort_by=EMAIL', `sort_by must be one of ${FIELDS}`],
    ['sort_by=id', `sort_by must be one of ${FIELDS}`],
    ['sort_by=toString', `sort_by must be one of ${FIELDS}`],
    ['sort_order=UP', 'sort_order must be one of ASC, DESC'],
    ['sort_order=', 'sort_order must be one of ASC, DESC'],
    ['sort_by=x&sort_order=y', `sort_by must be one of ${FIELDS}; sort_order must be one of ASC, DESC`],
  ])('400 refuses %s', async (query, message) => {
    await expectRefusal(await request(world, `?${query}`), message)
  })
})

describe('sort of beneficiaries by payouts', () => {
  let world: TestWorld
  beforeAll(async () => {
    world = await server.world('2030-01-01T00:00:00Z')
    const [once, twice] = await save(world, [person('once@example.com'), person('twice@example.com')])
    await save(world, [person('never@example.com'), person('neither@example.com')])
    const pay = async (reference_id: string, beneficiary: Beneficiary | undefined, amount: number) => {
      const sent = { reference_id, wallet_id: 1, amount, currency: 'USD', beneficiary_id: beneficiary?.id }
      expect((await world.post('/api/v1/payouts', sent)).status).toBe(201)
      await world.clock({ advance: 'PT10S' })
    }
    await pay('a', twice, 1)
    await pay('b', twice, 2)
    await pay('c', once, 100)
  })

  test.each([
    ['total_payouts', ['never@example.com', 'neither@example.com', 'once@example.com', 'twice@example.com']],
    ['total_amount', ['never@example.com', 'neither@example.com', 'twice@example.com', 'once@example.com']],
    ['last_payout_at', ['never@example.com', 'neither@example.com', 'twice@example.com', 'once@example.com']],
  ])('%s: null is smallest, and ties are ordered by id in the same direction', async (field, ascending) => {
    expect(emails(await list(world, `?sort_by=${field}&sort_order=ASC`))).toEqual(ascending)
    expect(emails(await list(world, `?sort_by=${field}&sort_order=DESC`))).toEqual(ascending.toReversed())
  })
})

describe('search of beneficiaries', () => {
  let world: TestWorld
  beforeAll(async () => {
    world = await server.world('2030-01-01T00:00:00Z')
    await save(world, [
      person('elodie.d@Example.com', 'Élodie', 'Dürr'),
      person('bob_100%@mail.example', 'Bob', 'Ross'),
      person('bobby@example.org', 'Bobby', 'Rossi'),
      person('ada@example.org', 'Ada', 'King-Noel'),
      person('nikos@example.org', 'ΝΊΚΟΣ', 'Οδυσσέας'),
      person('hiba@example.net', 'H\u0331iba', 'J\u030can'),
    ])
  })
  const found = async (search: string) =>
    emails(await list(world, `?sort_order=ASC&search=${encodeURIComponent(search)}`))

  test.each([
    ['a part of the e-mail', 'example.org', ['bobby@example.org', 'ada@example.org', 'nikos@example.org']],
    ['in either case', 'EXAMPLE.COM', ['elodie.d@Example.com']],
    ['the first name', 'bobby', ['bobby@example.org']],
    ['a part of the first name', 'ob', ['bob_100%@mail.example', 'bobby@example.org']],
    ['letters with marks, in either case', 'éLODIE', ['elodie.d@Example.com']],
    ['the same in capitals', 'ÉLODIE', ['elodie.d@Example.com']],
    ['letters with marks of their own', 'e\u0301lod', ['elodie.d@Example.com']],
    ['a letter that composes in lower case alone', '\u1e96IBA', ['hiba@example.net']],
    ['the same with a mark of its own', 'h\u0331iba \u01f0', ['hiba@example.net']],
    ['Greek in small letters', 'νίκοσ', ['nikos@example.org']],
    ['a part that ends in the middle of a Greek word', 'ΟΔΥΣ', ['nikos@example.org']],
    ['the last name', 'DÜRR', ['elodie.d@Example.com']],
    ['a part of the last name', 'noel', ['ada@example.org']],
    ['first and last name', 'bob ross', ['bob_100%@mail.example']],
    ['the seam between them', 'y ros', ['bobby@example.org']],
    ['a percent sign, which stands for itself', '%', ['bob_100%@mail.example']],
    ['an underscore, which stands for itself', '_', ['bob_100%@mail.example']],
    ['a wildcard that would fit all', '%a%', []],
    ['a quote', "'", []],
    ['a backslash', '\\', []],
    ['last and first name', 'ross bob', []],
    ['an e-mail that runs into a name', 'orgbobby', []],
    ['nothing that is there', 'zzz', []],
  ])('finds %s', async (_, search, expected) => {
    expect(await found(search)).toEqual(expected)
  })

  test('counts and pages the results', async () => {
    const response = await request(world, '?search=example.org&limit=2&page=2&sort_order=asc')
    expect(emails((await response.json()) as Beneficiary[])).toEqual(['nikos@example.org'])
    expect(pageOf(response)).toEqual(['2', '2', '3', '2', null, null])
  })

  test.each([['NUL', 'search=%00', 'search must not contain NUL']])('400 refuses %s', async (_, query, message) => {
    await expectRefusal(await request(world, `?${query}`), message)
  })
})
