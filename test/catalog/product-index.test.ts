import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Catalog } from '../../src/catalog/catalog.ts'
import { SORT_FIELDS } from '../../src/catalog/contract.ts'
import { readCatalog } from '../../src/catalog/document.ts'
import type { Product } from '../../src/catalog/product.ts'
import type { SortField } from '../../src/catalog/product-index.ts'
import { replaceCatalog } from '../../src/catalog/queries.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { searchForm } from '../../src/kernel/lower-case.ts'
import { readReference, seedReferenceData } from '../../src/start/seed.ts'
import { catalogEntry } from './entry.ts'

/** The lists of a catalog are held against products that are filtered and sorted one by one. */

const database = Database.inMemory()
migrate(database.sqlite, { nowMs: () => 0 })
seedReferenceData(database)
const reference = readReference()

const catalogOf = (entries: readonly object[]): Catalog => {
  const named = (...names: string[]) => names.map((name) => ({ name }))
  const own = { categories: named('Gaming', 'GAMING', 'Books'), subcategories: named('b', 'B', 'a') }
  const rows = readCatalog(JSON.stringify({ ...own, products: entries }), reference)
  database.fill((tx) => replaceCatalog(tx, rows))
  const onBroken = () => undefined
  return new Catalog({ database: () => database, version: () => undefined, reference, publicUrl: '', onBroken })
}
const ALL = { page: 1, limit: 9_000 }
const listOf = (catalog: Catalog, filter: Parameters<Catalog['shared']['list']>[0], field: SortField) =>
  catalog.shared.list(filter, { field, direction: 'ASC' }, ALL).entries.map(({ product }) => product)

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
      const catalog = catalogOf(sold)
      const all = listOf(catalog, {}, 'id')
      expect(all.map(({ id }) => id)).toEqual(
        sold
          .filter(({ active }) => active)
          .map(({ id }) => id)
          .toSorted((a, b) => a - b),
      )
      const expected = all
        .filter((product) => category === undefined || searchForm(product.category) === searchForm(category))
        .filter((product) => country === undefined || product.country.alpha3 === country)
        .filter((product) => currency === undefined || product.currency.currency === currency)
        .filter((product) => search === undefined || searchForm(product.name).includes(searchForm(search)))
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
        const selected = listOf(catalog, filter, field).map(({ id }) => id)
        expect(selected).toEqual(expected.map(({ id }) => id))
      }
    }),
  )
})
