import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chargeWire } from '../../src/charges/contract.ts'
import { type PriceInputs, priceOf } from '../../src/charges/price.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { AMOUNT_MINOR_MAX } from '../../src/kernel/money.ts'
import { type Fraction, fraction, isEqual, minus, percent, plus, rounded, times, unitsOf } from '../kernel/fraction.ts'
import { holds, wholeUpTo } from '../kernel/property.ts'

/** A purchase in the words of the contract: decimals as they are written. */
interface Purchase {
  denomination: Fraction
  quantity: Fraction
  discount: Fraction
  gst: Fraction
  feeFixed: Fraction
  feePercent: Fraction
  rate: Fraction | undefined
  conversion: Fraction
  sourceDecimals: number
  walletDecimals: number
}

/** The eight steps of contract C9, in fractions, each published amount rounded once. */
const chargesOf = (purchase: Purchase) => {
  const { sourceDecimals, walletDecimals, rate } = purchase
  const nonDiscountedTotal = times(purchase.denomination, purchase.quantity)
  const discountAmount = rounded(percent(nonDiscountedTotal, purchase.discount), sourceDecimals)
  const totalAmount = minus(nonDiscountedTotal, discountAmount)
  const netAmount = rate ? rounded(times(totalAmount, rate), walletDecimals) : totalAmount
  const gstAmount = rounded(percent(netAmount, purchase.gst), walletDecimals)
  const fixed = rate ? times(purchase.feeFixed, rate) : purchase.feeFixed
  const handlingFeeAmount = rounded(plus(fixed, percent(netAmount, purchase.feePercent)), walletDecimals)
  const conversionFee = rate && rounded(percent(netAmount, purchase.conversion), walletDecimals)
  const withoutConversion = plus(plus(netAmount, gstAmount), handlingFeeAmount)
  return {
    inSource: { non_discounted_total: nonDiscountedTotal, discount_amount: discountAmount, total_amount: totalAmount },
    inWallet: {
      net_amount: netAmount,
      gst_amount: gstAmount,
      handling_fee_amount: handlingFeeAmount,
      total_payable: conversionFee ? plus(withoutConversion, conversionFee) : withoutConversion,
    },
    conversionFee,
  }
}

const currency = (id: number, precision: number) => ({ id, name: `Currency ${id}`, currency: `C0${id}`, precision })
const unit = (count: number, decimals: number): Fraction => ({ over: BigInt(count), under: 10n ** BigInt(decimals) })
const basisPoints = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(0, 1, 250, 1_800, 10_000))

const inputs: fc.Arbitrary<PriceInputs> = fc
  .record({
    from: fc.constantFrom(0, 2, 3),
    to: fc.constantFrom(0, 2, 3),
    /** From a hundredth, or one where there are no hundredths, to a billion. */
    denomination: wholeUpTo(1_000_000_000),
    decimals: fc.integer({ min: 0, max: 999 }),
    quantity: fc.oneof(fc.integer({ min: 1, max: 1_000 }), wholeUpTo(Number.MAX_SAFE_INTEGER - 1)),
    rateE8: fc.option(
      wholeUpTo(AMOUNT_MINOR_MAX - 1).map((rate) => rate + 1),
      { nil: undefined },
    ),
    discountBasisPoints: basisPoints,
    gstBasisPoints: basisPoints,
    feeFixedMinor: wholeUpTo(1_000_000_000_000),
    feeBasisPoints: basisPoints,
    conversionBasisPoints: basisPoints,
  })
  .map(({ from, to, denomination, decimals, quantity, rateE8, ...rest }) => {
    const scale = 10 ** from
    const minor = denomination * scale + (decimals % scale)
    return {
      ...rest,
      denominationMinor: Math.min(Math.max(1, minor), 1_000_000_000 * scale),
      quantity: Math.max(1, quantity),
      rateE8,
      source: currency(1, from),
      destination: rateE8 === undefined ? currency(1, from) : currency(2, to),
    }
  })

const purchaseOf = (given: PriceInputs): Purchase => ({
  denomination: unit(given.denominationMinor, given.source.precision),
  quantity: unit(given.quantity, 0),
  discount: unit(given.discountBasisPoints, 2),
  gst: unit(given.gstBasisPoints, 2),
  feeFixed: unit(given.feeFixedMinor, given.source.precision),
  feePercent: unit(given.feeBasisPoints, 2),
  rate: given.rateE8 === undefined ? undefined : unit(given.rateE8, 8),
  conversion: unit(given.conversionBasisPoints, 2),
  sourceDecimals: given.source.precision,
  walletDecimals: given.destination.precision,
})

/** What the wire says, as the text that leaves; undefined when the purchase is refused as too large or too small. */
const wireOf = (given: PriceInputs) => {
  try {
    return JSON.parse(JSON.stringify(chargeWire({ price: priceOf(given), quantityMax: 50 }))) as ReturnType<
      typeof chargeWire
    >
  } catch (error) {
    if (error instanceof DomainError && REFUSED.has(error.failure.code)) return undefined
    throw error
  }
}

const REFUSED = new Set(['amount_too_large', 'amount_too_small'])

const isInRange = (amount: Fraction, decimals: number) => unitsOf(amount, decimals) <= BigInt(AMOUNT_MINOR_MAX)

describe('the price of a purchase', () => {
  test('is exact to the minor unit, or is refused', () => {
    holds(inputs, (given) => {
      const { source, destination } = given
      const { inSource, inWallet, conversionFee } = chargesOf(purchaseOf(given))
      const inRange =
        Object.values(inSource).every((amount) => isInRange(amount, source.precision)) &&
        Object.values(inWallet).every((amount) => isInRange(amount, destination.precision))
      const wire = wireOf(given)
      const costsSomething = unitsOf(inWallet.total_payable, destination.precision) > 0n
      expect(wire !== undefined).toBe(inRange && costsSomething)
      if (!wire) return
      for (const [name, exact] of Object.entries({ ...inSource, ...inWallet })) {
        const told = fraction(wire[name as keyof typeof inSource | keyof typeof inWallet])
        expect({ name, exact: isEqual(told, exact) }).toEqual({ name, exact: true })
      }
      const { conversion_fee: told, forex_rate: rate } = wire.charges_details
      expect(told === null).toBe(conversionFee === undefined)
      expect(rate === null).toBe(conversionFee === undefined)
      if (conversionFee && told !== null) expect(isEqual(fraction(told), conversionFee)).toBe(true)
      if (given.rateE8 !== undefined && rate !== null) {
        expect(isEqual(fraction(rate), unit(given.rateE8, 8))).toBe(true)
      }
    })
  })

  test('enough generated purchases are valid', () => {
    const priced = fc.sample(inputs, { numRuns: 500, seed: 1 }).filter((given) => wireOf(given) !== undefined)
    expect(priced.length).toBeWithin(150, 450)
  })
})
