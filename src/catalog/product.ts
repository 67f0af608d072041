import { toMinor } from '../kernel/money.ts'
import type { Country, Currency } from '../reference/reference.ts'
import type { products } from './tables.ts'

/** A range of denominations with its discount (spec 2.2). A fixed denomination is a range of one. */
interface Band {
  /** In minor units of the product's currency; both ends are included. */
  minMinor: number
  maxMinor: number
  discountBasisPoints: number
}

/** Texts that lists do not show. */
export type ProductTexts = Pick<typeof products.$inferSelect, 'terms' | 'details' | 'howToUse'>

/** A product row with the records that it refers to. */
export interface Product extends Omit<typeof products.$inferSelect, 'countryId' | 'currencyId' | keyof ProductTexts> {
  country: Country
  currency: Currency
  bands: readonly Band[]
}

/** The members of a product that one world can change; lists sort and filter by none of them. */
export type ProductChange = Partial<
  Pick<Product, 'active' | 'stock' | 'quantityMax' | 'gstBasisPoints' | 'feeFixedMinor' | 'feeBasisPoints' | 'bands'>
>

/** The delivery time of products that are delivered in the response. */
export const INSTANT = 'instant'

export const neverExpires = (validity: string | undefined): boolean => validity?.toLowerCase() === 'no expiry'

/** The smaller of the product's maximum and the client's (contract C9). */
export const quantityMaxFor = (product: Product, clientQuantityMax: number | null): number =>
  Math.min(product.quantityMax, clientQuantityMax ?? product.quantityMax)

interface Offer {
  denominationMinor: number
  discountBasisPoints: number
}

/**
 * The best discount for a denomination in major units. Undefined if it is not offered, or has more decimals than the
 * currency (contract C9).
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
