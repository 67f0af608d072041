import type { Dice } from './dice.ts'

/** One band of amounts in major units with the discount, in percent, that it gets. Equal ends make a fixed amount. */
export type Band = { min_value: number; max_value: number; discount: number }

/** How a brand prices its cards. */
export type Pricing = 'fixed' | 'range' | 'mixed' | 'tiered' | 'overlapping'

/** The seven amounts at which cards of a currency are usually sold, smallest first. */
export type Steps = [number, number, number, number, number, number, number]

/** The discount, in percent, of the first, second, third band and so on. */
type DiscountPlan = (band: number) => number

const discountPercentMax = 15

/** The bands of one product. */
export function bandsOf(pricing: Pricing, steps: Steps, precision: number, dice: Dice): Band[] {
  switch (pricing) {
    case 'fixed':
      return fixedBands(steps, dice)
    case 'range':
      return [{ min_value: steps[0], max_value: dice.pick([steps[5], steps[6]]), discount: anyPlan(dice)(0) }]
    case 'mixed':
      return mixedBands(steps, anyPlan(dice))
    case 'tiered':
      return tieredBands(steps, precision, growing(dice))
    case 'overlapping':
      return overlappingBands(steps, growing(dice))
  }
}

function fixedBands(steps: Steps, dice: Dice): Band[] {
  const first = dice.pick([0, 1])
  const amounts = steps.slice(first, first + dice.pick([3, 4, 5, 6]))
  const discountOf = anyPlan(dice)
  return amounts.map((amount, band) => fixed(amount, discountOf(band)))
}

/** Two small amounts as they hang in shops, and anything from the third step on. */
function mixedBands(steps: Steps, discountOf: DiscountPlan): Band[] {
  return [
    fixed(steps[0], discountOf(0)),
    fixed(steps[1], discountOf(1)),
    { min_value: steps[2], max_value: steps[5], discount: discountOf(2) },
  ]
}

/** Three ranges that meet without sharing an amount: each ends one minor unit below the next. */
function tieredBands(steps: Steps, precision: number, discountOf: DiscountPlan): Band[] {
  const justBelow = (amount: number): number => Number((amount - 10 ** -precision).toFixed(precision))
  return [
    { min_value: steps[0], max_value: justBelow(steps[2]), discount: discountOf(0) },
    { min_value: steps[2], max_value: justBelow(steps[4]), discount: discountOf(1) },
    { min_value: steps[4], max_value: steps[6], discount: discountOf(2) },
  ]
}

/** Bands that share amounts at different discounts, so that the better one has to be found. */
function overlappingBands(steps: Steps, discountOf: DiscountPlan): Band[] {
  return [
    { min_value: steps[0], max_value: steps[4], discount: discountOf(0) },
    { min_value: steps[2], max_value: steps[6], discount: discountOf(1) },
    fixed(steps[3], discountOf(2)),
  ]
}

function fixed(amount: number, discount: number): Band {
  return { min_value: amount, max_value: amount, discount }
}

function anyPlan(dice: Dice): DiscountPlan {
  return dice.pick([none, flat, flat, growing])(dice)
}

function none(): DiscountPlan {
  return () => 0
}

function flat(dice: Dice): DiscountPlan {
  const discount = dice.pick([1, 1.5, 2, 2.5, 3, 3.75, 4, 5, 6, 7.5, 8.25, 10, 12.5, 15])
  return () => discount
}

function growing(dice: Dice): DiscountPlan {
  const start = dice.pick([0, 1, 1.5, 2.5, 4])
  const rise = dice.pick([0.5, 0.75, 1, 1.25, 2])
  return (band) => Math.min(start + band * rise, discountPercentMax)
}
