import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readCatalog } from '../../src/catalog/document.ts'
import { type Product, productWire } from '../../src/catalog/product.ts'
import { replaceCatalog } from '../../src/catalog/queries.ts'
import { Shelf, SORT_FIELDS, type SortField } from '../../src/catalog/shelf.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { lowerCase } from '../../src/kernel/lower-case.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { catalogEntry } from './entry.ts'

/** The shelf works with positions and joined texts; here it is held against lists of products, searched one by one. */

const URL_BEFORE = 'http://localhost:4747'
const database = Database.inMemory()
migrate(database.sqlite, { nowMs: () => 0 })
seedReferenceData(database)
const reference = readReference()

const shelfOf = (entries: readonly object[]): Shelf => {
  const named = (...names: string[]) => names.map((name) => ({ name }))
  const own = { categories: named('Gaming', 'GAMING', 'Books'), subcategories: named('b', 'B', 'a') }
  const rows = readCatalog(JSON.stringify({ ...own, products: entries }), { reference })
  database.fill((tx) => replaceCatalog(tx, rows))
  return Shelf.read(database.query, reference, URL_BEFORE)
}

/** Letters that repeat, that fold, and that UTF-16 sorts otherwise than code points do. */
const name = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'Σ', 'ς', 'é', 'ﬀ', '𝒜'), minLength: 1, maxLength: 4 })
const entries = fc
  .uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 99 }),
      name,
      category: fc.constantFrom('Gaming', 'GAMING', 'Books'),
      sub_category: fc.constantFrom('b', 'B', 'a'),
      country: fc.constantFrom('USA', 'JPN'),
      currency: fc.constantFrom('USD', 'EUR'),
      active: fc.boolean(),
    }),
    { selector: ({ id }) => id, maxLength: 12 },
  )
  .map((changes) => changes.map((change) => catalogEntry(change)))
const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined })

const TEXTS: Record<SortField, (product: Product) => string> = {
  id: () => '',
  name: (product) => product.name,
  category: ({ category }) => category,
  sub_category: ({ subCategory }) => subCategory,
  country_code: ({ country }) => country.alpha3,
  currency_code: ({ currency }) => currency.currency,
}
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

test('selects exactly the matching products, in order', () => {
  const asked = fc.record({
    field: fc.constantFrom(...SORT_FIELDS),
    category: maybe(fc.constantFrom('gaming', 'BOOKS', 'none')),
    country: maybe(fc.constantFrom('USA', 'JPN')),
    currency: maybe(fc.constantFrom('USD', 'EUR')),
    search: maybe(fc.oneof(fc.constant(''), name)),
  })
  fc.assert(
    fc.property(entries, asked, (sold, { field, category, country, currency, search }) => {
      const shelf = shelfOf(sold)
      const all = Array.from(shelf.select({}, 'id'), (position) => shelf.at(position))
      expect(all.map(({ id }) => id)).toEqual(
        sold
          .filter(({ active }) => active)
          .map(({ id }) => id)
          .toSorted((a, b) => a - b),
      )
      const expected = all
        .filter((product) => category === undefined || lowerCase(product.category) === lowerCase(category))
        .filter((product) => country === undefined || product.country.alpha3 === country)
        .filter((product) => currency === undefined || product.currency.currency === currency)
        .filter((product) => search === undefined || lowerCase(product.name).includes(lowerCase(search)))
        .toSorted((a, b) => {
          const [x, y] = [TEXTS[field](a), TEXTS[field](b)]
          return byCodePoint(x.toLowerCase(), y.toLowerCase()) || byCodePoint(x, y) || a.id - b.id
        })
      const filter = {
        category,
        countryId: country && reference.findCountryByAlpha3(country)?.id,
        currencyId: currency && reference.findCurrencyByCode(currency)?.id,
        search,
      }
      for (const _ of ['for the first time', 'again']) {
        const selected = Array.from(shelf.select(filter, field), (position) => shelf.at(position).id)
        expect(selected).toEqual(expected.map(({ id }) => id))
      }
    }),
  )
})

test('writes the JSON of each product with the agreed discounts', () => {
  fc.assert(
    fc.property(entries, fc.array(fc.integer({ min: 1, max: 99 })), (sold, discounted) => {
      const shelf = shelfOf(sold)
      const positions = shelf.select({}, 'name')
      const agreed = new Map(discounted.map((id) => [id, 900]))
      const expected = Array.from(positions, (position) => {
        const product = shelf.at(position)
        return productWire(product, agreed.get(product.id) ?? 0, URL_BEFORE)
      })
      expect(Buffer.from(shelf.write(positions, agreed)).toString()).toBe(JSON.stringify(expected))
      const undiscounted = Array.from(positions, (position) => productWire(shelf.at(position), 0, URL_BEFORE))
      expect(Buffer.from(shelf.write(positions, new Map())).toString()).toBe(JSON.stringify(undiscounted))
    }),
  )
})

test('reads at most 500 products at a time, with the same result as reading all at once', () => {
  const whole = shelfOf(
    Array.from({ length: 1_200 }, (_, index) => catalogEntry({ id: index + 1, name: `${index}`, sub_category: 'b' })),
  )
  const reading = Shelf.reading(database.query, reference, URL_BEFORE)
  const steps = Array.from({ length: 4 }, (): IteratorResult<undefined, Shelf> => reading.next())
  expect(steps.map(({ done }) => done)).toEqual([false, false, false, true])
  const shelf = steps.at(-1)?.value
  const positions = whole.select({}, 'name')
  expect(shelf?.select({}, 'name')).toEqual(positions)
  expect(shelf?.write(positions, new Map())).toEqual(whole.write(positions, new Map()))
})
