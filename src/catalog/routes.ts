import { Type } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import type { Query } from '../db/database.ts'
import { Json } from '../http/json.ts'
import { listOf, pageOf } from '../http/operation.ts'
import { LONG_PAGE_HEADERS, longPaged } from '../http/pagination.ts'
import { idPath, sortOf } from '../http/parameters.ts'
import { PublicFile } from '../http/public-file.ts'
import { Routes } from '../http/route-lines.ts'
import { foundOr, violation } from '../kernel/failure.ts'
import { SVG_TYPE } from '../pages/drawing.ts'
import type { Guard } from '../sessions/guard.ts'
import type { World } from '../work/world.ts'
import { cardOf } from './card.ts'
import { agreedDiscounts, type Catalog } from './catalog.ts'
import {
  AvailabilityBody,
  AvailabilitySchema,
  CATEGORY_NOT_FOUND,
  CategorySchema,
  PRODUCT_NOT_FOUND,
  ProductDetailSchema,
  ProductListQuery,
  ProductPath,
  ProductSchema,
  productDetailWire,
  productWire,
  SUBCATEGORY_NOT_FOUND,
  SubcategorySchema,
} from './contract.ts'
import { findOffer, type Product, quantityMaxFor } from './product.ts'
import type { Listed } from './product-index.ts'

interface CatalogRoutesOptions {
  catalog: Catalog
  guard: Guard
  publicUrl: string
  /** True if this quantity is left for sale. */
  stockCovers: (query: Query, world: World, product: Product, denominationMinor: number, quantity: number) => boolean
}

/** Products and their availability (spec 4.2). */
export const productRoutes = ({ catalog, guard, publicUrl, stockCovers }: CatalogRoutesOptions) =>
  guard
    .routes({
      prefix: '/api/v1/products',
      tag: 'Products',
      tagDescription: 'Gift cards on sale, with availability and prices.',
      names: 'products.',
    })
    .get(
      '/',
      ({ query, session, set }) => {
        const { category, country_id: countryId, currency_id: currencyId, search } = query
        const filter = { category, countryId, currencyId, search }
        const sort = sortOf(query, { field: 'id', direction: 'DESC' })
        const page = catalog.in(session.world).list(filter, sort, query)
        const agreed = agreedDiscounts(session.world, session.client.id)
        const listed = longPaged(set, query, page)
        return new Json(`[${listed.map(jsonWith(agreed, publicUrl)).join()}]`)
      },
      {
        id: 'listProducts',
        summary: 'List products',
        description: 'Products on sale, with the discounts of this client.',
        query: ProductListQuery,
        response: pageOf('A page of products', ProductSchema, LONG_PAGE_HEADERS),
        refuses: { list_validation: violation('limit', 'max', 'must be at most 10000') },
      },
    )
    .get(
      '/:id',
      ({ params: { id }, session }) => {
        const product = foundOr(catalog.in(session.world).find(id), PRODUCT_NOT_FOUND)
        const texts = foundOr(catalog.textsOf(product), PRODUCT_NOT_FOUND)
        const basisPoints = agreedDiscounts(session.world, session.client.id).get(id) ?? 0
        return productDetailWire(product, texts, basisPoints, publicUrl)
      },
      {
        id: 'getProduct',
        summary: 'Get a product',
        description: 'Includes its terms, description and usage instructions.',
        params: ProductPath,
        response: { description: 'The product', schema: ProductDetailSchema },
        refuses: { not_found: PRODUCT_NOT_FOUND },
      },
    )
    .post(
      '/:id/availability',
      ({ params, body: { denomination, quantity }, session }) => {
        session.checkAgain()
        const product = foundOr(catalog.in(session.world).find(params.id), PRODUCT_NOT_FOUND)
        // A quantity or denomination that is not offered is not a failure here (contract C9).
        const offer = findOffer(product, denomination, 0)
        if (!offer || quantity > quantityMaxFor(product, session.client.quantityMax)) return { is_available: false }
        const { world } = session
        return { is_available: stockCovers(world.db.query, world, product, offer.denominationMinor, quantity) }
      },
      {
        id: 'checkAvailability',
        summary: 'Check whether a denomination is available in a quantity',
        description:
          'Checks denomination, quantity and stock. A denomination that is not offered is not available; that is not an error.',
        names: 'availability.',
        params: ProductPath,
        body: AvailabilityBody,
        response: { description: 'The availability of the purchase', schema: AvailabilitySchema },
        refuses: { validation: violation('quantity', 'required', 'is required'), not_found: PRODUCT_NOT_FOUND },
      },
    )

/** The JSON of a product in a list, with discounts that were agreed. */
const jsonWith =
  (agreed: ReadonlyMap<number, number>, publicUrl: string) =>
  ({ product, json }: Listed): string => {
    const basisPoints = agreed.get(product.id)
    return basisPoints === undefined ? json : JSON.stringify(productWire(product, basisPoints, publicUrl))
  }

/** Categories and subcategories (spec 4.3), for accounts with vouchers. */
export const categoryRoutes = ({ catalog, guard }: { catalog: Catalog; guard: Guard }) => {
  const withId = (name: 'categories' | 'subcategories', id: number) =>
    catalog.shared[name].find((named) => named.id === id)
  return guard
    .routes({
      prefix: '/api/v1',
      tag: 'Categories',
      tagDescription: 'Groups of products. For accounts with the vouchers feature.',
      feature: 'vouchers',
      names: 'categories.',
    })
    .get('/categories', () => [...catalog.shared.categories], {
      id: 'listCategories',
      summary: 'List all active categories',
      description: 'Products can be filtered by category. Inactive categories are never listed.',
      response: listOf('All active categories', CategorySchema),
    })
    .get('/categories/:id', ({ params }) => foundOr(withId('categories', params.id), CATEGORY_NOT_FOUND), {
      id: 'getCategory',
      summary: 'Get an active category',
      description: 'An inactive one is not found.',
      params: idPath('category'),
      response: { description: 'The category', schema: CategorySchema },
      refuses: { not_found: CATEGORY_NOT_FOUND },
    })
    .get('/subcategories', () => [...catalog.shared.subcategories], {
      id: 'listSubcategories',
      summary: 'List all active subcategories',
      description: 'Each belongs to a category. Inactive subcategories are never listed.',
      names: 'subcategories.',
      response: listOf('All active subcategories', SubcategorySchema),
    })
    .get('/subcategories/:id', ({ params }) => foundOr(withId('subcategories', params.id), SUBCATEGORY_NOT_FOUND), {
      id: 'getSubcategory',
      summary: 'Get an active subcategory',
      description: 'An inactive one is not found.',
      names: 'subcategories.',
      params: idPath('subcategory'),
      response: { description: 'The subcategory', schema: SubcategorySchema },
      refuses: { not_found: SUBCATEGORY_NOT_FOUND },
    })
}

/** The pictures that are kept: a shop shows the same ones again and again, and each has one or two kB. */
const CARDS_MAX = 1_000

/** The pictures of products. They are public, because browsers send no tokens for images. */
export const cardRoutes = ({ catalog }: { catalog: Catalog }) => {
  const kept = new LRUCache<Product, PublicFile>({ max: CARDS_MAX })
  const pictureOf = (product: Product): PublicFile => {
    const picture = kept.get(product) ?? new PublicFile(cardOf(product), { 'content-type': SVG_TYPE })
    kept.set(product, picture)
    return picture
  }
  return new Routes({ prefix: '/cards', tag: 'Products', public: true, names: 'cards.' }).get(
    '/:id',
    ({ params: { id } }) => pictureOf(foundOr(catalog.shared.find(id), PRODUCT_NOT_FOUND)),
    {
      id: 'getCardPicture',
      summary: 'Get the picture of a product',
      description: 'An SVG without external resources, which can be cached: image_url leads here.',
      params: ProductPath,
      response: {
        description: 'A drawn gift card',
        schema: Type.String(),
        contentType: SVG_TYPE,
        example: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      },
      refuses: { not_found: PRODUCT_NOT_FOUND },
    },
  )
}
