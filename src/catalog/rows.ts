import type { Query } from '../db/database.ts'
import { toBasisPoints, toMajor, toMinor, toPercent } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { ProductDocument } from './file-schema.ts'
import { INSTANT, type Product, type ProductChange, type ProductTexts } from './product.ts'
import { type CatalogRows, ownCategories, productRecords } from './queries.ts'

/** Converts products between catalog file and database rows. */

export const append = (rows: CatalogRows, entry: ProductDocument, reference: Reference): void => {
  const country = reference.findCountryByAlpha3(entry.country)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!country || !currency) return
  const { bands, ...terms } = changeOf(entry, currency) as Required<ProductChange> // an entry has all of them
  rows.products.push({
    ...terms,
    id: entry.id,
    name: entry.name,
    category: entry.category,
    subCategory: entry.sub_category,
    countryId: country.id,
    currencyId: currency.id,
    imageUrl: entry.image_url ?? null,
    deliveryMode: entry.delivery_mode.toLowerCase() === 'physical' ? 'physical' : 'digital',
    deliveryTime: entry.delivery_time.toLowerCase() === INSTANT ? INSTANT : entry.delivery_time,
    validity: entry.validity,
    terms: entry.terms,
    details: entry.details,
    howToUse: entry.how_to_use,
  })
  for (const [position, band] of bands.entries()) rows.bands.push({ productId: entry.id, position, ...band })
}

/** The catalog file of a database, from which `readCatalog` reads the same rows. */
export const writeCatalog = (query: Query, reference: Reference): string => {
  const products = [...productRecords(query).values()].map(({ row, bands }) =>
    entryOf({
      ...row,
      country: reference.getCountry(row.countryId),
      currency: reference.getCurrency(row.currencyId),
      bands,
    }),
  )
  return `${JSON.stringify({ ...ownCategories(query), products }, null, 2)}\n`
}

/** A product as an entry of a catalog file. */
export const entryOf = (product: Product & ProductTexts): ProductDocument => ({
  id: product.id,
  name: product.name,
  category: product.category,
  sub_category: product.subCategory,
  country: product.country.alpha_3,
  currency: product.currency.currency,
  ...(product.imageUrl !== null && { image_url: product.imageUrl }),
  delivery_mode: product.deliveryMode,
  delivery_time: product.deliveryTime,
  validity: product.validity,
  terms: product.terms,
  details: product.details,
  how_to_use: product.howToUse,
  ...termsOf(product),
})

/** The members of an entry that a world can change. */
export type ProductTerms = Pick<
  ProductDocument,
  'active' | 'stock' | 'max_quantity' | 'gst_percent' | 'handling_fee' | 'denominations'
>

const termsOf = ({ currency: { precision }, ...product }: Product): ProductTerms => ({
  active: product.active,
  stock: product.stock,
  max_quantity: product.quantityMax,
  gst_percent: toPercent(product.gstBasisPoints),
  handling_fee: { fixed: toMajor(product.feeFixedMinor, precision), percent: toPercent(product.feeBasisPoints) },
  denominations: product.bands.map((band) => ({
    min_value: toMajor(band.minMinor, precision),
    max_value: toMajor(band.maxMinor, precision),
    discount: toPercent(band.discountBasisPoints),
  })),
})

/** The product change that validated terms make. */
export const changeOf = (terms: Partial<ProductTerms>, { precision }: Currency): ProductChange => {
  const { active, stock, max_quantity: quantityMax, gst_percent: gst, handling_fee: fee, denominations } = terms
  const minor = (value: number): number => toMinor(value, precision) ?? 0
  const change: ProductChange = {}
  if (active !== undefined) change.active = active
  if (stock !== undefined) change.stock = stock
  if (quantityMax !== undefined) change.quantityMax = quantityMax
  if (gst !== undefined) change.gstBasisPoints = toBasisPoints(gst) ?? 0
  if (fee) change.feeFixedMinor = minor(fee.fixed)
  if (fee) change.feeBasisPoints = toBasisPoints(fee.percent) ?? 0
  if (denominations)
    change.bands = denominations.map(({ min_value, max_value, discount }) => ({
      minMinor: minor(min_value),
      maxMinor: minor(max_value),
      discountBasisPoints: toBasisPoints(discount) ?? 0,
    }))
  return change
}
