import type { Query } from '../db/database.ts'
import { toBasisPoints, toMajor, toMinor, toPercent } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { ProductDocument } from './file-schema.ts'
import { INSTANT } from './product.ts'
import { type CatalogRows, ownCategories, type ProductRecord, productRecords } from './queries.ts'

/** Converts products between catalog file and database rows. */

export const append = (rows: CatalogRows, entry: ProductDocument, reference: Reference): void => {
  const country = reference.findCountryByAlpha3(entry.country)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!country || !currency) return
  const minor = (value: number): number => toMinor(value, currency.precision) ?? 0
  rows.products.push({
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
    active: entry.active,
    stock: entry.stock,
    quantityMax: entry.max_quantity,
    gstBasisPoints: toBasisPoints(entry.gst_percent) ?? 0,
    feeFixedMinor: minor(entry.handling_fee.fixed),
    feeBasisPoints: toBasisPoints(entry.handling_fee.percent) ?? 0,
  })
  entry.denominations.forEach((band, position) => {
    rows.bands.push({
      productId: entry.id,
      position,
      minMinor: minor(band.min_value),
      maxMinor: minor(band.max_value),
      discountBasisPoints: toBasisPoints(band.discount) ?? 0,
    })
  })
}

/** The catalog file of a database, from which `readCatalog` reads the same rows. */
export const writeCatalog = (query: Query, reference: Reference): string => {
  const products = [...productRecords(query).values()].map((record) => entryOf(record, reference))
  return `${JSON.stringify({ ...ownCategories(query), products }, null, 2)}\n`
}

const entryOf = ({ row, bands }: ProductRecord, reference: Reference): ProductDocument => {
  const currency = reference.getCurrency(row.currencyId)
  const major = (minor: number): number => toMajor(minor, currency.precision)
  return {
    id: row.id,
    name: row.name,
    category: row.category,
    sub_category: row.subCategory,
    country: reference.getCountry(row.countryId).alpha3,
    currency: currency.currency,
    ...(row.imageUrl !== null && { image_url: row.imageUrl }),
    delivery_mode: row.deliveryMode,
    delivery_time: row.deliveryTime,
    validity: row.validity,
    terms: row.terms,
    details: row.details,
    how_to_use: row.howToUse,
    active: row.active,
    stock: row.stock,
    max_quantity: row.quantityMax,
    gst_percent: toPercent(row.gstBasisPoints),
    handling_fee: { fixed: major(row.feeFixedMinor), percent: toPercent(row.feeBasisPoints) },
    denominations: bands.map((band) => ({
      min_value: major(band.minMinor),
      max_value: major(band.maxMinor),
      discount: toPercent(band.discountBasisPoints),
    })),
  }
}
