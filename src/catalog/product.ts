import { toMajor, toMinor, toPercent } from '../kernel/money.ts'
import type { Country, Currency } from '../reference/reference.ts'
import type { products } from './tables.ts'

/** A range of denominations and the discount on it (spec 2.2). A fixed denomination is a range of one. */
export interface Band {
  /** Minor units of the product's currency, both ends included. */
  minMinor: number
  maxMinor: number
  discountBasisPoints: number
}

/** The three texts that only a product by itself shows. */
export type ProductTexts = Pick<typeof products.$inferSelect, 'terms' | 'details' | 'howToUse'>

/** A product that is sold: its row, with what the row refers to. */
export interface Product extends Omit<typeof products.$inferSelect, 'countryId' | 'currencyId' | keyof ProductTexts> {
  country: Country
  currency: Currency
  bands: readonly Band[]
}

/** The product as a client buys it: each band at the better of its own discount and the one agreed (contract C8). */
const bandsFor = (product: Product, agreedBasisPoints: number): readonly Band[] =>
  agreedBasisPoints === 0
    ? product.bands
    : product.bands.map((band) => ({
        ...band,
        discountBasisPoints: Math.max(band.discountBasisPoints, agreedBasisPoints),
      }))

/** The delivery time of what is delivered in the answer, as it is kept. */
export const INSTANT = 'instant'

const NO_EXPIRY = 'no expiry'

/** Whether codes are good for ever. */
export const neverExpires = (validity: string | undefined): boolean => validity?.toLowerCase() === NO_EXPIRY

/** How many cards one purchase may hold: the smaller of the product's maximum and the client's (contract C9). */
export const quantityMaxFor = (product: Product, clientQuantityMax: number | null): number =>
  Math.min(product.quantityMax, clientQuantityMax ?? product.quantityMax)

/** A denomination that is offered, and at what discount. */
export interface Offer {
  denominationMinor: number
  discountBasisPoints: number
}

/**
 * The offer for a denomination in major units: the best discount among the bands that it fits. Undefined when it fits
 * none, or has more decimals than the currency (contract C9).
 */
export const findOffer = (product: Product, denomination: number, agreedBasisPoints: number): Offer | undefined => {
  const denominationMinor = toMinor(denomination, product.currency.precision)
  if (denominationMinor === undefined) return undefined
  let best = -1
  for (const band of product.bands) {
    if (denominationMinor < band.minMinor || denominationMinor > band.maxMinor) continue
    best = Math.max(best, band.discountBasisPoints, agreedBasisPoints)
  }
  return best === -1 ? undefined : { denominationMinor, discountBasisPoints: best }
}

/** Bands as they are on the wire (spec 2.2). */
export const bandsWire = (product: Product, agreedBasisPoints: number) =>
  bandsFor(product, agreedBasisPoints).map((band) => ({
    min_value: toMajor(band.minMinor, product.currency.precision),
    max_value: toMajor(band.maxMinor, product.currency.precision),
    discount: toPercent(band.discountBasisPoints),
  }))

/** A product in a list (spec 2.2). */
export const productWire = (product: Product, agreedBasisPoints: number, publicUrl: string) => ({
  id: product.id,
  name: product.name,
  category: product.category,
  sub_category: product.subCategory,
  country_code: product.country.alpha3,
  currency_code: product.currency.currency,
  image_url: product.imageUrl ?? `${publicUrl}${cardPath(product.id)}`,
  delivery_mode: product.deliveryMode,
  delivery_time: product.deliveryTime,
  validity: product.validity,
  available_denominations: bandsWire(product, agreedBasisPoints),
})

/** A product by itself: with the three long texts (spec 4.2). */
export const productDetailWire = (
  product: Product,
  { terms, details, howToUse }: ProductTexts,
  agreedBasisPoints: number,
  publicUrl: string,
) => {
  const { available_denominations, ...listed } = productWire(product, agreedBasisPoints, publicUrl)
  return {
    ...listed,
    terms,
    details,
    how_to_use: howToUse,
    available_denominations,
  }
}

/** Where the program serves the picture of a product. */
export const cardPath = (productId: number): string => `/cards/${productId}`
