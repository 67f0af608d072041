import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { LRUCache } from 'lru-cache'
import { invalidId } from '../http/failures.ts'
import { operationsOf } from '../http/operation.ts'
import { StoredResponse } from '../http/stored-response.ts'
import { found } from '../kernel/failure.ts'
import { type Card, cardOf } from './card.ts'
import { PNG_TYPE, pngOf } from './card-png.ts'
import { SVG_TYPE, svgOf } from './card-svg.ts'
import type { Catalog } from './catalog.ts'
import { PRODUCT_NOT_FOUND, ProductPath } from './contract.ts'

const operation = operationsOf({ tag: 'Products', public: true })

const getSvg = operation({
  id: 'getCardPicture',
  stored: true,
  summary: 'Get the picture of a product',
  description:
    'An SVG without external resources, which can be cached: image_url leads here. With `/card.png` behind it, image_url leads to a PNG.',
  params: ProductPath,
  success: {
    status: 200,
    description: 'A drawn gift card',
    schema: Type.String(),
    contentType: SVG_TYPE,
    example: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  },
  errors: { 'cards.invalid_id': invalidId('product'), 'cards.not_found': PRODUCT_NOT_FOUND },
})
const getPng = operation({
  id: 'getCardPng',
  stored: true,
  summary: 'Get the picture of a product as a PNG',
  description:
    'The same picture for mail programs and apps that draw no SVG, 640 by 400 pixels. Letters other than Latin, Greek and Cyrillic are left out.',
  params: ProductPath,
  success: {
    status: 200,
    description: 'A drawn gift card',
    schema: Type.String({ format: 'binary' }),
    contentType: PNG_TYPE,
    example: '',
  },
  errors: { 'card_pngs.invalid_id': invalidId('product'), 'card_pngs.not_found': PRODUCT_NOT_FOUND },
})

const KEPT = { 'cache-control': 'public, max-age=86400, immutable' } as const
/** Of PNGs that were asked for lately: 50 KB each. */
const PNG_COUNT_MAX = 200

/** The pictures of products. They are public, because browsers send no tokens for images. */
export const cardRoutes = ({ catalog }: { catalog: Catalog }) => {
  const pngs = new LRUCache<string, Promise<StoredResponse<string>>>({ max: PNG_COUNT_MAX })
  const cardIn = (id: number): Card => cardOf(found(catalog.shared.find(id), PRODUCT_NOT_FOUND))
  const drawn = (type: string, picture: string | Uint8Array) =>
    new StoredResponse<string>(picture, { 'content-type': type, ...KEPT })
  return new Elysia({ name: 'cards', prefix: '/cards/:id' })
    .get(
      '',
      ({ params: { id } }) => catalog.shared.response<string>(`card ${id}`, () => drawn(SVG_TYPE, svgOf(cardIn(id)))),
      getSvg,
    )
    .get(
      '/card.png',
      async ({ params: { id } }) => {
        const card = cardIn(id)
        const key = JSON.stringify(card)
        const png = pngs.get(key) ?? pngOf(card).then((bytes) => drawn(PNG_TYPE, bytes))
        pngs.set(key, png)
        return png
      },
      getPng,
    )
}
