import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DomainError } from '../../src/kernel/failure.ts'
import {
  AMOUNT_MINOR_MAX,
  convert,
  feeOf,
  minorPerMajor,
  PAR,
  percentOf,
  plus,
  type Rate,
  shareOf,
  sizeFault,
  times,
  toMajor,
  toMinor,
  toPercent,
  toRate,
} from '../../src/kernel/money.ts'
import { type Fraction, fraction, times as product, plus as sum, unitsOf } from './fraction.ts'
import { holds, wholeUpTo } from './property.ts'

const precisions = fc.constantFrom(0, 2, 3, 4)
const signed = (max: number) =>
  fc.tuple(wholeUpTo(max), fc.boolean()).map(([size, below]) => (below && size > 0 ? -size : size))
const amounts = signed(AMOUNT_MINOR_MAX)
const basisPoints = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(0, 1, 5_000, 9_999, 10_000))
const perBaseE8 = wholeUpTo(Number.MAX_SAFE_INTEGER - 1).map((smaller) => smaller + 1)
const rates = fc.record({ sourceRateE8: perBaseE8, destinationRateE8: perBaseE8 })
const quotientOf = ({ sourceRateE8, destinationRateE8 }: Rate): Fraction => ({
  over: BigInt(destinationRateE8),
  under: BigInt(sourceRateE8),
})

const minorUnits = (minor: number, precision: number): Fraction => ({
  over: BigInt(minor),
  under: 10n ** BigInt(precision),
})
const tenTo = (power: number): Fraction =>
  power < 0 ? { over: 1n, under: 10n ** BigInt(-power) } : { over: 10n ** BigInt(power), under: 1n }
const wholeOf = ({ over, under }: Fraction): bigint => over / under
/** The computed amount; undefined if it was refused as too large. Any other error fails the test. */
const outcomeOf = (compute: () => number): number | undefined => {
  try {
    return compute()
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'amount_too_large') return undefined
    throw error
  }
}
/** Exactly this amount, or refused because it is out of range; never an approximation. */
const expectExact = (compute: () => number, exact: bigint): void => {
  const inRange = exact <= BigInt(AMOUNT_MINOR_MAX) && exact >= -BigInt(AMOUNT_MINOR_MAX)
  const outcome = outcomeOf(compute)
  expect(outcome === undefined ? undefined : BigInt(outcome)).toBe(inRange ? exact : undefined)
}

describe('amounts in the API', () => {
  test('every minor unit in range survives the conversion and back', () => {
    holds(fc.tuple(amounts, precisions), ([minor, precision]) => {
      const onTheWire = JSON.parse(JSON.stringify(toMajor(minor, precision))) as number
      expect(toMinor(onTheWire, precision)).toBe(minor)
    })
  })

  test('are exact decimals with at most the decimals of the currency', () => {
    holds(fc.tuple(amounts, precisions), ([minor, precision]) => {
      const text = JSON.stringify(toMajor(minor, precision))
      expect(text.split('.')[1]?.length ?? 0).toBeLessThanOrEqual(precision)
      expect(unitsOf(fraction(text), precision)).toBe(BigInt(minor))
    })
  })

  test('with more decimals than the currency are refused', () => {
    const excess = fc.record({
      precision: fc.constantFrom(0, 2, 3),
      whole: wholeUpTo(999_999_999),
      excess: fc.integer({ min: 1, max: 3 }),
      digits: fc.integer({ min: 0, max: 999_999 }),
      last: fc.integer({ min: 1, max: 9 }),
    })
    holds(excess, ({ precision, whole, excess, digits, last }) => {
      const decimals = String(digits)
        .padStart(6, '0')
        .slice(0, precision + excess - 1)
      expect(toMinor(Number(`${whole}.${decimals}${last}`), precision)).toBeUndefined()
    })
  })

  test.each([
    [0.1 + 0.2, 2, undefined],
    [0.3, 2, 30],
    [1.005, 2, undefined],
    [1.005, 3, 1005],
    [0.07, 2, 7],
    [1.1, 2, 110],
    [4.35, 2, 435],
    [8.2, 1 + 1, 820],
    [1_000_000_000, 3, 1_000_000_000_000],
    [999_999_999.99, 2, 99_999_999_999],
    [0.5, 0, undefined],
    [5e-324, 3, undefined],
    [Number.NaN, 2, undefined],
  ])('%p at %d decimals is %p minor units', (amount, precision, minor) => {
    expect(toMinor(amount, precision)).toBe(minor as number)
  })

  test.each([AMOUNT_MINOR_MAX + 1, 1e300, Number.POSITIVE_INFINITY, -AMOUNT_MINOR_MAX - 1])('refuse %p', (amount) => {
    expect(outcomeOf(() => toMinor(amount, 0) ?? 0)).toBeUndefined()
  })

  test('every precision has a power of ten', () => {
    expect(minorPerMajor(0)).toBe(1)
    expect(minorPerMajor(3)).toBe(1_000)
    for (const precision of [-1, 0.5, 9, Number.NaN]) expect(() => minorPerMajor(precision)).toThrow(RangeError)
  })

  test('percentages are exact decimals', () => {
    expect([0, 1, 250, 825, 10_000].map(toPercent)).toEqual([0, 0.01, 2.5, 8.25, 100])
  })

  test.each([
    [1, 92_000_000, 92_000_000],
    [0.92, 100_000_000, 92_000_000],
    [1.08695652174, 92_000_000, 100_000_000],
    [152.35, 100_000_000, 15_235_000_000],
    [2.79545454545e-7, 110_000_000_000_000, 30_750_000],
    // The thirteenth digit is a 5, which rounds away from zero, up to the next power of ten too.
    [1.00000000001, 2_000_000_000_000_000, 2_000_000_000_010_000],
    [1.00000000002, 2_000_000_000_000_000, 2_000_000_000_030_000],
    [1, 1_000_000_000_000_001, 1_000_000_000_000_000],
    [1.11022302463e-16, 9_007_199_254_740_991, 1],
    [9_007_199_254_740_000, 1, 9_007_199_254_740_000],
  ])('a rate has twelve significant digits: %p', (published, sourceRateE8, destinationRateE8) => {
    expect(toRate({ sourceRateE8, destinationRateE8 })).toBe(published)
  })

  test('a rate is the quotient of the two given ones, rounded once to twelve digits', () => {
    holds(rates, (rate) => {
      const exact = quotientOf(rate)
      let power = -16
      while (wholeOf(product(exact, tenTo(-power - 1))) >= 1n) power += 1
      expect(toRate(rate)).toBe(Number(`${unitsOf(product(exact, tenTo(11 - power)), 0)}e${power - 11}`))
    })
  })
})

describe('the size of an amount in a request', () => {
  const TOO_LARGE = { rule: 'max', problem: 'too large', message: 'amount too large' } as const
  const OVER_A_BILLION = { rule: 'max', problem: 'must be at most 1000000000' } as const

  test.each([
    ['a billion', 1_000_000_000, 2, undefined],
    ['a cent more than a billion', 1_000_000_000.01, 2, OVER_A_BILLION],
    ['the smallest unit', 0.01, 2, undefined],
    ['a yen', 1, 0, undefined],
    ['nothing in dollars', 0, 2, { rule: 'min', problem: 'must be at least 0.01' }],
    ['less than nothing in dinars', -0.001, 3, { rule: 'min', problem: 'must be at least 0.001' }],
    ['fifteen digits of yen', AMOUNT_MINOR_MAX, 0, OVER_A_BILLION],
    ['sixteen digits of yen', AMOUNT_MINOR_MAX + 1, 0, TOO_LARGE],
    ['sixteen digits of dinars', 1_000_000_000_000, 3, TOO_LARGE],
  ] as const)('%s', (_, amount, precision, fault) => {
    expect(sizeFault(amount, precision)).toEqual(fault)
  })
})

describe('rounding', () => {
  test('a share is exact and rounded half away from zero, at every size and sign', () => {
    holds(fc.tuple(amounts, basisPoints), ([amount, share]) =>
      expectExact(() => percentOf(amount, share), unitsOf({ over: BigInt(amount) * BigInt(share), under: 10_000n }, 0)),
    )
  })

  test('a part of several pieces is exact and rounded half away from zero', () => {
    const pieces = fc
      .integer({ min: 1, max: 10_000 })
      .chain((whole) => fc.tuple(fc.integer({ min: 0, max: whole }), fc.constant(whole)))
    holds(fc.tuple(amounts, pieces), ([amount, [part, whole]]) =>
      expectExact(
        () => shareOf(amount, part, whole),
        unitsOf({ over: BigInt(amount) * BigInt(part), under: BigInt(whole) }, 0),
      ),
    )
  })

  test('a conversion is exact or refused', () => {
    const inputs = fc.tuple(amounts, rates, precisions, precisions)
    holds(inputs, ([amount, rate, from, to]) =>
      expectExact(
        () => convert(amount, rate, from, to),
        unitsOf(product(minorUnits(amount, from), quotientOf(rate)), to),
      ),
    )
  })

  test.each([
    // Rounded to eight decimals first, the first three would be 2,800.000 KWD, 91.00 USD and 3.440 KWD.
    [2_795_455, 1_000_000_000_000, 'IRR', '1100000', 2, 'KWD', '0.3075', 3],
    [9_091, 10_000_000_000, 'IRR', '1100000', 2, 'USD', '1', 2],
    [3_436, 100_000_000, 'LBP', '89500', 2, 'KWD', '0.3075', 3],
    [29_105_691, 1_000, 'KWD', '0.3075', 3, 'LBP', '89500', 2],
  ])(
    '%d minor units come of %d: %s at %s',
    (converted, minor, _from, sourceRate, fromPrecision, _to, rate, precision) => {
      const [sourceRateE8, destinationRateE8] = [sourceRate, rate].map((text) =>
        Number(unitsOf(fraction(text), 8)),
      ) as [number, number]
      expect(convert(minor, { sourceRateE8, destinationRateE8 }, fromPrecision, precision)).toBe(converted)
    },
  )

  test('a fee is the sum of its exact parts, rounded once', () => {
    const fees = fc.record({
      fixedMinor: wholeUpTo(1_000_000_000_000),
      fixedPrecision: precisions,
      rate: rates,
      basisPoints,
      netMinor: wholeUpTo(AMOUNT_MINOR_MAX),
      netPrecision: precisions,
    })
    holds(fees, (fee) => {
      const fixed = product(minorUnits(fee.fixedMinor, fee.fixedPrecision), quotientOf(fee.rate))
      const share = product(minorUnits(fee.netMinor, fee.netPrecision), minorUnits(fee.basisPoints, 4))
      expectExact(() => feeOf(fee), unitsOf(sum(fixed, share), fee.netPrecision))
    })
  })
})

test('a fixed fee converts at a rate of 1 between currencies with different decimals', () => {
  const share = { rate: PAR, basisPoints: 100, netMinor: 10_000 }
  expect(feeOf({ ...share, fixedMinor: 5, fixedPrecision: 0, netPrecision: 2 })).toBe(500 + 100)
  expect(feeOf({ ...share, fixedMinor: 5_000, fixedPrecision: 3, netPrecision: 2 })).toBe(500 + 100)
})

describe('sums and products', () => {
  test('a product is exact or refused', () => {
    holds(fc.tuple(amounts, wholeUpTo(Number.MAX_SAFE_INTEGER)), ([amount, count]) =>
      expectExact(() => times(amount, count) + 0, BigInt(amount) * BigInt(count)),
    )
  })

  test('a sum of amounts is exact or refused', () => {
    holds(fc.array(wholeUpTo(AMOUNT_MINOR_MAX), { maxLength: 6 }), (parts) =>
      expectExact(
        () => plus(...parts),
        parts.reduce((total, part) => total + BigInt(part), 0n),
      ),
    )
  })

  test('the limit of the range is exact to one minor unit', () => {
    expect(plus(AMOUNT_MINOR_MAX - 1, 1)).toBe(AMOUNT_MINOR_MAX)
    expect(outcomeOf(() => plus(AMOUNT_MINOR_MAX, 1))).toBeUndefined()
    expect(times(333_333_333_333_333, 3)).toBe(AMOUNT_MINOR_MAX)
    expect(outcomeOf(() => times(500_000_000_000_000, 2))).toBeUndefined()
    expect(outcomeOf(() => times(-500_000_000_000_000, 2))).toBeUndefined()
  })
})
