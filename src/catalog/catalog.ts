import type { Static } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { Json } from '../http/json.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Page, Sort } from '../http/parameters.ts'
import type { StoredResponse } from '../http/stored-response.ts'
import { turns } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { type ProductSchema, productWire } from './contract.ts'
import type { Product, ProductChange, ProductTexts } from './product.ts'
import {
  type Listed,
  listedOf,
  loadProductIndex,
  type ProductFilter,
  type ProductIndex,
  type SortField,
} from './product-index.ts'
import { discountsOf, findInactiveId, findTexts, productsById } from './queries.ts'

interface CatalogOptions {
  /** Changes if the default world of a data folder is restored. */
  database: () => Database
  /** Identifies the catalog of a database. */
  version: (database: Database) => string | undefined
  reference: Reference
  publicUrl: string
  /** What a world has changed of its products; another map after each change. Undefined if no world can. */
  changesOf?: ((world: World) => ReadonlyMap<number, ProductChange>) | undefined
}

interface Current {
  database: Database
  version: string | undefined
  view: CatalogView
}

interface Loading {
  database: Database
  version: string | undefined
  steps: ReturnType<typeof loadProductIndex>
}

/** In bytes; the least recently used responses make room. */
const RESPONSES_BYTES_MAX = 16_777_216
/** The approximate memory of a response besides its body. */
const RESPONSE_BYTES = 2_048

/** The products and categories, loaded once for all worlds, because no client can change them. */
export class Catalog {
  #loaded: Current | undefined
  #loading: Loading | undefined
  #isLoadingBeside = false

  constructor(private readonly options: CatalogOptions) {}

  /** By the changes of a world, which hold it: a world that changes nothing costs nothing. */
  readonly #views = new WeakMap<ReadonlyMap<number, ProductChange>, { of: CatalogView; view: CatalogView }>()

  /** Finishes the loading at once, for requests that have not waited for it. */
  get #current(): Current {
    const database = this.options.database()
    if (database !== this.#loaded?.database) this.refresh()
    while (!this.#loaded) this.#loadMore()
    return this.#loaded
  }

  /** What requests wait for: loads the first catalog in time slices. Undefined if there is one. */
  readonly ready = (): Promise<void> | undefined => {
    if (this.#loaded?.database !== this.options.database()) this.refresh()
    return this.#loaded ? undefined : turns.run(this, this.#loadInSteps())
  };

  *#loadInSteps(): Generator<undefined, void> {
    while (!this.#loadMore()) yield
  }

  /** The old catalog is served until the new one is whole (decision 86). */
  async #loadBeside(): Promise<void> {
    if (this.#isLoadingBeside) return
    this.#isLoadingBeside = true
    try {
      if (!this.#loadMore()) await turns.run(this, this.#loadInSteps())
    } catch {
      this.#loaded = undefined // requests load it, and fail by themselves
    } finally {
      this.#isLoadingBeside = false
    }
  }

  /** Loads a part of the catalog, from the start if it has changed meanwhile. Returns whether it is whole. */
  #loadMore(): boolean {
    const { reference, publicUrl } = this.options
    const database = this.options.database()
    const version = this.options.version(database)
    if (this.#loaded?.database === database && this.#loaded.version === version) return true
    if (this.#loading?.database !== database || this.#loading.version !== version) {
      this.#loading = { database, version, steps: loadProductIndex(database.query, reference, publicUrl) }
    }
    const { done, value: index } = this.#loading.steps.next()
    if (!done) return false
    this.#loading = undefined
    if (this.options.version(database) !== version) return false
    const responses = new LRUCache<string, StoredResponse>({
      maxSize: RESPONSES_BYTES_MAX,
      sizeCalculation: ({ byteCount }, key) => RESPONSE_BYTES + key.length + byteCount,
    })
    this.#loaded = { database, version, view: new CatalogView(this.options.database, index, publicUrl, responses) }
    return true
  }

  /** Replaces the catalog if there is another one by now: at once if that has few products. */
  refresh(): void {
    if (!this.#loaded) return
    const database = this.options.database()
    if (this.options.version(database) === this.#loaded.version) this.#loaded.database = database
    else if (database === this.#loaded.database) void this.#loadBeside()
    else this.#loaded = undefined
  }

  /** The catalog without the changes of a world. */
  get shared(): CatalogView {
    return this.#current.view
  }

  /** The catalog with the changes of a world. */
  in(world: World): CatalogView {
    const { shared } = this
    const changes = this.options.changesOf?.(world)
    if (!changes || changes.size === 0) return shared
    const known = this.#views.get(changes)
    if (known?.of === shared) return known.view
    const { database, publicUrl } = this.options
    const changed = this.#changed(changes).map((product) => listedOf(product, publicUrl))
    const view = new CatalogView(database, shared.index.with(changed), publicUrl)
    this.#views.set(changes, { of: shared, view })
    return view
  }

  /** A product of a world, on sale or not. */
  findAny(world: World, id: number): Product | undefined {
    const changes = this.options.changesOf?.(world) ?? new Map<number, ProductChange>()
    return this.#changed(new Map([[id, changes.get(id) ?? {}]]))[0]
  }

  #changed(changes: ReadonlyMap<number, ProductChange>): Product[] {
    const { database } = this.#current
    return productsById(database.query, this.options.reference, [...changes.keys()]).map((product) => ({
      ...product,
      ...changes.get(product.id),
    }))
  }

  /** A product that is not on sale. */
  findInactiveId(): number | undefined {
    return findInactiveId(this.#current.database.query)
  }
}

/** The catalog as a world sees it. */
class CatalogView {
  constructor(
    /** The one that is open: the default world of a data folder may be replaced. */
    private readonly database: () => Database,
    readonly index: ProductIndex,
    private readonly publicUrl: string,
    /** Undefined for a world that has changed products: worlds hold no copies of responses. */
    private readonly responses?: LRUCache<string, StoredResponse>,
  ) {}

  /** The product, or undefined when there is none or it is not on sale. */
  find(id: number): Product | undefined {
    return this.index.find(id)
  }

  textsOf({ id }: Product): ProductTexts | undefined {
    return findTexts(this.database().query, id)
  }

  /** A response that is made once per catalog, unless it is for a client with agreed discounts. */
  response<Value>(
    name: string,
    make: () => StoredResponse<Value>,
    agreed: ReadonlyMap<number, number> = NO_DISCOUNTS,
  ): StoredResponse<Value> {
    if (agreed.size > 0) return make()
    const stored = this.responses?.get(name)
    // A name stands for responses of one kind.
    if (stored) return stored as StoredResponse<Value>
    const made = make()
    this.responses?.set(name, made)
    return made
  }

  /** Whether a response was made before, and has not made room. */
  has(name: string, agreed: ReadonlyMap<number, number>): boolean {
    return agreed.size === 0 && this.responses?.has(name) === true
  }

  list(filter: ProductFilter, { field, direction }: Sort<SortField>, page: Page) {
    const matching = this.index.select(filter, field)
    const [start, end] = [offsetOf(page), offsetOf(page) + page.limit]
    const listed =
      direction === 'ASC'
        ? matching.slice(start, end)
        : matching.slice(Math.max(0, matching.length - end), Math.max(0, matching.length - start)).reverse()
    return {
      totalCount: matching.length,
      products: listed.map(({ product }) => product),
      /** With the discounts agreed with a client. */
      json: (agreed: ReadonlyMap<number, number>) =>
        new Json<Static<typeof ProductSchema>[]>(
          `[${listed.map((each) => jsonOf(each, agreed, this.publicUrl)).join()}]`,
        ),
    }
  }
}

const jsonOf = ({ product, json }: Listed, agreed: ReadonlyMap<number, number>, publicUrl: string): string => {
  const basisPoints = agreed.get(product.id)
  return basisPoints === undefined ? json : JSON.stringify(productWire(product, basisPoints, publicUrl))
}

const NO_DISCOUNTS: ReadonlyMap<number, number> = new Map()

const discountsByClient = worldPart(() => new Map<number, ReadonlyMap<number, number>>(), 'derived')

/** The discounts agreed with a client, in basis points by product (contract C8). */
export const agreedDiscounts = (world: World, clientId: number): ReadonlyMap<number, number> => {
  const known = world.of(discountsByClient).get(clientId)
  if (known) return known
  const discounts = discountsOf(world.db.query, clientId)
  world.of(discountsByClient).set(clientId, discounts)
  return discounts
}
