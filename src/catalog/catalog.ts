import type { Database } from '../db/database.ts'
import type { Reference } from '../reference/reference.ts'
import { type World, worldPart } from '../work/world.ts'
import type { Product, ProductChange, ProductTexts } from './product.ts'
import { listedOf, loadProductIndex, type ProductIndex } from './product-index.ts'
import { discountsOf, findInactiveId, findProduct, productsById } from './queries.ts'

interface CatalogOptions {
  /** The database of the default world, which changes when that world is restored. */
  database: () => Database
  /** Identifies the catalog of a database. */
  version: (database: Database) => string | undefined
  reference: Reference
  publicUrl: string
  onBroken: (error: unknown) => void
  /** The product changes of a world; another map after each change. Undefined if no world can have any. */
  changesOf?: ((world: World) => ReadonlyMap<number, ProductChange>) | undefined
}

interface Current {
  database: Database
  version: string | undefined
  index: ProductIndex
}

/** The products and categories, loaded once for all worlds, because no client can change them. */
export class Catalog {
  #loaded: Current | undefined

  constructor(private readonly options: CatalogOptions) {}

  /** The index of a world by its changes, which keep it in memory. A world without changes has none. */
  readonly #changedIndexes = new WeakMap<
    ReadonlyMap<number, ProductChange>,
    { of: ProductIndex; index: ProductIndex }
  >()

  get #current(): Current {
    if (this.#loaded?.database === this.options.database()) return this.#loaded
    this.#loaded = this.#load()
    return this.#loaded
  }

  /** Takes 1 s for 100,000 products, during which all requests wait (decision 31). */
  #load(): Current {
    const { reference, publicUrl } = this.options
    const database = this.options.database()
    const version = this.options.version(database)
    if (this.#loaded && this.#loaded.version === version) return { ...this.#loaded, database }
    return { database, version, index: loadProductIndex(database.query, reference, publicUrl) }
  }

  /** Loads the catalog if it has changed. If that fails, the present one stays in use. */
  refresh(): void {
    if (!this.#loaded) return
    try {
      this.#loaded = this.#load()
    } catch (error) {
      this.options.onBroken(error)
    }
  }

  /** The catalog without the changes of a world. */
  get shared(): ProductIndex {
    return this.#current.index
  }

  /** The catalog with the changes of a world. */
  in(world: World): ProductIndex {
    const { shared } = this
    const changes = this.options.changesOf?.(world)
    if (!changes || changes.size === 0) return shared
    const known = this.#changedIndexes.get(changes)
    if (known?.of === shared) return known.index
    const changed = this.#changed(changes).map((product) => listedOf(product, this.options.publicUrl))
    const index = shared.with(changed)
    this.#changedIndexes.set(changes, { of: shared, index })
    return index
  }

  /** The long texts of a product, which are not kept in memory. */
  textsOf({ id }: Product): ProductTexts | undefined {
    return findProduct(this.#current.database.query, id)
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

const discountsByClient = worldPart(() => new Map<number, ReadonlyMap<number, number>>(), 'derived')

/** The discounts agreed with a client, in basis points by product (contract C8). */
export const agreedDiscounts = (world: World, clientId: number): ReadonlyMap<number, number> => {
  const known = world.of(discountsByClient).get(clientId)
  if (known) return known
  const discounts = discountsOf(world.db.query, clientId)
  world.of(discountsByClient).set(clientId, discounts)
  return discounts
}
