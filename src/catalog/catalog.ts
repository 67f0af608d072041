import type { Database } from '../db/database.ts'
import { offsetOf } from '../http/pagination.ts'
import type { Page, Sort } from '../http/parameters.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../worlds/world.ts'
import type { Product, ProductChange, ProductTexts } from './product.ts'
import { listedOf, loadProductIndex, type ProductFilter, type ProductIndex, type SortField } from './product-index.ts'
import { discountsOf, findInactiveId, findTexts, productsById } from './queries.ts'

interface CatalogOptions {
  /** Changes if the default world of a data folder is restored. */
  database: () => Database
  /** Identifies the catalog of a database. */
  version: (database: Database) => string | undefined
  reference: Reference
  publicUrl: string
  onBroken: (error: unknown) => void
  /** What a world has changed of its products; another map after each change. Undefined if no world can. */
  changesOf?: ((world: World) => ReadonlyMap<number, ProductChange>) | undefined
}

interface Current {
  database: Database
  version: string | undefined
  view: CatalogView
}

/** The products and categories, loaded once for all worlds, because no client can change them. */
export class Catalog {
  #loaded: Current | undefined

  constructor(private readonly options: CatalogOptions) {}

  /** By the changes of a world, which hold it: a world that changes nothing costs nothing. */
  readonly #views = new WeakMap<ReadonlyMap<number, ProductChange>, { of: CatalogView; view: CatalogView }>()

  get #current(): Current {
    if (this.#loaded?.database === this.options.database()) return this.#loaded
    this.#loaded = this.#load()
    return this.#loaded
  }

  /** Takes 1 s for 100,000 products, for which everybody waits (decision 86). */
  #load(): Current {
    const { reference, publicUrl, database: current, version } = this.options
    const database = current()
    if (this.#loaded && this.#loaded.version === version(database)) return { ...this.#loaded, database }
    const index = loadProductIndex(database.query, reference, publicUrl)
    return { database, version: version(database), view: new CatalogView(current, index) }
  }

  /** Loads the catalog if there is another one by now. One that cannot be loaded leaves the present one in use. */
  refresh(): void {
    if (!this.#loaded) return
    try {
      this.#loaded = this.#load()
    } catch (error) {
      this.options.onBroken(error)
    }
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
    const view = new CatalogView(database, shared.index.with(changed))
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
  ) {}

  /** The product, or undefined when there is none or it is not on sale. */
  find(id: number): Product | undefined {
    return this.index.find(id)
  }

  textsOf({ id }: Product): ProductTexts | undefined {
    return findTexts(this.database().query, id)
  }

  list(filter: ProductFilter, { field, direction }: Sort<SortField>, page: Page) {
    const matching = this.index.select(filter, field)
    const [start, end] = [offsetOf(page), offsetOf(page) + page.limit]
    const listed =
      direction === 'ASC'
        ? matching.slice(start, end)
        : matching.slice(Math.max(0, matching.length - end), Math.max(0, matching.length - start)).reverse()
    return { totalCount: matching.length, entries: listed }
  }
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
