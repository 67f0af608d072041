import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Direction, Page } from '../http/parameters.ts'
import type { StoredResponse } from '../http/stored-response.ts'
import { turns } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { type Product, type ProductTexts, productWire } from './product.ts'
import {
  type Listed,
  loadProductIndex,
  type ProductFilter,
  type ProductIndex,
  type SortField,
} from './product-index.ts'
import { discountsOf, findTexts, type Named } from './queries.ts'

export interface ProductSort {
  field: SortField
  direction: Direction
}

export interface CatalogOptions {
  /** Changes if the default world of a data folder is restored. */
  database: () => Database
  /** Identifies the catalog of a database. */
  version: (database: Database) => string | undefined
  reference: Reference
  /** The base address of the pictures. */
  publicUrl: string
}

export interface ProductPage {
  totalCount: number
  pageSize: number
  products: readonly Product[]
  /** A JSON array, with the discounts agreed with a client. */
  json: (agreed: ReadonlyMap<number, number>) => string
}

interface Current {
  database: Database
  version: string | undefined
  catalog: ProductIndex
  answers: LRUCache<string, StoredResponse>
}

/** In bytes; the least recently used responses make room. */
const ANSWERS_BYTES_MAX = 16_777_216
/** The approximate memory of a response besides its body. */
const ANSWER_BYTES = 2_048

/** The products and categories, loaded once for all worlds, because no client can change them. */
export class Catalog {
  #loaded: Current | undefined
  #loading: Promise<void> | undefined

  constructor(private readonly options: CatalogOptions) {}

  /** Loaded at first use, so that the start does not wait for it; at once, for those that {@link before} has not kept waiting. */
  get #current(): Current {
    const database = this.options.database()
    if (database !== this.#loaded?.database) this.refresh()
    if (this.#loaded) return this.#loaded
    const loading = this.#loadFrom(database)
    let step = loading.next()
    while (!step.done) step = loading.next()
    this.#loaded = this.#currentOf(database, step.value)
    return this.#loaded
  }

  /** What a request waits for before it reads the catalog: one that is new is loaded in slices. */
  before(): Promise<void> | undefined {
    if (this.#loaded && this.options.database() !== this.#loaded.database) this.refresh()
    if (this.#loaded) return undefined
    this.#loading ??= this.#loadInSlices().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Loads until the catalog has not changed meanwhile. */
  async #loadInSlices(): Promise<void> {
    while (!this.#loaded) {
      const database = this.options.database()
      const version = this.options.version(database)
      const isSame = () => this.options.database() === database && this.options.version(database) === version
      const loading = this.#loadFrom(database)
      const slice = (isOver: () => boolean) => {
        let step = isSame() ? loading.next() : undefined
        while (step?.done === false && !isOver()) step = loading.next()
        return step
      }
      let step = await turns.take(this, slice)
      while (step?.done === false) step = await turns.take(this, slice)
      if (step?.done && isSame()) this.#loaded ??= this.#currentOf(database, step.value)
    }
  }

  #loadFrom(database: Database) {
    const { reference, publicUrl } = this.options
    return loadProductIndex(database.query, reference, publicUrl)
  }

  #currentOf(database: Database, catalog: ProductIndex): Current {
    return {
      database,
      version: this.options.version(database),
      catalog,
      answers: new LRUCache({
        maxSize: ANSWERS_BYTES_MAX,
        sizeCalculation: ({ byteCount }, key) => ANSWER_BYTES + key.length + byteCount,
      }),
    }
  }

  /** Forgets the catalog if there is another one by now. */
  refresh(): void {
    if (!this.#loaded) return
    const database = this.options.database()
    if (this.options.version(database) === this.#loaded.version) this.#loaded.database = database
    else this.#loaded = undefined
  }

  get categories(): readonly Named[] {
    return this.#current.catalog.categories
  }

  get subcategories(): readonly Named[] {
    return this.#current.catalog.subcategories
  }

  /** The product, or undefined when there is none or it is not on sale. */
  find(id: number): Product | undefined {
    return this.#current.catalog.find(id)
  }

  findCategory(id: number): Named | undefined {
    return this.categories.find((category) => category.id === id)
  }

  findSubcategory(id: number): Named | undefined {
    return this.subcategories.find((subcategory) => subcategory.id === id)
  }

  /** A response that is made once per catalog, and shared by clients with the same agreed discounts. */
  answer(
    question: string,
    make: () => StoredResponse,
    agreed: ReadonlyMap<number, number> = NO_DISCOUNTS,
  ): StoredResponse {
    const key = `${numberOf(agreed)} ${question}`
    const { answers } = this.#current
    const kept = answers.get(key)
    if (kept) return kept
    const made = make()
    answers.set(key, made)
    return made
  }

  textsOf({ id }: Product): ProductTexts | undefined {
    return findTexts(this.#current.database.query, id)
  }

  list(filter: ProductFilter, { field, direction }: ProductSort, page: Page): ProductPage {
    const matching = this.#current.catalog.select(filter, field)
    const [start, end] = [offsetOf(page), offsetOf(page) + page.limit]
    const listed =
      direction === 'ASC'
        ? matching.slice(start, end)
        : matching.slice(Math.max(0, matching.length - end), Math.max(0, matching.length - start)).reverse()
    return {
      totalCount: matching.length,
      pageSize: listed.length,
      products: listed.map(({ product }) => product),
      json: (agreed) => `[${listed.map((each) => this.#jsonOf(each, agreed)).join()}]`,
    }
  }

  #jsonOf({ product, json }: Listed, agreed: ReadonlyMap<number, number>): string {
    const basisPoints = agreed.get(product.id)
    return basisPoints === undefined ? json : JSON.stringify(productWire(product, basisPoints, this.options.publicUrl))
  }
}

const NO_DISCOUNTS: ReadonlyMap<number, number> = new Map()

/** Numbers the discounts, for the keys of responses. */
const numbers = new WeakMap<ReadonlyMap<number, number>, number>()
let lastNumber = 0

/** All clients without discounts share 0. */
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
  const discounts = discountsOf(world.db.query, clientId)
  world.of(discountsByClient).set(clientId, discounts)
  return discounts
}
