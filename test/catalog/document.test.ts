import { beforeAll, describe, expect, test } from 'bun:test'
import { readCatalog } from '../../src/catalog/document.ts'
import { defineCategories, replaceCatalog } from '../../src/catalog/queries.ts'
import { writeCatalog } from '../../src/catalog/rows.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import type { Reference } from '../../src/reference/reference.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { longTest } from '../long-test.ts'
import { catalogEntry } from './entry.ts'

let database: Database
let reference: Reference
beforeAll(() => {
  database = Database.inMemory()
  migrate(database.sqlite, { nowMs: () => 0 })
  seedReferenceData(database)
  reference = readReference()
})

const read = (document: unknown) =>
  readCatalog(typeof document === 'string' ? document : JSON.stringify(document), reference)
const problemsOf = (document: unknown): readonly string[] => {
  try {
    read(document)
  } catch (error) {
    if (error instanceof FileFault) return error.problems
    throw error
  }
  return []
}
/** The problems that the import reports for a catalog of one product, which differs from a valid one in these members. */
const problemsWith = (change: Record<string, unknown>) => problemsOf({ products: [catalogEntry(change)] })

const UNWRITABLE = 'must not contain NUL or half a surrogate pair'
const band = (change: object) => ({ denominations: [{ min_value: 10, max_value: 100, discount: 5, ...change }] })

describe('a valid catalog', () => {
  test('may begin with the mark that Windows programs write', () => {
    const catalog = { products: [catalogEntry()] }
    expect(read(`\ufeff${JSON.stringify(catalog)}`)).toEqual(read(catalog))
  })

  test('becomes rows with minor units, basis points, and ids of country and currency', () => {
    const { products: rows, bands } = read({
      products: [
        catalogEntry({
          id: 7,
          currency: 'KWD',
          country: 'KWT',
          stock: 3,
          gst_percent: 8.25,
          handling_fee: { fixed: 0.125, percent: 1.1 },
          image_url: 'https://example.com/card.png',
          denominations: [
            { min_value: 2.505, max_value: 250, discount: 1.25 },
            { min_value: 5, max_value: 5, discount: 0 },
          ],
        }),
      ],
    })
    expect(rows).toEqual([
      {
        id: 7,
        name: 'Test Card',
        category: 'Gaming',
        subCategory: 'Video Games',
        countryId: reference.findCountryByAlpha3('KWT')?.id ?? 0,
        currencyId: 71,
        imageUrl: 'https://example.com/card.png',
        deliveryMode: 'digital',
        deliveryTime: 'instant',
        validity: '12 months',
        terms: '',
        details: '',
        howToUse: '',
        active: true,
        stock: 3,
        quantityMax: 10,
        gstBasisPoints: 825,
        feeFixedMinor: 125,
        feeBasisPoints: 110,
      },
    ])
    expect(bands).toEqual([
      { productId: 7, position: 0, minMinor: 2_505, maxMinor: 250_000, discountBasisPoints: 125 },
      { productId: 7, position: 1, minMinor: 5_000, maxMinor: 5_000, discountBasisPoints: 0 },
    ])
  })

  test.each<[string, Record<string, unknown>]>([
    ['a discount of 100 %', band({ discount: 100 })],
    ['the smallest and the largest denomination', band({ min_value: 0.01, max_value: 1_000_000_000 })],
    ['a denomination of one amount', band({ max_value: 10 })],
    ['no stock left', { stock: 0 }],
    ['the largest id', { id: 2_147_483_647 }],
    ['any other character', { name: '👋 \u0001 \u202e \uffff' }],
    ['whole yen', { currency: 'JPY', country: 'JPN', ...band({}) }],
    ['an inactive category', { category: 'Seasonal Offers' }],
    ['an address in capitals', { image_url: 'HTTPS://cards.example/1.png' }],
  ])('may have %s', (_, change) => {
    expect(problemsWith(change)).toEqual([])
  })
})

describe('an invalid row is reported with its location', () => {
  const PERCENT = 'a percentage has at most two decimals'

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown country', { country: 'XXX' }, 'country: no country has the code XXX'],
    ['NUL in a name', { name: 'Te\0a' }, `name: ${UNWRITABLE}`],
    ['half a surrogate pair in a text', { how_to_use: 'Wave \ud83d' }, `how_to_use: ${UNWRITABLE}`],
    ['its other half', { image_url: 'https://cards.example/\udc4b' }, `image_url: ${UNWRITABLE}`],
    ['an unknown currency', { currency: 'XAU' }, 'currency: unknown currency XAU'],
    ['a tax with three decimals', { gst_percent: 8.255 }, `gst_percent: ${PERCENT}, 8.255 has more`],
    [
      'a fee with three decimals',
      { handling_fee: { fixed: 0, percent: 0.001 } },
      `handling_fee/percent: ${PERCENT}, 0.001 has more`,
    ],
    [
      'a fixed fee that is too fine',
      { handling_fee: { fixed: 0.005, percent: 0 } },
      'handling_fee/fixed: USD has 2 decimals, 0.005 has more',
    ],
    [
      'a lowest amount that is too fine',
      band({ min_value: 10.001 }),
      'denominations/0/min_value: USD has 2 decimals, 10.001 has more',
    ],
    [
      'a highest amount that is too fine',
      { ...band({ max_value: 100.5 }), currency: 'JPY' },
      'denominations/0/max_value: JPY has 0 decimals, 100.5 has more',
    ],
    [
      'a discount with three decimals',
      band({ discount: 2.125 }),
      `denominations/0/discount: ${PERCENT}, 2.125 has more`,
    ],
    [
      'a band that ends before it starts',
      band({ max_value: 9.99 }),
      'denominations/0/max_value: 9.99 is below min_value',
    ],
  ])('%s', (_, change, problem) => {
    expect(problemsWith(change)).toEqual([`line 1, product 1, /products/0/${problem}`])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no id', { id: undefined }, 'id'],
    ['an id of 0', { id: 0 }, 'id'],
    ['an id above every id', { id: 2_147_483_648 }, 'id'],
    ['an empty name', { name: '' }, 'name'],
    ['an alpha-2 country', { country: 'US' }, 'country'],
    ['a currency in lower case', { currency: 'usd' }, 'currency'],
    ['an unknown delivery mode', { delivery_mode: 'pigeon' }, 'delivery_mode'],
    ['no terms', { terms: undefined }, 'terms'],
    ['a negative stock', { stock: -1 }, 'stock'],
    ['a maximum of 0', { max_quantity: 0 }, 'max_quantity'],
    ['a negative fee', { handling_fee: { fixed: -1, percent: 0 } }, 'handling_fee/fixed'],
    ['half a fee', { handling_fee: { fixed: 1 } }, 'handling_fee/percent'],
    ['no denominations', { denominations: [] }, 'denominations'],
    ['a denomination above a billion', band({ max_value: 1_000_000_001 }), 'denominations/0/max_value'],
    ['a discount above 100 %', band({ discount: 101 }), 'denominations/0/discount'],
    ['a misspelt member', { colour: 'red' }, 'colour'],
  ])('%s', (_, change, place) => {
    expect(problemsWith(change)).toEqual([
      expect.stringMatching(new RegExp(`^line 1, product (?:no\\. )?\\d+, /products/0/${place}: \\S`)),
    ])
  })

  test('a duplicate id', () => {
    expect(
      problemsOf({ products: [catalogEntry({ id: 5 }), catalogEntry({ id: 6 }), catalogEntry({ id: 5 })] }),
    ).toEqual(['line 1, product 5, /products/2/id: 5 is taken by an earlier product'])
  })

  test('all errors, in the order of the file', () => {
    const problems = problemsOf({
      products: [
        catalogEntry({ id: 1, currency: 'XXX' }),
        catalogEntry({ id: 2, name: '' }),
        catalogEntry({ id: 3 }),
        'no product',
        catalogEntry({ id: 3, country: 'ZZZ', denominations: [{ min_value: 10.001, max_value: 5, discount: 0.001 }] }),
      ],
    })
    expect(problems).toEqual([
      'line 1, product 1, /products/0/currency: unknown currency XXX',
      expect.stringMatching(/^line 1, product 2, \/products\/1\/name: \S/),
      expect.stringMatching(/^line 1, product no\. 4, \/products\/3: \S/),
      'line 1, product 3, /products/4/country: no country has the code ZZZ',
      'line 1, product 3, /products/4/denominations/0/min_value: USD has 2 decimals, 10.001 has more',
      'line 1, product 3, /products/4/denominations/0/discount: a percentage has at most two decimals, 0.001 has more',
      'line 1, product 3, /products/4/denominations/0/max_value: 5 is below min_value',
      'line 1, product 3, /products/4/id: 3 is taken by an earlier product',
    ])
  })

  test('with its line, or the line of the member', () => {
    const products = [catalogEntry(), catalogEntry({ id: 2, name: 'A "quoted" [name] {1}\\', currency: 'XXX' })]
    const lines = JSON.stringify({ note: 1, products }, null, 1).split('\n')
    const lineOf = (text: string): number => lines.findLastIndex((line) => line.includes(text)) + 1
    const problems = problemsOf(lines.join('\n').replace('"note": 1,', '').replace('"terms": "",', ''))
    expect(problems).toEqual([
      expect.stringMatching(/^line 4, product 1, \/products\/0\/terms: \S/),
      `line ${lineOf('"currency"')}, product 2, /products/1/currency: unknown currency XXX`,
    ])
    const [banded] = JSON.stringify([catalogEntry(band({ discount: 0.001 }))], null, 2).split('"discount"')
    expect(problemsOf(`{"products":${JSON.stringify([catalogEntry(band({ discount: 0.001 }))], null, 2)}}`)).toEqual([
      `line ${banded?.split('\n').length}, product 1, /products/0/denominations/0/discount: a percentage has at most two decimals, 0.001 has more`,
    ])
  })
})

describe('a file that is not a catalog', () => {
  test.each([
    ['', /^line 1, not JSON: value expected$/],
    ['{"products":[', /^line 1, not JSON: /],
    ['{"products":[\n  {"id": 1,}\n]}', /^line 2, not JSON: property name expected$/],
    ['{"products":[\n\n  {"id": 1} // mine\n]}', /^line 3, not JSON: invalid comment token$/],
    ['null', /^\/: /],
    ['{}', /^\/products: /],
    ['{"products":{}}', /^\/products: /],
    ['{"products":[],"version":1}', /^\/version: /],
  ])('%p', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(problem)])
  })

  test('is reported together with its invalid rows', () => {
    expect(problemsOf({ version: 1, products: [catalogEntry({ currency: 'XXX' })] })).toEqual([
      expect.stringMatching(/^\/version: /),
      'line 1, product 1, /products/0/currency: unknown currency XXX',
    ])
  })
})

describe('categories in the file', () => {
  const submarine = catalogEntry({ category: 'Submarines', sub_category: 'Yellow ones' })

  test('are added to the built-in ones', () => {
    const document = {
      categories: [{ name: 'Submarines' }, { name: 'Gaming' }, { name: 'Submarines' }],
      subcategories: [{ name: 'Yellow ones' }],
      products: [submarine, catalogEntry({ id: 2 })],
    }
    expect(problemsOf(document)).toEqual([])
    expect(read(document)).toMatchObject({ categories: ['Submarines'], subcategories: ['Yellow ones'] })
  })

  test.each<[string, unknown, string[]]>([
    [
      'that nobody defined',
      { categories: [{ name: 'Boats' }], products: [submarine] },
      [
        'line 1, product 1, /products/0/category: no category is called Submarines: define it under categories',
        'line 1, product 1, /products/0/sub_category: no subcategory is called Yellow ones: define it under subcategories',
      ],
    ],
    [
      'in another case',
      { products: [catalogEntry({ category: 'gaming' })] },
      ['line 1, product 1, /products/0/category: no category is called gaming: define it under categories'],
    ],
    ['without a name', { categories: [{}], products: [] }, ['/categories/0/name: is required']],
    ['that are names alone', { categories: ['Boats'], products: [] }, ['/categories/0: must be an object']],
    ['with NUL', { categories: [{ name: 'B\0' }], products: [] }, [`/categories: ${UNWRITABLE}`]],
  ])('are refused %s', (_, document, problems) => {
    expect(problemsOf(document)).toEqual(problems)
  })
})

describe('a file in the format of the API', () => {
  const listed = {
    id: 7,
    name: 'Listed',
    category: 'Submarines',
    sub_category: 'Yellow ones',
    country_code: 'USA',
    currency_code: 'USD',
    image_url: 'https://cards.example/7.png',
    delivery_mode: 'Digital',
    delivery_time: 'Instant',
    validity: 'No expiry',
    available_denominations: [{ min_value: 10, max_value: 100, discount: 2.5 }],
  }

  test('is accepted, and missing members get defaults', () => {
    const { products: rows, bands, categories, subcategories } = read([{ ...listed, brand: 'of somebody' }])
    expect(rows).toEqual([
      {
        id: 7,
        name: 'Listed',
        category: 'Submarines',
        subCategory: 'Yellow ones',
        countryId: reference.findCountryByAlpha3('USA')?.id ?? 0,
        currencyId: 139,
        imageUrl: 'https://cards.example/7.png',
        deliveryMode: 'digital',
        deliveryTime: 'instant',
        validity: 'No expiry',
        terms: '',
        details: '',
        howToUse: '',
        active: true,
        stock: null,
        quantityMax: 50,
        gstBasisPoints: 0,
        feeFixedMinor: 0,
        feeBasisPoints: 0,
      },
    ])
    expect(bands).toEqual([{ productId: 7, position: 0, minMinor: 1_000, maxMinor: 10_000, discountBasisPoints: 250 }])
    expect([categories, subcategories]).toEqual([['Submarines'], ['Yellow ones']])
  })

  test('keeps its texts, and gets a drawn image without an image_url', () => {
    const texts = { terms: 'Terms', details: 'Details', how_to_use: 'Use' }
    for (const image_url of [null, undefined]) {
      expect(read([{ ...listed, ...texts, image_url }]).products).toMatchObject([
        { imageUrl: null, terms: 'Terms', details: 'Details', howToUse: 'Use' },
      ])
    }
  })

  test('is refused with all invalid rows, by the names of the API', () => {
    expect(
      problemsOf([
        { ...listed, country_code: 'XXX', currency_code: 'usd', image_url: 'javascript:alert(1)' },
        {
          ...listed,
          country_code: 'XXX',
          available_denominations: [{ min_value: 10.001, max_value: 10.001, discount: 0 }],
        },
        catalogEntry(),
      ]).map((problem) => problem.slice(0, problem.lastIndexOf(': '))),
    ).toEqual([
      'line 1, product 7, /0/currency_code',
      'line 1, product 7, /0/image_url',
      'line 1, product 7, /1/country_code',
      'line 1, product 7, /1/available_denominations/0/min_value',
      'line 1, product 7, /1/available_denominations/0/max_value',
      'line 1, product 1, /2/country_code',
      'line 1, product 1, /2/currency_code',
      'line 1, product 1, /2/available_denominations',
    ])
  })
})

describe('delivery, validity and images', () => {
  test.each([
    ['INSTANT', 'instant'],
    ['Instant', 'instant'],
    ['24 Hours', '24 Hours'],
  ])('delivery_time %s is stored as %s', (delivery_time, kept) => {
    expect(read({ products: [catalogEntry({ delivery_time })] }).products).toMatchObject([{ deliveryTime: kept }])
  })

  test.each(['Physical', 'PHYSICAL', 'physical'])('delivery_mode %s is physical', (delivery_mode) => {
    expect(read({ products: [catalogEntry({ delivery_mode })] }).products).toMatchObject([{ deliveryMode: 'physical' }])
  })

  test.each([
    'javascript:alert(1)',
    'data:image/svg+xml,<svg/>',
    '//cards.example/1.png',
    'card.png',
    'ftp://x/1',
    'https://',
  ])('image_url %p is refused', (image_url) => {
    expect(problemsWith({ image_url })).toEqual([
      expect.stringMatching(/^line 1, product 1, \/products\/0\/image_url: \S/),
    ])
  })
})

describe('categories of several files', () => {
  const addedCategories = () =>
    database.sqlite.query('SELECT id, name, active FROM categories WHERE id > 1000 ORDER BY id').values() as unknown[]
  const define = (...names: string[]) =>
    database.fill((tx) =>
      defineCategories(tx, { categories: names, subcategories: names.map((name) => `${name}, small`) }),
    )

  test('a name keeps its id, whatever later files define', () => {
    define('Boats', 'Kites')
    define('Kites', 'Rockets')
    expect(addedCategories()).toEqual([
      [1_000_001, 'Boats', 0],
      [1_000_002, 'Kites', 1],
      [1_000_003, 'Rockets', 1],
    ])
    expect(JSON.parse(writeCatalog(database.query, reference))).toMatchObject({
      categories: [{ name: 'Kites' }, { name: 'Rockets' }],
      subcategories: [{ name: 'Kites, small' }, { name: 'Rockets, small' }],
    })
    define('Boats')
    expect(addedCategories()).toMatchObject([
      [1_000_001, 'Boats', 1],
      [1_000_002, 'Kites', 0],
      [1_000_003, 'Rockets', 0],
    ])
    define()
    expect(JSON.parse(writeCatalog(database.query, reference))).toEqual({ products: [] })
  })
})

longTest('100,000 products replace a catalog', () => {
  const rows = read({ products: Array.from({ length: 100_000 }, (_, index) => catalogEntry({ id: index + 1 })) })
  database.fill((tx) => replaceCatalog(tx, rows))
  expect(database.sqlite.query('SELECT count(*), max(id) FROM products').values()).toEqual([[100_000, 100_000]])
  expect(database.sqlite.query('SELECT count(*) FROM product_bands').values()).toEqual([[100_000]])
})
