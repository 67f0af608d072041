import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Query } from '../db/database.ts'
import { readObject } from '../http/body.ts'
import { documented } from '../http/legacy-operation.ts'
import { LONG_PAGE_HEADERS } from '../http/operation.ts'
import { longPageHeaders } from '../http/pagination.ts'
import { idTextFilter, pageQuery, sortQuery } from '../http/parameters.ts'
import { Prepared } from '../http/prepared.ts'
import { pathId, QueryReader, readSort } from '../http/query.ts'
import { bodyCheck } from '../http/validation.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { World } from '../worlds/world.ts'
import { CARD_TYPE, drawCard } from './card.ts'
import { agreedDiscounts, type Catalog } from './catalog.ts'
import { findOffer, type Product, productDetailWire, quantityMaxFor } from './product.ts'
import { SORT_FIELDS } from './product-index.ts'
import { BandSchema, Denomination, ProductPath, Quantity } from './schemas.ts'

/** Products and their availability (spec 4.2). Errors leave in the structured shape. */

const PAGE = { limitDefault: 50, limitMax: 10_000 }

const AvailabilityBody = Type.Object(
  { denomination: Denomination, quantity: Quantity },
  { title: 'AvailabilityRequest' },
)
const checkAvailability = bodyCheck(AvailabilityBody)

const listedFields = {
  id: Type.Integer(),
  name: Type.String(),
  category: Type.String(),
  sub_category: Type.String(),
  country_code: Type.String({ description: 'ISO 3166-1 alpha-3' }),
  currency_code: Type.String({ description: 'ISO 4217' }),
  image_url: Type.String(),
  delivery_mode: Type.String({ description: 'digital or physical' }),
  delivery_time: Type.String(),
  validity: Type.String(),
}
const detailFields = {
  terms: Type.String({ description: 'Terms and conditions' }),
  details: Type.String({ description: 'Product description' }),
  how_to_use: Type.String({ description: 'Usage instructions' }),
}
const bandsField = { available_denominations: Type.Array(BandSchema) }
const ProductSchema = Type.Object({ ...listedFields, ...bandsField }, { title: 'Product' })
const ProductDetailSchema = Type.Object({ ...listedFields, ...detailFields, ...bandsField }, { title: 'ProductDetail' })

const PRODUCT_EXAMPLE = {
  id: 1,
  name: 'Kettle & Crumb India',
  category: 'Food & Dining',
  sub_category: 'Cafes & Bakeries',
  country_code: 'IND',
  currency_code: 'INR',
  image_url: 'http://127.0.0.1:4747/cards/1',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  available_denominations: [
    { min_value: 100, max_value: 100, discount: 2.5 },
    { min_value: 250, max_value: 250, discount: 2.5 },
    { min_value: 500, max_value: 500, discount: 2.5 },
    { min_value: 1000, max_value: 1000, discount: 2.5 },
  ],
}
const DETAIL_EXAMPLE = {
  ...PRODUCT_EXAMPLE,
  terms:
    'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
  details:
    'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
  how_to_use:
    'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
}

const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  category: Type.Optional(Type.String({ description: 'The name of a category, in either case' })),
  country_id: idTextFilter('country'),
  currency_id: idTextFilter('currency'),
  search: Type.Optional(Type.String({ description: 'A part of the name, in either case' })),
  ...sortQuery(SORT_FIELDS),
})

export interface CatalogRoutesOptions {
  catalog: Catalog
  guard: Guard
  publicUrl: string
  /** How many of a denomination could still be sold; null when there is no end of them. */
  stockLeft: (query: Query, world: World, product: Product, denominationMinor: number) => number | null
}

export const productRoutes = ({ catalog, guard, publicUrl, stockLeft }: CatalogRoutesOptions) =>
  new Elysia({ name: 'products', prefix: '/api/v1/products' })
    .use(guard.plugin())
    .get(
      '/',
      ({ request: { url }, session }) => {
        const agreed = agreedDiscounts(session.world, session.client.id)
        return catalog.answer(queryOf(url), () => readPage(catalog, url, agreed), agreed)
      },
      documented({
        id: 'listProducts',
        prepared: true,
        fast: true,
        tag: 'Products',
        summary: 'List products',
        description: 'Products on sale, at the discounts that hold for this client.',
        query: ListQuery,
        success: {
          status: 200,
          description: 'A page of products',
          schema: Type.Array(ProductSchema),
          example: [PRODUCT_EXAMPLE],
          headers: LONG_PAGE_HEADERS,
        },
        refusals: {
          'products.list_validation': {
            code: 'validation',
            violations: [{ field: 'limit', rule: 'max', problem: 'must be at most 10000' }],
          },
        },
      }),
    )
    .get(
      '/:id',
      ({ params, session }) => {
        const id = pathId(params.id, 'product')
        const agreed = agreedDiscounts(session.world, session.client.id)
        const make = () => {
          const product = found(catalog.find(id), 'product')
          const texts = found(catalog.textsOf(product), 'product')
          return new Prepared(JSON.stringify(productDetailWire(product, texts, agreed.get(id) ?? 0, publicUrl)))
        }
        return catalog.answer(params.id, make, agreed)
      },
      documented({
        id: 'getProduct',
        prepared: true,
        fast: true,
        tag: 'Products',
        summary: 'Get a product',
        description: 'With its terms, its description and how to use it.',
        path: ProductPath,
        success: { status: 200, description: 'The product', schema: ProductDetailSchema, example: DETAIL_EXAMPLE },
        refusals: {
          'products.invalid_id': { code: 'invalid_id', resource: 'product' },
          'products.not_found': { code: 'not_found', resource: 'product' },
        },
      }),
    )
    .post(
      '/:id/availability',
      async ({ params, request, session }) => {
        const id = pathId(params.id, 'product')
        const sent = await readObject(request)
        session.checkAgain()
        const { denomination, quantity } = checkAvailability(sent)
        const product = found(catalog.find(id), 'product')
        // A quantity above the maximum and a denomination that is not offered are no errors here (contract C9).
        const offer = findOffer(product, denomination, 0)
        if (!offer || quantity > quantityMaxFor(product, session.client.quantityMax)) return { is_available: false }
        const left = stockLeft(session.world.db.query, session.world, product, offer.denominationMinor)
        return { is_available: left === null || quantity <= left }
      },
      documented({
        id: 'checkAvailability',
        tag: 'Products',
        summary: 'Check whether a denomination is available in a quantity',
        description: 'Weighs denomination, quantity and stock. What is not offered is not available, and no error.',
        path: ProductPath,
        body: { schema: AvailabilityBody, example: { denomination: 100, quantity: 2 } },
        success: {
          status: 200,
          description: 'Whether the purchase could be made now',
          schema: Type.Object({ is_available: Type.Boolean() }, { title: 'Availability' }),
          example: { is_available: true },
        },
        refusals: {
          'availability.invalid_id': { code: 'invalid_id', resource: 'product' },
          'availability.body_unreadable': { code: 'body_unreadable' },
          'availability.validation': {
            code: 'validation',
            violations: [{ field: 'quantity', rule: 'required', problem: 'is required' }],
          },
          'availability.not_found': { code: 'not_found', resource: 'product' },
        },
      }),
    )

const queryOf = (url: string): string => {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}

/** The page that a query asks for. @throws DomainError validation */
const readPage = (catalog: Catalog, url: string, agreed: ReadonlyMap<number, number>): Prepared => {
  const query = new QueryReader(url)
  const page = query.page(PAGE)
  const filter = {
    category: query.text('category'),
    countryId: query.id('country_id'),
    currencyId: query.id('currency_id'),
    search: query.text('search'),
  }
  const sort = readSort(query, SORT_FIELDS, { field: 'id', direction: 'DESC' })
  query.finish()
  const { totalCount, pageSize, json } = catalog.list(filter, sort, page)
  return new Prepared(json(agreed), longPageHeaders(page, totalCount, pageSize))
}

const CARD_HEADERS = { 'content-type': CARD_TYPE, 'cache-control': 'public, max-age=86400, immutable' }

/** The pictures that products link to: public, because browsers send no tokens for images. */
export const cardRoutes = ({ catalog }: { catalog: Catalog }) =>
  new Elysia({ name: 'cards' }).get(
    '/cards/:id',
    ({ params }) => {
      const id = pathId(params.id, 'product')
      return catalog.answer(
        `card ${id}`,
        () => new Prepared(drawCard(found(catalog.find(id), 'product')), CARD_HEADERS),
      )
    },
    documented({
      id: 'getCardPicture',
      prepared: true,
      tag: 'Products',
      summary: 'Get the picture of a product',
      description: 'An SVG that loads nothing and never changes: image_url leads here, and browsers may keep it.',
      public: true,
      path: ProductPath,
      success: {
        status: 200,
        description: 'A drawn gift card',
        schema: Type.String(),
        contentType: CARD_TYPE,
        example: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      },
      refusals: {
        'cards.invalid_id': { code: 'invalid_id', resource: 'product' },
        'cards.not_found': { code: 'not_found', resource: 'product' },
      },
    }),
  )
