import { Elysia } from 'elysia'
import { LRUCache } from 'lru-cache'
import type { Query } from '../db/database.ts'
import { longPageHeaders } from '../http/pagination.ts'
import { sortOf } from '../http/parameters.ts'
import { StoredResponse } from '../http/stored-response.ts'
import { found } from '../kernel/failure.ts'
import { turns } from '../kernel/turns.ts'
import type { Guard } from '../sessions/guard.ts'
import type { World } from '../worlds/world.ts'
import { type Card, cardOf } from './card.ts'
import { PNG_TYPE, pngOf } from './card-png.ts'
import { SVG_TYPE, svgOf } from './card-svg.ts'
import { agreedDiscounts, type Catalog } from './catalog.ts'
import { PRODUCT_NOT_FOUND } from './errors.ts'
import * as operations from './operations.ts'
import { findOffer, type Product, productDetailWire, quantityMaxFor } from './product.ts'

/** Products and their availability (spec 4.2). Errors leave in the structured shape. */

/** A short page of a small catalog takes 0.1 ms. Others take turns (decision 32), and their responses cost more to send. */
const SHORT_PAGE = 100
const SMALL_CATALOG = 10_000
/** What was made before takes no turn either, if it is short: compressed, that is a page of ten thousand products. */
const SHORT_BYTES = 524_288

interface CatalogRoutesOptions {
  catalog: Catalog
  guard: Guard
  publicUrl: string
  /** How many are left for sale; null if unlimited. */
  stockCovers: (query: Query, world: World, product: Product, denominationMinor: number, quantity: number) => boolean
}

export const productRoutes = ({ catalog, guard, publicUrl, stockCovers }: CatalogRoutesOptions) =>
  new Elysia({ name: 'products', prefix: '/api/v1/products' })
    .use(guard.plugin({ ready: catalog.ready }))
    .get(
      '/',
      ({ query, request, session }) => {
        const agreed = agreedDiscounts(session.world, session.client.id)
        const offered = catalog.in(session.world)
        const sort = sortOf(query, { field: 'id', direction: 'DESC' })
        const make = () => {
          const { category, country_id: countryId, currency_id: currencyId, search } = query
          const found = offered.list({ category, countryId, currencyId, search }, sort, query)
          return new StoredResponse(found.json(agreed), longPageHeaders(query, found.totalCount, found.products.length))
        }
        const name = searchOf(request.url)
        const respond = () => offered.response(name, make, agreed).respond(request)
        if (query.limit <= SHORT_PAGE && offered.size <= SMALL_CATALOG) return respond()
        const sentBytes = offered.findResponse(name, agreed)?.sentBytes(request)
        if (sentBytes !== undefined && sentBytes <= SHORT_BYTES) return respond()
        const respondInTurn = async (): Promise<Response> => {
          await offered.sort(sort.field)
          return turns.take(session.client, () => {
            session.checkAgain()
            return respond()
          })
        }
        return respondInTurn()
      },
      operations.listProducts,
    )
    .get(
      '/:id',
      ({ params: { id }, request, session }) => {
        const agreed = agreedDiscounts(session.world, session.client.id)
        const offered = catalog.in(session.world)
        const make = () => {
          const product = found(offered.find(id), PRODUCT_NOT_FOUND)
          const texts = found(offered.textsOf(product), PRODUCT_NOT_FOUND)
          return new StoredResponse(JSON.stringify(productDetailWire(product, texts, agreed.get(id) ?? 0, publicUrl)))
        }
        return offered.response(String(id), make, agreed).respond(request)
      },
      operations.getProduct,
    )
    .post(
      '/:id/availability',
      ({ params, body: { denomination, quantity }, session }) => {
        session.checkAgain()
        const product = found(catalog.in(session.world).find(params.id), PRODUCT_NOT_FOUND)
        // A quantity or denomination that is not offered is no failure here (contract C9).
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

const KEPT = { 'cache-control': 'public, max-age=86400, immutable' } as const
const SVG_HEADERS = { 'content-type': SVG_TYPE, ...KEPT }
const PNG_HEADERS = { 'content-type': PNG_TYPE, ...KEPT }
/** Of PNGs that were asked for lately: 50 KB each. */
const PNG_COUNT_MAX = 200

/** Public, because browsers send no tokens for images. */
export const cardRoutes = ({ catalog }: { catalog: Catalog }) => {
  const pngs = new LRUCache<string, Promise<StoredResponse>>({ max: PNG_COUNT_MAX })
  const cardIn = (id: number): Card => cardOf(found(catalog.find(id), PRODUCT_NOT_FOUND))
  return new Elysia({ name: 'cards' })
    .get(
      '/cards/:id',
      ({ params: { id }, request }) =>
        catalog.response(`card ${id}`, () => new StoredResponse(svgOf(cardIn(id)), SVG_HEADERS)).respond(request),
      operations.getCardPicture,
    )
    .get(
      '/cards/:id/card.png',
      async ({ params: { id }, request }) => {
        const card = cardIn(id)
        const key = JSON.stringify(card)
        const png = pngs.get(key) ?? pngOf(card).then((bytes) => new StoredResponse(bytes, PNG_HEADERS))
        pngs.set(key, png)
        return (await png).respond(request)
      },
      operations.getCardPng,
    )
}
