import type { Random } from './random.ts'

/** Amounts in major units, discount in percent. Equal amounts make a fixed denomination. */
export interface Band {
  min_value: number
  max_value: number
  discount: number
}

export type Pricing = 'fixed' | 'range' | 'mixed' | 'tiered' | 'overlapping'

/** The amounts at which cards of a currency are usually sold, ascending. */
export type Steps = [number, number, number, number, number, number, number]

/** The discount in percent by band, counted from 0. */
type DiscountPlan = (band: number) => number

const DISCOUNT_PERCENT_MAX = 15

export const bandsOf = (pricing: Pricing, steps: Steps, precision: number, random: Random): Band[] => {
  switch (pricing) {
    case 'fixed':
      return fixedBands(steps, random)
    case 'range':
      return [{ min_value: steps[0], max_value: random.pick([steps[5], steps[6]]), discount: anyPlan(random)(0) }]
    case 'mixed':
      return mixedBands(steps, anyPlan(random))
    case 'tiered':
      return tieredBands(steps, precision, growing(random))
    case 'overlapping':
      return overlappingBands(steps, growing(random))
  }
}

const fixedBands = (steps: Steps, random: Random): Band[] => {
  const first = random.pick([0, 1])
  const amounts = steps.slice(first, first + random.pick([3, 4, 5, 6]))
  const discountOf = anyPlan(random)
  return amounts.map((amount, band) => fixed(amount, discountOf(band)))
}

const mixedBands = (steps: Steps, discountOf: DiscountPlan): Band[] => [
  fixed(steps[0], discountOf(0)),
  fixed(steps[1], discountOf(1)),
  { min_value: steps[2], max_value: steps[5], discount: discountOf(2) },
]

/** Ranges that share no amount: each ends one minor unit below the next. */
const tieredBands = (steps: Steps, precision: number, discountOf: DiscountPlan): Band[] => {
  const justBelow = (amount: number): number => Number((amount - 10 ** -precision).toFixed(precision))
  return [
    { min_value: steps[0], max_value: justBelow(steps[2]), discount: discountOf(0) },
    { min_value: steps[2], max_value: justBelow(steps[4]), discount: discountOf(1) },
    { min_value: steps[4], max_value: steps[6], discount: discountOf(2) },
  ]
}

/** Ranges that share amounts at different discounts, so that the better one has to be found. */
const overlappingBands = (steps: Steps, discountOf: DiscountPlan): Band[] => [
  { min_value: steps[0], max_value: steps[4], discount: discountOf(0) },
  { min_value: steps[2], max_value: steps[6], discount: discountOf(1) },
  fixed(steps[3], discountOf(2)),
]

const fixed = (amount: number, discount: number): Band => ({ min_value: amount, max_value: amount, discount })

const anyPlan = (random: Random): DiscountPlan => random.pick([none, flat, flat, growing])(random)

const none = (): DiscountPlan => () => 0

const flat = (random: Random): DiscountPlan => {
  const discount = random.pick([1, 1.5, 2, 2.5, 3, 3.75, 4, 5, 6, 7.5, 8.25, 10, 12.5, 15])
  return () => discount
}

const growing = (random: Random): DiscountPlan => {
  const start = random.pick([0, 1, 1.5, 2.5, 4])
  const rise = random.pick([0.5, 0.75, 1, 1.25, 2])
  return (band) => Math.min(start + band * rise, DISCOUNT_PERCENT_MAX)
}
