import { Type } from '@sinclair/typebox'
import { Routes } from '../http/route-lines.ts'
import { found } from '../kernel/failure.ts'
import { cardOf, SVG_TYPE } from './card.ts'
import type { Catalog } from './catalog.ts'
import { PRODUCT_NOT_FOUND, ProductPath } from './contract.ts'

/** The pictures of products. They are public, because browsers send no tokens for images. */
export const cardRoutes = ({ catalog }: { catalog: Catalog }) =>
  new Routes({ prefix: '/cards', tag: 'Products', public: true, names: 'cards.' }).get(
    '/:id',
    ({ params: { id }, set }) => {
      const card = cardOf(found(catalog.shared.find(id), PRODUCT_NOT_FOUND))
      set.headers['content-type'] = SVG_TYPE
      set.headers['cache-control'] = 'public, max-age=86400, immutable'
      return card
    },
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
