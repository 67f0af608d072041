import { eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Prepared } from '../http/prepared.ts'
import type { Direction, Page } from '../http/query.ts'
import { turns } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import type { Product, ProductTexts } from './product.ts'
import { type Named, type ProductFilter, Shelf, type SortField } from './shelf.ts'
import { clientDiscounts, products } from './tables.ts'

export interface ProductSort {
  field: SortField
  direction: Direction
}

export interface CatalogOptions {
  /** Where the catalog is read from: another one once the default world of a data folder was put back. */
  database: () => Database
  /** Tells the catalog of one database from another. */
  version: (database: Database) => string | undefined
  reference: Reference
  /** The address that pictures are linked at. */
  publicUrl: string
}

/** One page of products. */
export interface ProductPage {
  /** How many match in all. */
  totalCount: number
  /** How many are on this page. */
  pageSize: number
  products: () => readonly Product[]
  /** The products as a JSON array, at the discounts that were agreed with a client. */
  json: (agreed: ReadonlyMap<number, number>) => Uint8Array
}

/** A catalog as it was read, and what was answered of it. */
interface Read {
  database: Database
  version: string | undefined
  shelf: Shelf
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
  #read: Read | undefined
  #reading: Promise<void> | undefined

  constructor(private readonly options: CatalogOptions) {}

  /** Read when first asked for, so that starting the program does not wait for it. */
  get #current() {
    const { reference, publicUrl } = this.options
    const database = this.options.database()
    if (database !== this.#read?.database) this.refresh()
    this.#read ??= this.#made(database, Shelf.read(database.query, reference, publicUrl))
    return this.#read
  }

  /** What a request has to wait for before it looks at the catalog, if anything: one that is new is read in slices. */
  before(): Promise<void> | undefined {
    if (this.#read && this.options.database() !== this.#read.database) this.refresh()
    if (this.#read) return undefined
    this.#reading ??= this.#readInSlices().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readInSlices(): Promise<void> {
    const { reference, publicUrl } = this.options
    while (!this.#read) {
      const database = this.options.database()
      const version = this.options.version(database)
      const isSame = () => this.options.database() === database && this.options.version(database) === version
      const reading = Shelf.reading(database.query, reference, publicUrl)
      let shelf: Shelf | undefined
      while (!shelf && isSame()) {
        shelf = await turns.take(this, (isOver) => {
          if (!isSame()) return undefined
          let step = reading.next()
          while (!step.done && !isOver()) step = reading.next()
          return step.value
        })
      }
      if (shelf && isSame()) this.#read ??= this.#made(database, shelf)
    }
  }

  #made(database: Database, shelf: Shelf): Read {
    return {
      database,
      version: this.options.version(database),
      shelf,
      answers: new LRUCache({
        maxSize: ANSWERS_BYTES_MAX,
        sizeCalculation: ({ byteCount }, key) => ANSWER_BYTES + key.length + byteCount,
      }),
    }
  }

  get #shelf(): Shelf {
    return this.#current.shelf
  }

  /** Reads the catalog anew if it is another one by now. */
  refresh(): void {
    if (!this.#read) return
    const database = this.options.database()
    if (this.options.version(database) === this.#read.version) this.#read.database = database
    else this.#read = undefined
  }

  get categories(): readonly Named[] {
    return this.#shelf.categories
  }

  get subcategories(): readonly Named[] {
    return this.#shelf.subcategories
  }

  /** The product, or undefined when there is none or it is not on sale. */
  find(id: number): Product | undefined {
    return this.#shelf.find(id)
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
    const { answers } = this.#current
    const kept = answers.get(key)
    if (kept) return kept
    const made = make()
    answers.set(key, made)
    return made
  }

  /** The long texts of a product, or undefined when another process has just taken it away. */
  textsOf({ id }: Product): ProductTexts | undefined {
    const { terms, details, howToUse } = products
    return this.#current.database.query
      .select({ terms, details, howToUse })
      .from(products)
      .where(eq(products.id, id))
      .limit(1)
      .get()
  }

  /** One page of the products that match. */
  list(filter: ProductFilter, { field, direction }: ProductSort, page: Page): ProductPage {
    const shelf = this.#shelf
    const matching = shelf.select(filter, field)
    const [start, end] = [offsetOf(page), offsetOf(page) + page.limit]
    const positions =
      direction === 'ASC'
        ? matching.subarray(start, end)
        : matching.slice(Math.max(0, matching.length - end), Math.max(0, matching.length - start)).reverse()
    return {
      totalCount: matching.length,
      pageSize: positions.length,
      products: () => Array.from(positions, (position) => shelf.at(position)),
      json: (agreed) => shelf.write(positions, agreed),
    }
  }
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
  const rows = world.db.query.select().from(clientDiscounts).where(eq(clientDiscounts.clientId, clientId)).all()
  const discounts = new Map(rows.map((row) => [row.productId, row.discountBasisPoints]))
  world.of(discountsByClient).set(clientId, discounts)
  return discounts
}
