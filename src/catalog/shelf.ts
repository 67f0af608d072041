import { and, asc, eq, getTableColumns, gt, lte } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Query } from '../db/database.ts'
import { lowerCase } from '../kernel/lower-case.ts'
import type { Reference } from '../reference/reference.ts'
import { type Band, type Product, productWire } from './product.ts'
import { categories, productBands, products, subcategories } from './tables.ts'

/** The fields that a list of products can be sorted by (contract C7). */
export const SORT_FIELDS = ['id', 'name', 'category', 'sub_category', 'country_code', 'currency_code'] as const
export type SortField = (typeof SORT_FIELDS)[number]

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

/** How many bytes of selections are kept; the longest unasked make room. */
const SELECTIONS_BYTES_MAX = 4_194_304
/** What a selection takes besides its positions, roughly. */
const SELECTION_BYTES = 256

/**
 * One catalog as it was read. Products go by their position in the order of ids; an order or a selection of them is a
 * list of positions, a tenth of what a list of objects would be.
 */
export class Shelf {
  readonly categories: readonly Named[]
  readonly subcategories: readonly Named[]
  readonly #products: readonly Product[]
  readonly #byId: ReadonlyMap<number, Product>
  /** Each is made at its first use. */
  readonly #orders = new Map<SortField, Uint32Array>()
  readonly #selections = new LRUCache<string, Uint32Array>({
    maxSize: SELECTIONS_BYTES_MAX,
    sizeCalculation: ({ byteLength }, key) => SELECTION_BYTES + key.length + byteLength,
  })
  readonly #records: Records
  #names: Names | undefined

  private constructor(
    names: Pick<Shelf, 'categories' | 'subcategories'>,
    products: readonly Product[],
    records: Records,
    private readonly publicUrl: string,
  ) {
    this.categories = names.categories
    this.subcategories = names.subcategories
    this.#products = products
    this.#records = records
    this.#byId = new Map(products.map((product) => [product.id, product]))
  }

  /**
   * Reads a catalog, and stops after each few products, so that a large one can be read in slices (decision 0032).
   *
   * @param publicUrl the address that pictures are linked at
   */
  static *reading(query: Query, reference: Reference, publicUrl: string): Generator<undefined, Shelf> {
    const names = { categories: activeOf(query, categories), subcategories: activeOf(query, subcategories) }
    const read: Product[] = []
    const records = new Records()
    for (const some of readProducts(query, reference)) {
      read.push(...some)
      records.add(some.map((product) => JSON.stringify(productWire(product, 0, publicUrl))))
      yield
    }
    return new Shelf(names, read, records, publicUrl)
  }

  /** {@link reading} in one piece. */
  static read(...from: Parameters<typeof Shelf.reading>): Shelf {
    const reading = Shelf.reading(...from)
    for (;;) {
      const { done, value } = reading.next()
      if (done) return value
    }
  }

  find(id: number): Product | undefined {
    return this.#byId.get(id)
  }

  at(position: number): Product {
    const product = this.#products[position]
    if (!product) throw new RangeError(`no product stands at ${position}`)
    return product
  }

  /** The positions of all that match, in ascending order of a field. */
  select(filter: ProductFilter, field: SortField): Uint32Array {
    const key = JSON.stringify([field, filter.countryId, filter.currencyId, filter.category, filter.search])
    const known = this.#selections.get(key)
    if (known) return known
    const conditions = this.#conditionsOf(filter)
    const order = this.#ordered(field)
    if (conditions.length === 0) return order
    const selected = order.filter((position) => conditions.every((holds) => holds(position)))
    this.#selections.set(key, selected)
    return selected
  }

  /** The records at these positions as a JSON array, at the discounts that were agreed with a client. */
  write(positions: Uint32Array, agreed: ReadonlyMap<number, number>): Uint8Array {
    if (agreed.size === 0) return this.#records.join(positions)
    return this.#records.join(positions, (position) => {
      const product = this.at(position)
      const agreedBasisPoints = agreed.get(product.id)
      if (agreedBasisPoints === undefined) return undefined
      return JSON.stringify(productWire(product, agreedBasisPoints, this.publicUrl))
    })
  }

  /** What must hold of a product, the quickest to tell first. */
  #conditionsOf({ category, countryId, currencyId, search }: ProductFilter): ((position: number) => boolean)[] {
    const conditions: ((position: number) => boolean)[] = []
    if (countryId !== undefined) conditions.push((position) => this.at(position).country.id === countryId)
    if (currencyId !== undefined) conditions.push((position) => this.at(position).currency.id === currencyId)
    if (category !== undefined) {
      const wanted = lowerCase(category)
      const names = new Set(this.#products.map((product) => product.category))
      const meant = new Set([...names].filter((name) => lowerCase(name) === wanted))
      conditions.push((position) => meant.has(this.at(position).category))
    }
    if (search !== undefined && search !== '') {
      this.#names ??= new Names(this.#products)
      const found = this.#names.find(lowerCase(search))
      conditions.push((position) => found[position] === 1)
    }
    return conditions
  }

  #ordered(field: SortField): Uint32Array {
    const known = this.#orders.get(field)
    if (known) return known
    const positions = Uint32Array.from(this.#products.keys())
    const order = field === 'id' ? positions : sorted(positions, this.#products.map(TEXTS[field]))
    this.#orders.set(field, order)
    return order
  }
}

/** What each sort compares. */
const TEXTS: Record<Exclude<SortField, 'id'>, (product: Product) => string> = {
  name: ({ name }) => name,
  category: ({ category }) => category,
  sub_category: ({ subCategory }) => subCategory,
  country_code: ({ country }) => country.alpha3,
  currency_code: ({ currency }) => currency.currency,
}

/** Positions by the text at each: by its lower case, then by itself, then by position (contract C7). */
const sorted = (positions: Uint32Array, texts: readonly string[]): Uint32Array => {
  const distinct = [...new Set(texts)].map(
    (text) => [Buffer.from(text.toLowerCase()), Buffer.from(text), text] as const,
  )
  // By code point: UTF-8 bytes sort so, UTF-16 units do not.
  distinct.sort((a, b) => Buffer.compare(a[0], b[0]) || Buffer.compare(a[1], b[1]))
  const ranks = new Map(distinct.map(([, , text], rank) => [text, rank]))
  const rankAt = Uint32Array.from(texts, (text) => ranks.get(text) ?? 0)
  return positions.sort((a, b) => (rankAt[a] ?? 0) - (rankAt[b] ?? 0) || a - b)
}

const [OPENING, COMMA, CLOSING] = [0x5b, 0x2c, 0x5d]

/** Texts of JSON by position, written one after the other: a page of them is copied together. */
class Records {
  #parts: Buffer[] = []
  #whole: Buffer | undefined
  /** Where each begins, and at last where they end. */
  readonly #starts = [0]

  add(texts: readonly string[]): void {
    for (const text of texts) this.#starts.push((this.#starts.at(-1) ?? 0) + Buffer.byteLength(text))
    this.#parts.push(Buffer.from(texts.join('')))
  }

  get #bytes(): Buffer {
    this.#whole ??= Buffer.concat(this.#parts)
    this.#parts = []
    return this.#whole
  }

  /** A JSON array of those at some positions, or of what takes the place of some. */
  join(positions: Uint32Array, insteadOf?: (position: number) => string | undefined): Buffer {
    const others = new Map<number, Buffer>()
    let byteCount = Math.max(2, positions.length + 1)
    for (const position of positions) {
      const other = insteadOf?.(position)
      if (other !== undefined) others.set(position, Buffer.from(other))
      byteCount += others.get(position)?.byteLength ?? this.#end(position) - this.#start(position)
    }
    const joined = Buffer.allocUnsafeSlow(byteCount)
    const bytes = this.#bytes
    let at = 0
    joined[at++] = OPENING
    for (const position of positions) {
      if (at > 1) joined[at++] = COMMA
      const other = others.get(position)
      at += other ? other.copy(joined, at) : bytes.copy(joined, at, this.#start(position), this.#end(position))
    }
    joined[at] = CLOSING
    return joined
  }

  #start(position: number): number {
    return this.#starts[position] ?? 0
  }

  #end(position: number): number {
    return this.#starts[position + 1] ?? 0
  }
}

/** Stands between names: no name and no search holds it. */
const BETWEEN = '\0'

/** All names in one text, folded: looking through it takes a tenth of looking at each. */
class Names {
  readonly #text: string
  /** Where each begins. */
  readonly #starts: Uint32Array

  constructor(named: readonly { name: string }[]) {
    const lowerCased = named.map(({ name }) => lowerCase(name))
    this.#text = lowerCased.join(BETWEEN)
    this.#starts = new Uint32Array(lowerCased.length + 1)
    lowerCased.forEach((name, position) => {
      this.#starts[position + 1] = (this.#starts[position] ?? 0) + name.length + BETWEEN.length
    })
  }

  /** 1 at the positions of names that hold a text. */
  find(text: string): Uint8Array {
    const found = new Uint8Array(this.#starts.length - 1)
    let position = 0
    for (let at = this.#text.indexOf(text); at !== -1; at = this.#text.indexOf(text, this.#starts[position + 1])) {
      while ((this.#starts[position + 1] ?? 0) <= at) position += 1
      found[position] = 1
    }
    return found
  }
}

/** So many products are read by one statement. */
const READ_TOGETHER = 500

/** Those on sale, by id, some at a time. The long texts stay where they are until one is asked for. */
function* readProducts(query: Query, reference: Reference): Generator<Product[]> {
  const { terms, details, howToUse, ...columns } = getTableColumns(products)
  const once = new Map<string, string>()
  /** Says the same in the same string: most texts are those of many products. */
  const shared = <Text extends string>(text: Text): Text => {
    const known = once.get(text)
    if (known !== undefined) return known as Text
    once.set(text, text)
    return text
  }
  for (let lastId = 0; ; ) {
    const rows = query
      .select(columns)
      .from(products)
      .where(and(eq(products.active, true), gt(products.id, lastId)))
      .orderBy(asc(products.id))
      .limit(READ_TOGETHER)
      .all()
    const afterId = lastId
    lastId = rows.at(-1)?.id ?? lastId
    const bands = readBands(query, afterId, lastId)
    yield rows.map(({ countryId, currencyId, ...row }) => ({
      ...row,
      category: shared(row.category),
      subCategory: shared(row.subCategory),
      deliveryMode: shared(row.deliveryMode),
      deliveryTime: shared(row.deliveryTime),
      validity: shared(row.validity),
      country: reference.getCountry(countryId),
      currency: reference.getCurrency(currencyId),
      bands: bands.get(row.id) ?? [],
    }))
    if (rows.length < READ_TOGETHER) return
  }
}

const readBands = (query: Query, afterId: number, lastId: number): Map<number, Band[]> => {
  const rows = query
    .select()
    .from(productBands)
    .where(and(gt(productBands.productId, afterId), lte(productBands.productId, lastId)))
    .orderBy(asc(productBands.productId), asc(productBands.position))
    .all()
  const bands = new Map<number, Band[]>()
  for (const { productId, minMinor, maxMinor, discountBasisPoints } of rows) {
    const known = bands.get(productId)
    const band = { minMinor, maxMinor, discountBasisPoints }
    if (known) known.push(band)
    else bands.set(productId, [band])
  }
  return bands
}

const activeOf = (query: Query, table: typeof categories | typeof subcategories): Named[] =>
  query
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(eq(table.active, true))
    .orderBy(asc(table.id))
    .all()
