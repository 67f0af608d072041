import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Query } from '../db/database.ts'
import { BODY_UNREADABLE, FEATURE_DISABLED, invalidId } from '../http/failures.ts'
import { Json } from '../http/json.ts'
import { listOf, operationsOf, pageOf } from '../http/operation.ts'
import { LONG_PAGE_HEADERS, longPageHeaders } from '../http/pagination.ts'
import { idPath, sortOf } from '../http/parameters.ts'
import { StoredResponse } from '../http/stored-response.ts'
import { found, violation } from '../kernel/failure.ts'
import { turns } from '../kernel/turns.ts'
import type { Guard } from '../sessions/guard.ts'
import type { World } from '../worlds/world.ts'
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
  SUBCATEGORY_NOT_FOUND,
  SubcategorySchema,
} from './contract.ts'
import { findOffer, type Product, quantityMaxFor } from './product.ts'
import type { Named } from './queries.ts'

const ofProducts = operationsOf({
  tag: 'Products',
  tagDescription: 'Gift cards on sale, with availability and prices.',
})
const ofCategories = operationsOf({
  tag: 'Categories',
  tagDescription: 'Groups of products. For accounts with the vouchers feature.',
})

const operations = {
  listProducts: ofProducts({
    id: 'listProducts',
    stored: true,
    summary: 'List products',
    description: 'Products on sale, with the discounts of this client.',
    query: ProductListQuery,
    success: pageOf('A page of products', ProductSchema, LONG_PAGE_HEADERS),
    errors: { 'products.list_validation': violation('limit', 'max', 'must be at most 10000') },
  }),
  getProduct: ofProducts({
    id: 'getProduct',
    stored: true,
    summary: 'Get a product',
    description: 'Includes its terms, description and usage instructions.',
    params: ProductPath,
    success: { status: 200, description: 'The product', schema: ProductDetailSchema },
    errors: { 'products.invalid_id': invalidId('product'), 'products.not_found': PRODUCT_NOT_FOUND },
  }),
  checkAvailability: ofProducts({
    id: 'checkAvailability',
    summary: 'Check whether a denomination is available in a quantity',
    description:
      'Checks denomination, quantity and stock. A denomination that is not offered is not available; that is not an error.',
    params: ProductPath,
    body: AvailabilityBody,
    success: { status: 200, description: 'Whether the purchase could be made now', schema: AvailabilitySchema },
    errors: {
      'availability.invalid_id': invalidId('product'),
      'availability.body_unreadable': BODY_UNREADABLE,
      'availability.validation': violation('quantity', 'required', 'is required'),
      'availability.not_found': PRODUCT_NOT_FOUND,
    },
  }),
  listCategories: ofCategories({
    id: 'listCategories',
    stored: true,
    summary: 'List all active categories',
    description: 'Products can be filtered by category. Inactive categories are never listed.',
    success: listOf('All active categories', CategorySchema),
    errors: { 'categories.feature_disabled': FEATURE_DISABLED },
  }),
  getCategory: ofCategories({
    id: 'getCategory',
    summary: 'Get an active category',
    description: 'An inactive one is not found.',
    params: idPath('category'),
    success: { status: 200, description: 'The category', schema: CategorySchema },
    errors: {
      'categories.feature_disabled': FEATURE_DISABLED,
      'categories.invalid_id': invalidId('category'),
      'categories.not_found': CATEGORY_NOT_FOUND,
    },
  }),
  listSubcategories: ofCategories({
    id: 'listSubcategories',
    stored: true,
    summary: 'List all active subcategories',
    description: 'Each belongs to a category. Inactive subcategories are never listed.',
    success: listOf('All active subcategories', SubcategorySchema),
    errors: { 'subcategories.feature_disabled': FEATURE_DISABLED },
  }),
  getSubcategory: ofCategories({
    id: 'getSubcategory',
    summary: 'Get an active subcategory',
    description: 'An inactive one is not found.',
    params: idPath('subcategory'),
    success: { status: 200, description: 'The subcategory', schema: SubcategorySchema },
    errors: {
      'subcategories.feature_disabled': FEATURE_DISABLED,
      'subcategories.invalid_id': invalidId('subcategory'),
      'subcategories.not_found': SUBCATEGORY_NOT_FOUND,
    },
  }),
}

interface CatalogRoutesOptions {
  catalog: Catalog
  guard: Guard
  publicUrl: string
  /** Whether this many are left for sale. */
  stockCovers: (query: Query, world: World, product: Product, denominationMinor: number, quantity: number) => boolean
}

/** Products and their availability (spec 4.2). */
export const productRoutes = ({ catalog, guard, publicUrl, stockCovers }: CatalogRoutesOptions) =>
  new Elysia({ name: 'products', prefix: '/api/v1/products' })
    .use(guard.plugin({ ready: catalog.ready }))
    .get(
      '/',
      ({ query, request, session }) => {
        const agreed = agreedDiscounts(session.world, session.client.id)
        const offered = catalog.in(session.world)
        const sort = sortOf(query, { field: 'id', direction: 'DESC' })
        const name = searchOf(request.url)
        const page = () =>
          offered.response<Static<typeof ProductSchema>[]>(
            name,
            () => {
              const { category, country_id: countryId, currency_id: currencyId, search } = query
              const { json, totalCount, products } = offered.list(
                { category, countryId, currencyId, search },
                sort,
                query,
              )
              return StoredResponse.of(json(agreed), longPageHeaders(query, totalCount, products.length))
            },
            agreed,
          )
        // To make one takes its turn (decision 32): a client can ask for a hundred long ones at once.
        if (offered.has(name, agreed)) return page()
        return turns.take(session.client, () => {
          session.checkAgain()
          return page()
        })
      },
      operations.listProducts,
    )
    .get(
      '/:id',
      ({ params: { id }, session }) => {
        const agreed = agreedDiscounts(session.world, session.client.id)
        const offered = catalog.in(session.world)
        return offered.response<Static<typeof ProductDetailSchema>>(
          String(id),
          () => {
            const product = found(offered.find(id), PRODUCT_NOT_FOUND)
            const texts = found(offered.textsOf(product), PRODUCT_NOT_FOUND)
            return StoredResponse.of(Json.of(productDetailWire(product, texts, agreed.get(id) ?? 0, publicUrl)))
          },
          agreed,
        )
      },
      operations.getProduct,
    )
    .post(
      '/:id/availability',
      ({ params, body: { denomination, quantity }, session }) => {
        session.checkAgain()
        const product = found(catalog.in(session.world).find(params.id), PRODUCT_NOT_FOUND)
        // A quantity or denomination that is not offered is not a failure here (contract C9).
        const offer = findOffer(product, denomination, 0)
        if (!offer || quantity > quantityMaxFor(product, session.client.quantityMax)) return { is_available: false }
        const { world } = session
        return { is_available: stockCovers(world.db.query, world, product, offer.denominationMinor, quantity) }
      },
      operations.checkAvailability,
    )

const searchOf = (url: string): string => {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}

/** Categories and subcategories (spec 4.3), for accounts with vouchers. */
export const categoryRoutes = ({ catalog, guard }: { catalog: Catalog; guard: Guard }) => {
  const stored = (name: 'categories' | 'subcategories') =>
    catalog.shared.response<Named[]>(name, () => StoredResponse.of(Json.of<Named[]>([...catalog.shared.index[name]])))
  const withId = (name: 'categories' | 'subcategories', id: number) =>
    catalog.shared.index[name].find((named) => named.id === id)
  return new Elysia({ name: 'categories', prefix: '/api/v1' })
    .use(guard.plugin({ feature: 'vouchers', ready: catalog.ready }))
    .get('/categories', () => stored('categories'), operations.listCategories)
    .get(
      '/categories/:id',
      ({ params }) => found(withId('categories', params.id), CATEGORY_NOT_FOUND),
      operations.getCategory,
    )
    .get('/subcategories', () => stored('subcategories'), operations.listSubcategories)
    .get(
      '/subcategories/:id',
      ({ params }) => found(withId('subcategories', params.id), SUBCATEGORY_NOT_FOUND),
      operations.getSubcategory,
    )
}
