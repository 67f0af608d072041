import { catalogEntry } from '../../catalog/entry.ts'

/** The products of the company: in three currencies, all of one value. */

const PLACES = [
  { currency: 'USD', country: 'USA', values: [10, 25, 50] },
  { currency: 'EUR', country: 'DEU', values: [10, 20, 50] },
  { currency: 'INR', country: 'IND', values: [500, 1_000] },
] as const
/** The number of products, of five, that are delivered at once. */
const INSTANT_OF_FIVE = 3

export interface Product {
  id: number
  value: number
}

const placeOf = (id: number) => PLACES[id % PLACES.length] ?? PLACES[0]
const denominationOf = (id: number): number => {
  const { values } = placeOf(id)
  return values[Math.floor(id / PLACES.length) % values.length] ?? values[0]
}

export const productsOf = (count: number): Product[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, value: denominationOf(index + 1) }))

export const catalogOf = (products: readonly Product[]): string =>
  JSON.stringify({
    products: products.map(({ id, value }) =>
      catalogEntry({
        id,
        name: `Card ${id}`,
        country: placeOf(id).country,
        currency: placeOf(id).currency,
        delivery_time: id % 5 < INSTANT_OF_FIVE ? 'instant' : '3 days',
        gst_percent: id % 7 === 0 ? 18 : 0,
        denominations: [{ min_value: value, max_value: value, discount: (id % 10) / 2 }],
      }),
    ),
  })

/** Codes of all products, as a file for `scrip vouchers import`. */
export const codesOf = (products: readonly Product[], delivery: string, each: number): string =>
  products
    .flatMap(({ id, value }) =>
      Array.from({ length: each }, (_, index) =>
        JSON.stringify({
          product_id: id,
          denomination: value,
          card_number: `${delivery}-${id}-${index}`,
          pin_code: String(index),
        }),
      ),
    )
    .join('\n')
