import { and, asc, eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Database, Transaction } from '../db/database.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Prepared } from '../http/prepared.ts'
import type { Direction, Page } from '../http/query.ts'
import { fold } from '../kernel/fold.ts'
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
  keys: Record<Exclude<SortField, 'id'>, readonly [lowerCase: string, exact: string]>
  /** What filters compare. */
  folded: { name: string; category: string }
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
  /** Answers as they were given, by what was asked. */
  answers: LRUCache<string, Prepared>
}

/** How many bytes of answers are kept; the longest unasked make room. */
const ANSWERS_BYTES_MAX = 16_777_216
/** What an answer takes besides its body, roughly. */
const ANSWER_BYTES = 2_048

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
   * What a question was answered with before, or the answer that is made now. It goes with the catalog that it shows,
   * and only to clients with these very discounts.
   */
  answer(question: string, make: () => Prepared, agreed: ReadonlyMap<number, number> = NO_DISCOUNTS): Prepared {
    const key = `${numberOf(agreed)} ${question}`
    const kept = this.#shelf.answers.get(key)
    if (kept) return kept
    const made = make()
    this.#shelf.answers.set(key, made)
    return made
  }

  /** One page as a JSON array, at the discounts that were agreed with the client, and how many match in all. */
  list(
    filter: ProductFilter,
    sort: ProductSort,
    page: Page,
    agreed: ReadonlyMap<number, number>,
  ): { json: string; totalCount: number; pageSize: number } {
    const matching = conditionsOf(filter).reduce((left, holds) => left.filter(holds), this.#ordered(sort.field))
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
    answers: new LRUCache({
      maxSize: ANSWERS_BYTES_MAX,
      sizeCalculation: ({ byteCount }, key) => ANSWER_BYTES + key.length + byteCount,
    }),
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
  folded: { name: fold(product.name), category: fold(product.category) },
  json: JSON.stringify(productWire(product, 0, publicUrl)),
})

const pair = (text: string): readonly [string, string] => [text.toLowerCase(), text]

const comparePairs = (a: readonly [string, string], b: readonly [string, string]): number =>
  compareText(a[0], b[0]) || compareText(a[1], b[1])

/** By code point (contract C7): UTF-8 bytes sort so, UTF-16 units do not. */
const compareText = (a: string, b: string): number => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** What must hold of a product, each by itself and the quickest to tell first. */
const conditionsOf = (filter: ProductFilter): ((listed: Listed) => boolean)[] => {
  const { category, countryId, currencyId, search } = filter
  const wantedCategory = category === undefined ? undefined : fold(category)
  const wantedName = search === undefined ? undefined : fold(search)
  return [
    ...(countryId === undefined ? [] : [({ product }: Listed) => product.country.id === countryId]),
    ...(currencyId === undefined ? [] : [({ product }: Listed) => product.currency.id === currencyId]),
    ...(wantedCategory === undefined ? [] : [({ folded }: Listed) => folded.category === wantedCategory]),
    ...(wantedName === undefined ? [] : [({ folded }: Listed) => folded.name.includes(wantedName)]),
  ]
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

const NO_DISCOUNTS: ReadonlyMap<number, number> = new Map()

/** Discounts as they hold at one time are one value: what was answered at them is found by its number. */
const numbers = new WeakMap<ReadonlyMap<number, number>, number>()
let lastNumber = 0

/** No discounts at all are the same for everybody. */
const numberOf = (agreed: ReadonlyMap<number, number>): number => {
  if (agreed.size === 0) return 0
  const known = numbers.get(agreed) ?? ++lastNumber
  numbers.set(agreed, known)
  return known
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
