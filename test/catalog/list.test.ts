import { describe, expect, test } from 'bun:test'
import { invalid } from '../errors.ts'
import { expectResponse, sharedServer } from '../harness.ts'
import { pageOf } from '../records.ts'
import { digestOf } from '../reference/path-ids.ts'

interface Listed {
  id: number
  name: string
  category: string
  sub_category: string
  country_code: string
  currency_code: string
  available_denominations: { min_value: number; max_value: number; discount: number }[]
}

const server = await sharedServer()
const world = await server.world()

const request = (query: string) => world.get(`/api/v1/products?${query}`)
const list = (query: string) => world.read<Listed[]>(`/api/v1/products?${query}`)
const everything = await list('limit=10000')
const idsOf = (products: readonly { id: number }[]) => products.map(({ id }) => id)
const sortOf = (sort: unknown) => `sort=${encodeURIComponent(JSON.stringify(sort))}`

/** The response that refuses a query, with the problems by field. */
const refusal = (messages: Record<string, [rule: string, problem: string][]>) =>
  invalid(
    Object.fromEntries(
      Object.entries(messages).map(([field, problems]) => [
        field,
        problems.map(([rule, problem]) => ({ rule, field, message: `The ${field} field ${problem}.` })),
      ]),
    ),
  )

const expectRefusal = async (query: string, messages: Record<string, [rule: string, problem: string][]>) => {
  await expectResponse(request(query), 400, refusal(messages))
}

describe('GET /api/v1/products', () => {
  test('200 returns the newest 50 by descending id, with six headers', async () => {
    const response = await request('')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(pageOf(response)).toEqual(['1', '50', '459', '10', '50', 'true'])
    expect(idsOf((await response.json()) as Listed[])).toEqual(
      idsOf(everything)
        .sort((a, b) => b - a)
        .slice(0, 50),
    )
  })

  test('has the documented variety of products', () => {
    const bands = everything.flatMap((product) => product.available_denominations)
    expect(everything.length).toBeGreaterThanOrEqual(400)
    expect(new Set(everything.map((product) => product.country_code)).size).toBeGreaterThanOrEqual(40)
    expect(new Set(everything.map((product) => product.currency_code)).size).toBeGreaterThanOrEqual(20)
    expect(bands.some(({ min_value, max_value }) => min_value === max_value)).toBe(true)
    expect(bands.some(({ min_value, max_value }) => min_value < max_value)).toBe(true)
    expect(bands.some(({ discount }) => discount === 0)).toBe(true)
    expect(bands.some(({ discount }) => discount > 0)).toBe(true)
  })

  test('ids never change', () => {
    const pairs = everything.toSorted((a, b) => a.id - b.id).map(({ id, name }) => `${id} ${name}`)
    expect(digestOf(pairs)).toBe('d917d98408233029cc9a372397e742d6a369c8cdcbe6a591a4ebe7f05bf66b7a')
  })

  test('does not show inactive products', () => {
    const inactive = [7, 307, 311, 331, 378, 412, 440, 442, 452, 461, 464, 465]
    expect(idsOf(everything).filter((id) => inactive.includes(id))).toEqual([])
    expect(everything).toHaveLength(471 - inactive.length)
  })
})

describe('page and limit of products', () => {
  test.each<[string, string[]]>([
    ['page=10', ['10', '50', '459', '10', '9', 'false']],
    ['page=9', ['9', '50', '459', '10', '50', 'true']],
    ['limit=459', ['1', '459', '459', '1', '459', 'false']],
    ['limit=458', ['1', '458', '459', '2', '458', 'true']],
    ['limit=1&page=459', ['459', '1', '459', '459', '1', 'false']],
    ['limit=10000', ['1', '10000', '459', '1', '459', 'false']],
  ])('%s', async (query, page) => {
    const response = await request(query)
    expect(response.status).toBe(200)
    expect(pageOf(response)).toEqual(page)
    expect(await response.json()).toHaveLength(Number(page[4]))
  })

  test.each(['11', '1000000', '9007199254740991'])(
    'page %s past the end is empty and has the right totals',
    async (page) => {
      const response = await request(`page=${page}`)
      expect(response.status).toBe(200)
      expect(pageOf(response)).toEqual([page, '50', '459', '10', '0', 'false'])
      expect(await response.json()).toEqual([])
    },
  )

  test.each<[string, Record<string, [string, string][]>]>([
    ['page=0', { page: [['min', 'must be at least 1']] }],
    ['limit=0', { limit: [['min', 'must be at least 1']] }],
    ['limit=10001', { limit: [['max', 'must be at most 10000']] }],
    ['page=9007199254740992', { page: [['max', 'must be at most 9007199254740991']] }],
    ['page=', { page: [['integer', 'must be a whole number']] }],
    ['limit=', { limit: [['integer', 'must be a whole number']] }],
    ['page=%2B1', { page: [['integer', 'must be a whole number']] }],
    ['page=1e1', { page: [['integer', 'must be a whole number']] }],
  ])('400 names the error in %s', expectRefusal)

  test('400 names all invalid parameters', () =>
    expectRefusal('page=0&limit=x&country_id=a&currency_id=0&search=%00&sort=[]', {
      page: [['min', 'must be at least 1']],
      limit: [['integer', 'must be a whole number']],
      country_id: [['integer', 'must be a positive whole number']],
      currency_id: [['integer', 'must be a positive whole number']],
      search: [['format', 'must not contain NUL']],
      sort: [['object', 'must be a JSON object with the members field and direction']],
    }))
})

describe('filters of products', () => {
  const INDIA = 105
  const INR = 58

  test.each([
    ['category=Gaming', (product: Listed) => product.category === 'Gaming'],
    ['category=gAMING', (product: Listed) => product.category === 'Gaming'],
    ['category=food+%26+dining', (product: Listed) => product.category === 'Food & Dining'],
    [`country_id=${INDIA}`, (product: Listed) => product.country_code === 'IND'],
    [`currency_id=${INR}`, (product: Listed) => product.currency_code === 'INR'],
    ['search=kettle', (product: Listed) => product.name.toLowerCase().includes('kettle')],
    ['search=BOOKS%20usa', (product: Listed) => product.name.toLowerCase().includes('books usa')],
    [
      `category=gaming&country_id=${INDIA}`,
      (product: Listed) => product.category === 'Gaming' && product.country_code === 'IND',
    ],
    [
      `category=food+%26+dining&country_id=${INDIA}&currency_id=${INR}&search=table`,
      (product: Listed) =>
        product.category === 'Food & Dining' && product.country_code === 'IND' && /table/i.test(product.name),
    ],
  ])('%s returns and counts the matching products in list order', async (query, fits) => {
    const expected = everything.filter(fits)
    expect(expected).not.toBeEmpty()
    expect(expected.length).toBeLessThan(everything.length)
    const response = await request(`${query}&limit=10000`)
    await expectResponse(response, 200, expected)
    const count = String(expected.length)
    expect(pageOf(response)).toEqual(['1', '10000', count, '1', count, 'false'])
  })

  test.each([
    ['a category that there is not', 'category=Submarines'],
    ['an empty category', 'category='],
    ['an inactive category', 'category=Telecom%20Top-Ups'],
    ['a part of a category', 'category=Gam'],
    ['a country that there is not', 'country_id=2147483647'],
    ['a currency that there is not', 'currency_id=2147483647'],
    ['a name that there is not', 'search=zzzzzz'],
    ['an inactive product by its name', 'search=Velveteen%20Screens%20France'],
    ['filters that exclude each other', 'country_id=105&currency_id=139'],
    ['a wildcard, which is an ordinary character', 'search=%25'],
  ])('%s returns nothing and zero pages', async (_, query) => {
    const response = await request(query)
    await expectResponse(response, 200, [])
    expect(pageOf(response)).toEqual(['1', '50', '0', '0', '0', 'false'])
  })

  test('an empty search matches every name', async () => {
    expect(await list('search=&limit=10000')).toEqual(everything)
  })

  test.each(
    ['country_id', 'currency_id'].flatMap((field) =>
      ['', '0', '-1', '01', '1.5', '1e3', '0x1', '%20', '%2B1', '2147483648', 'abc'].map((id) => [field, id] as const),
    ),
  )('400 names %s when it is %p', (field, id) =>
    expectRefusal(`${field}=${id}`, { [field]: [['integer', 'must be a positive whole number']] }),
  )
})

describe('sort of products', () => {
  const FIELDS = ['id', 'name', 'category', 'sub_category', 'country_code', 'currency_code'] as const
  type Field = (typeof FIELDS)[number]

  /** The promised order: by lower-case form, then by the text itself, then by id. */
  const inOrder = (field: Field, direction: 'ASC' | 'DESC'): number[] => {
    const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
    const ascending = everything.toSorted((a, b) => {
      if (field === 'id') return a.id - b.id
      return compare(a[field].toLowerCase(), b[field].toLowerCase()) || compare(a[field], b[field]) || a.id - b.id
    })
    return idsOf(direction === 'ASC' ? ascending : ascending.reverse())
  }

  test.each(FIELDS.flatMap((field) => (['ASC', 'DESC'] as const).map((direction) => [field, direction] as const)))(
    'by %s %s: pages have no overlap and no gap',
    async (field, direction) => {
      const expected = inOrder(field, direction)
      const sort = sortOf({ field, direction })
      expect(idsOf(await list(`${sort}&limit=10000`))).toEqual(expected)
      const walked: number[] = []
      for (let page = 1, more = true; more; page++) {
        const response = await request(`${sort}&limit=67&page=${page}`)
        walked.push(...idsOf((await response.json()) as Listed[]))
        more = response.headers.get('x-has-more') === 'true'
      }
      expect(walked).toEqual(expected)
    },
  )

  test.each<[object, Field, 'ASC' | 'DESC']>([
    [{}, 'id', 'DESC'],
    [{ field: 'name' }, 'name', 'DESC'],
    [{ direction: 'ASC' }, 'id', 'ASC'],
    [{ field: 'name', direction: 'asc' }, 'name', 'ASC'],
    [{ field: 'category', direction: 'Desc' }, 'category', 'DESC'],
    [{ field: null, direction: null }, 'id', 'DESC'],
    [{ field: 'name', direction: 'ASC', colour: 'red' }, 'name', 'ASC'],
  ])('%j is by %s %s', async (sort, field, direction) => {
    expect(idsOf(await list(`${sortOf(sort)}&limit=10000`))).toEqual(inOrder(field, direction))
  })

  test.each([
    ['sort_by=name', 'name', 'DESC'],
    ['sort_by=name&sort_order=ASC', 'name', 'ASC'],
    ['sort_by=country_code&sort_order=asc', 'country_code', 'ASC'],
    ['sort_order=Asc', 'id', 'ASC'],
    ['sort={"Field":"name","Direction":"asc"}', 'name', 'ASC'],
    ['sort={"Field":"category"}', 'category', 'DESC'],
    ['sort={"field":"name","Direction":"ASC"}', 'name', 'ASC'],
  ] as const)('%s is the order by %s %s', async (query, field, direction) => {
    expect(idsOf(await list(`${query}&limit=10000`))).toEqual(inOrder(field, direction))
  })

  test.each(['sort_by=name', 'sort_order=ASC', 'sort_by=name&sort_order=ASC', 'sort_by=name&sort=x'])(
    '400 names sort if it is combined with %s',
    (query) =>
      expectRefusal(`${query.includes('sort=') ? query : `sort={"field":"id"}&${query}`}`, {
        sort: [['format', 'cannot be combined with sort_by or sort_order']],
      }),
  )

  test('400 names an invalid sort_by and sort_order', () =>
    expectRefusal('sort_by=price&sort_order=up', {
      sort_by: [['enum', `must be one of ${FIELDS.join(', ')}`]],
      sort_order: [['enum', 'must be one of ASC, DESC']],
    }))

  const NOT_AN_OBJECT = 'must be a JSON object with the members field and direction'
  const NO_SUCH_FIELD = `must name a field that is one of ${FIELDS.join(', ')}`
  const NO_DIRECTION = 'must have a direction that is ASC or DESC'
  test.each<[string, string, string]>([
    ['', 'object', NOT_AN_OBJECT],
    ['name', 'object', NOT_AN_OBJECT],
    ['["name","ASC"]', 'object', NOT_AN_OBJECT],
    ['{"field":"price"}', 'enum', NO_SUCH_FIELD],
    ['{"field":"NAME"}', 'enum', NO_SUCH_FIELD],
    ['{"field":"__proto__"}', 'enum', NO_SUCH_FIELD],
    ['{"direction":"UP"}', 'enum', NO_DIRECTION],
  ])('400 refuses %p', (sort, rule, problem) =>
    expectRefusal(`sort=${encodeURIComponent(sort)}`, { sort: [[rule, problem]] }),
  )
})

describe('a discount agreed with one client', () => {
  test("replaces the product's lower discount in that client's list only", async () => {
    const limited = await world.limited()
    const listed = await limited.read<Listed[]>('/api/v1/products?limit=10000')
    expect(listed).toEqual(
      everything.map((product) =>
        product.id === 2
          ? { ...product, available_denominations: [{ min_value: 5, max_value: 500, discount: 6 }] }
          : product,
      ),
    )
    expect(everything.find(({ id }) => id === 2)?.available_denominations).toEqual([
      { min_value: 5, max_value: 500, discount: 4 },
    ])
  })
})
