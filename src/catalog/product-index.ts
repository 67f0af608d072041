import { LRUCache } from 'lru-cache'
import type { Query } from '../db/database.ts'
import { lowerCase } from '../kernel/lower-case.ts'
import { sortedInSteps } from '../kernel/sorting.ts'
import type { Reference } from '../reference/reference.ts'
import { productWire, type SORT_FIELDS } from './contract.ts'
import type { Product } from './product.ts'
import { activeCategories, activeSubcategories, type Named, productsOnSale } from './queries.ts'

export type SortField = (typeof SORT_FIELDS)[number]

export interface ProductFilter {
  category?: string | undefined
  countryId?: number | undefined
  currencyId?: number | undefined
  search?: string | undefined
}

/** A product with what its lists need, made once. */
export interface Listed {
  product: Product
  searchedName: string
  searchedCategory: string
  /** Without agreed discounts. */
  json: string
}

/** In bytes; the least recently used selections make room. */
const SELECTIONS_BYTES_MAX = 4_194_304
/** The approximate memory of a selection besides its key and its products. */
const SELECTION_BYTES = 256
const POINTER_BYTES = 8

export const listedOf = (product: Product, publicUrl: string): Listed => ({
  product,
  searchedName: lowerCase(product.name),
  searchedCategory: lowerCase(product.category),
  json: JSON.stringify(productWire(product, 0, publicUrl)),
})

/** A catalog in memory, where filtering 100,000 products takes milliseconds without an index. */
export class ProductIndex {
  readonly #byId: ReadonlyMap<number, Product>
  /** Sorted at the first use. */
  readonly #sorted = new Map<SortField, readonly Listed[]>()
  readonly #sorting = new Map<SortField, ReturnType<typeof sorting>>()
  /** A client that pages through a selection filters it once. */
  readonly #selections = new LRUCache<string, readonly Listed[]>({
    maxSize: SELECTIONS_BYTES_MAX,
    sizeCalculation: ({ length }, key) => SELECTION_BYTES + 2 * key.length + POINTER_BYTES * length,
  })

  constructor(
    readonly categories: readonly Named[],
    readonly subcategories: readonly Named[],
    /** By ascending id. */
    private readonly listed: readonly Listed[],
  ) {
    this.#byId = new Map(listed.map(({ product }) => [product.id, product]))
    this.#sorted.set('id', listed)
  }

  get size(): number {
    return this.listed.length
  }

  find(id: number): Product | undefined {
    return this.#byId.get(id)
  }

  /** All that match, in ascending order of a field. */
  select(filter: ProductFilter, field: SortField): readonly Listed[] {
    if (Object.values(filter).every((wanted) => wanted === undefined)) return this.by(field)
    const key = JSON.stringify([field, filter.category, filter.countryId, filter.currencyId, filter.search])
    const known = this.#selections.get(key)
    if (known) return known
    const selection = matching(this.by(field), filter)
    this.#selections.set(key, selection)
    return selection
  }

  /** All products on sale, sorted. */
  by(field: SortField): readonly Listed[] {
    while (this.sortMore(field));
    return this.#sorted.get(field) ?? []
  }

  isSorted(field: SortField): boolean {
    return this.#sorted.has(field)
  }

  /** Does a part of the sorting. Returns whether more is to do. */
  sortMore(field: SortField): boolean {
    if (field === 'id' || this.isSorted(field)) return false
    const steps = this.#sorting.get(field) ?? sorting(this.listed, TEXTS[field])
    this.#sorting.set(field, steps)
    const { done, value } = steps.next()
    if (!done) return true
    this.#sorting.delete(field)
    this.#sorted.set(field, value)
    return false
  }
}

/** A catalog of which one world has changed some products. */
export class ChangedProductIndex implements Pick<ProductIndex, 'find' | 'select'> {
  readonly #sorted = new Map<SortField, readonly Listed[]>()

  constructor(
    private readonly catalog: ProductIndex,
    /** As they are in this world, on sale or not. */
    private readonly changed: ReadonlyMap<number, Listed>,
  ) {}

  find(id: number): Product | undefined {
    const own = this.changed.get(id)?.product
    if (!own) return this.catalog.find(id)
    return own.active ? own : undefined
  }

  select(filter: ProductFilter, field: SortField): readonly Listed[] {
    return matching(this.#by(field), filter)
  }

  #by(field: SortField): readonly Listed[] {
    const known = this.#sorted.get(field)
    if (known) return known
    const made = this.catalog.by(field).filter(({ product }) => !this.changed.has(product.id))
    for (const own of this.changed.values()) {
      if (own.product.active) made.splice(placeOf(own.product, made, field), 0, own)
    }
    this.#sorted.set(field, made)
    return made
  }
}

const matching = (
  listed: readonly Listed[],
  { category, countryId, currencyId, search }: ProductFilter,
): readonly Listed[] => {
  const [wantedCategory, term] = [category && lowerCase(category), search && lowerCase(search)]
  let matching = listed
  if (countryId !== undefined) matching = matching.filter(({ product }) => product.country.id === countryId)
  if (currencyId !== undefined) matching = matching.filter(({ product }) => product.currency.id === currencyId)
  if (wantedCategory !== undefined) matching = matching.filter((each) => each.searchedCategory === wantedCategory)
  if (term) matching = matching.filter(({ searchedName }) => searchedName.includes(term))
  return matching
}

const TEXTS: Record<Exclude<SortField, 'id'>, (product: Product) => string> = {
  name: ({ name }) => name,
  category: ({ category }) => category,
  sub_category: ({ subCategory }) => subCategory,
  country_code: ({ country }) => country.alpha3,
  currency_code: ({ currency }) => currency.currency,
}

const KEYS_TOGETHER = 1_000

/** Sorts by lower case, then by text, both by code point, then by id (contract C7), in steps. */
function* sorting(
  listed: readonly Listed[],
  textOf: (product: Product) => string,
): Generator<undefined, readonly Listed[]> {
  const keyed: { each: Listed; key: string }[] = []
  for (const each of listed) if (keyed.push({ each, key: keyOf(textOf(each.product)) }) % KEYS_TOGETHER === 0) yield
  const sorted = yield* sortedInSteps(keyed, (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return sorted.map(({ each }) => each)
}

const keyOf = (text: string): string => comparable(`${text.toLowerCase()}\0${text}`)

/** Where a product belongs among others that are sorted, found by halving. */
const placeOf = (product: Product, others: readonly Listed[], field: SortField): number => {
  const isBefore = (other: Product): boolean => {
    if (field === 'id') return other.id < product.id
    const [key, otherKey] = [keyOf(TEXTS[field](product)), keyOf(TEXTS[field](other))]
    return otherKey === key ? other.id < product.id : otherKey < key
  }
  let [start, end] = [0, others.length]
  while (start < end) {
    const middle = (start + end) >> 1
    const other = others[middle]?.product
    if (other && isBefore(other)) start = middle + 1
    else end = middle
  }
  return start
}

/** A text that `<` compares by code point: surrogate pairs move after all other units. */
const comparable = (text: string): string =>
  text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
  })

/** Products that are loaded in one go, which takes about 1 ms. */
const LOADED_TOGETHER = 100

/** Yields between groups of products, so that a large catalog loads in time slices (decision 0032). */
export function* loadProductIndex(
  query: Query,
  reference: Reference,
  publicUrl: string,
): Generator<undefined, ProductIndex> {
  const listed: Listed[] = []
  for (;;) {
    const some = productsOnSale(query, reference, { afterId: listed.at(-1)?.product.id ?? 0, limit: LOADED_TOGETHER })
    for (const product of some) listed.push(listedOf(product, publicUrl))
    if (some.length < LOADED_TOGETHER) break
    yield
  }
  return new ProductIndex(activeCategories(query), activeSubcategories(query), listed)
}
