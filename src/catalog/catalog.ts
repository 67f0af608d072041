import { and, asc, eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Database, Transaction } from '../db/database.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Direction, Page } from '../http/query.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { type Band, type Product, productWire } from './product.ts'
import { categories, clientDiscounts, productBands, products, subcategories } from './tables.ts'

/** The fields that a list of products can be sorted by (contract C7). */
export const SORT_FIELDS = ['id', 'name', 'category', 'sub_category', 'country_code', 'currency_code'] as const
export type SortField = (typeof SORT_FIELDS)[number]

export interface ProductSort {
  field: SortField
  direction: Direction
}

export interface ProductFilter {
  category?: string | undefined
  countryId?: number | undefined
  currencyId?: number | undefined
  search?: string | undefined
}

export interface Named {
  id: number
  name: string
}

/** A product and what a list needs of it, made once: its words in lower case and its bytes. */
interface Listed {
  product: Product
  /** What each sort compares: the lower-case text, and the text itself to tell apart what is left equal. */
  keys: Record<Exclude<SortField, 'id'>, readonly [folded: string, exact: string]>
  /** The record as JSON, at the product's own discounts. */
  json: string
}

export interface CatalogOptions {
  /** Where the catalog is read from. */
  database: () => Database
  /** Tells one catalog from another. */
  version: () => string | undefined
  reference: Reference
  /** The address that pictures are linked at. */
  publicUrl: string
}

/** One catalog as it was read. */
interface Shelf {
  version: string | undefined
  categories: readonly Named[]
  subcategories: readonly Named[]
  byId: ReadonlyMap<number, Product>
  /** Every product in every order that was asked for; each is made once, at its first use. */
  orders: Map<SortField, readonly Listed[]>
  /** Pages as they were answered, by the query that asked for them. */
  pages: LRUCache<string, ProductPage>
}

/** One page of products, written out: its bytes, and the headers that go with it. */
export interface ProductPage {
  body: Uint8Array
  headers: Record<string, string>
}

/** How many bytes of pages are kept; the longest unasked make room. */
const PAGES_BYTES_MAX = 16_777_216

/**
 * The products that are on sale and their categories: read from the database once and shared by all worlds, because
 * nothing that a client does changes it.
 */
export class Catalog {
  #read: Shelf | undefined

  constructor(private readonly options: CatalogOptions) {}

  /** Read when first asked for, so that starting the program does not wait for it. */
  get #shelf(): Shelf {
    this.#read ??= readShelf(this.options)
    return this.#read
  }

  /** Reads the catalog anew if it is another one by now. */
  refresh(): void {
    if (this.options.version() !== this.#read?.version) this.#read = undefined
  }

  get categories(): readonly Named[] {
    return this.#shelf.categories
  }

  get subcategories(): readonly Named[] {
    return this.#shelf.subcategories
  }

  /** The product, or undefined when there is none or it is not on sale. */
  find(id: number): Product | undefined {
    return this.#shelf.byId.get(id)
  }

  findCategory(id: number): Named | undefined {
    return this.categories.find((category) => category.id === id)
  }

  findSubcategory(id: number): Named | undefined {
    return this.subcategories.find((subcategory) => subcategory.id === id)
  }

  /**
   * The page that a query was answered with before, written out once for all who have no discounts of their own; or the
   * one that is made now. It goes with the catalog that it shows.
   */
  page(query: string, make: () => ProductPage): ProductPage {
    const kept = this.#shelf.pages.get(query)
    if (kept) return kept
    const page = make()
    this.#shelf.pages.set(query, page)
    return page
  }

  /** One page as a JSON array, at the discounts that were agreed with the client, and how many match in all. */
  list(
    filter: ProductFilter,
    sort: ProductSort,
    page: Page,
    agreed: ReadonlyMap<number, number>,
  ): { json: string; totalCount: number; pageSize: number } {
    const matching = this.#ordered(sort.field).filter(matcher(filter))
    const start = offsetOf(page)
    const shown =
      sort.direction === 'ASC'
        ? matching.slice(start, start + page.limit)
        : matching
            .slice(Math.max(0, matching.length - start - page.limit), Math.max(0, matching.length - start))
            .reverse()
    const records = shown.map(({ product, json }) => {
      const agreedBasisPoints = agreed.get(product.id)
      return agreedBasisPoints === undefined
        ? json
        : JSON.stringify(productWire(product, agreedBasisPoints, this.options.publicUrl))
    })
    return { json: `[${records.join(',')}]`, totalCount: matching.length, pageSize: shown.length }
  }

  #ordered(field: SortField): readonly Listed[] {
    const known = this.#shelf.orders.get(field)
    if (known) return known
    const ordered =
      field === 'id'
        ? [...this.#shelf.byId.values()].map((product) => listed(product, this.options.publicUrl))
        : [...this.#ordered('id')].sort(
            (a, b) => comparePairs(a.keys[field], b.keys[field]) || a.product.id - b.product.id,
          )
    this.#shelf.orders.set(field, ordered)
    return ordered
  }
}

const readShelf = ({ database, version, reference }: CatalogOptions): Shelf => {
  const { query } = database()
  const bands = bandsByProduct(
    query.select().from(productBands).orderBy(asc(productBands.productId), asc(productBands.position)).all(),
  )
  const rows = query.select().from(products).where(eq(products.active, true)).orderBy(asc(products.id)).all()
  return {
    version: version(),
    categories: activeOf(query, categories),
    subcategories: activeOf(query, subcategories),
    byId: new Map(
      rows.map(({ countryId, currencyId, ...row }) => [
        row.id,
        {
          ...row,
          country: reference.getCountry(countryId),
          currency: reference.getCurrency(currencyId),
          bands: bands.get(row.id) ?? [],
        },
      ]),
    ),
    orders: new Map(),
    pages: new LRUCache({ maxSize: PAGES_BYTES_MAX, sizeCalculation: ({ body }) => body.byteLength + 1 }),
  }
}

const activeOf = (query: Transaction, table: typeof categories | typeof subcategories): Named[] =>
  query
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(eq(table.active, true))
    .orderBy(asc(table.id))
    .all()

const listed = (product: Product, publicUrl: string): Listed => ({
  product,
  keys: {
    name: pair(product.name),
    category: pair(product.category),
    sub_category: pair(product.subCategory),
    country_code: pair(product.country.alpha3),
    currency_code: pair(product.currency.currency),
  },
  json: JSON.stringify(productWire(product, 0, publicUrl)),
})

const pair = (text: string): readonly [string, string] => [text.toLowerCase(), text]

const comparePairs = (a: readonly [string, string], b: readonly [string, string]): number =>
  compareText(a[0], b[0]) || compareText(a[1], b[1])

/** By code point (contract C7): UTF-8 bytes sort so, UTF-16 units do not. */
const compareText = (a: string, b: string): number => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)))

const matcher = ({ category, countryId, currencyId, search }: ProductFilter): ((listed: Listed) => boolean) => {
  const wantedCategory = category?.toLowerCase()
  const wantedName = search?.toLowerCase()
  return ({ product, keys }) =>
    (wantedCategory === undefined || keys.category[0] === wantedCategory) &&
    (countryId === undefined || product.country.id === countryId) &&
    (currencyId === undefined || product.currency.id === currencyId) &&
    (wantedName === undefined || keys.name[0].includes(wantedName))
}

const bandsByProduct = (rows: readonly (Band & { productId: number })[]): Map<number, Band[]> => {
  const bands = new Map<number, Band[]>()
  for (const { productId, minMinor, maxMinor, discountBasisPoints } of rows) {
    const known = bands.get(productId)
    const band = { minMinor, maxMinor, discountBasisPoints }
    if (known) known.push(band)
    else bands.set(productId, [band])
  }
  return bands
}

const discountsByClient = worldPart(() => new Map<number, ReadonlyMap<number, number>>(), 'derived')

/** The discounts agreed with a client, in basis points by product (contract C8). */
export const agreedDiscounts = (world: World, clientId: number): ReadonlyMap<number, number> => {
  const known = world.of(discountsByClient).get(clientId)
  if (known) return known
  const rows = world.db.query
    .select()
    .from(clientDiscounts)
    .where(and(eq(clientDiscounts.clientId, clientId)))
    .all()
  const discounts = new Map(rows.map((row) => [row.productId, row.discountBasisPoints]))
  world.of(discountsByClient).set(clientId, discounts)
  return discounts
}
