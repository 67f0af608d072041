import { describe, expect, test } from 'bun:test'
import { rateBetween } from '../../src/charges/quote.ts'
import { ratesFrom, readRates as ratesOf } from '../../src/charges/rates.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { FileFault } from '../../src/kernel/problems.ts'
import { readReference } from '../../src/start/seed.ts'

const reference = readReference()
const readRates = (text: string) => {
  const { perBaseE8 } = ratesOf(text, reference)
  return ratesFrom((currency) => perBaseE8.get(currency))
}

const problemsOf = (text: string): readonly string[] => {
  try {
    readRates(text)
  } catch (error) {
    if (error instanceof FileFault) return error.problems
    throw error
  }
  return []
}

const DOUBLE = { sourceRateE8: 50_000_000, destinationRateE8: 100_000_000 }
const USD = { id: 1, name: 'US Dollar', currency: 'USD', precision: 2 }
const EUR = { id: 2, name: 'Euro', currency: 'EUR', precision: 2 }
const failureOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof DomainError) return { failure: error.failure, cause: error.cause }
    throw error
  }
  return undefined
}

describe('a table of rates', () => {
  const rates = readRates('{"base":"USD","rates":{"EUR":"0.92","JPY":"152.35","KWD":"0.30680000","IRR":"90000000"}}')

  test.each([
    ['USD', 'EUR', 100_000_000, 92_000_000],
    ['EUR', 'USD', 92_000_000, 100_000_000],
    ['EUR', 'JPY', 92_000_000, 15_235_000_000],
    ['KWD', 'USD', 30_680_000, 100_000_000],
    ['USD', 'USD', 100_000_000, 100_000_000],
    ['IRR', 'KWD', 9_000_000_000_000_000, 30_680_000],
  ])('%s to %s is the quotient of the two that are given', (from, to, sourceRateE8, destinationRateE8) => {
    expect(rates(from, to)).toEqual({ sourceRateE8, destinationRateE8 })
  })

  test.each([
    ['USD', 'KES'],
    ['KES', 'USD'],
    ['KES', 'KES'],
    ['usd', 'EUR'],
    ['constructor', 'USD'],
  ])('%s to %s has no rate', (from, to) => {
    expect(rates(from, to)).toBeUndefined()
  })

  test('may begin with the mark that Windows programs write', () => {
    expect(readRates('\ufeff{"base":"USD","rates":{"EUR":"0.5"}}')('EUR', 'USD')).toEqual(DOUBLE)
  })

  test.each([
    ['0.5', 50_000_000],
    ['1152.3400', 115_234_000_000],
    // A double would be 90071992.5474099, and 12345678.12345679.
    ['90071992.54740991', 9_007_199_254_740_991],
    ['12345678.12345678', 1_234_567_812_345_678],
    ['1e-8', 1],
    ['2.5E3', 250_000_000_000],
  ])('takes the number %s by its digits, as public feeds write them', (number, rateE8) => {
    const feed = `{"success":true,"base":"USD","date":"2026-11-28","rates":{"USD":1,"EUR":${number}}}`
    expect(ratesOf(feed, reference).perBaseE8.get('EUR')).toBe(rateE8)
  })

  test('the base may be in the table with rate 1', () => {
    expect(readRates('{"base":"USD","rates":{"USD":"1.00","EUR":"0.5"}}')('EUR', 'USD')).toEqual(DOUBLE)
  })
})

describe('an invalid rates file', () => {
  test.each([
    ['[]', ['/: must be an object, such as {"base":"USD","rates":{"EUR":"0.92"}}']],
    ['{}', ['/base: is missing', '/rates: is missing']],
    ['{"base":"USD"}', ['/rates: is missing']],
    ['{"base":1,"rates":{}}', ['/base: must be a currency code, such as "USD"']],
    ['{"base":"USD","rates":[]}', ['/rates: must be an object, such as {"EUR":"0.92"}']],
    ['{"base":"USD","rates":{"EUR":true}}', ['/rates/EUR: true is not a decimal, as a text or a number']],
    ['{"base":"USD","rates":{"EUR":{"a":1}}}', ['/rates/EUR: {"a":1} is not a decimal, as a text or a number']],
    ['{"base":"USD","rates":{"EUR":1,"JPY":2,"EUR":1}}', ['/rates/EUR: appears twice']],
    ['{"base":"USD","base":"EUR","rates":{}}', ['/base: appears twice']],
    [
      '{"base":"USD","rates":{"EUR":0.123456789}}',
      ['/rates/EUR: 0.123456789 is not a positive decimal with at most 8 decimals'],
    ],
    ['{"base":"USD","rates":{"EUR":-1}}', ['/rates/EUR: -1 is not a positive decimal with at most 8 decimals']],
    ['{"base":"USD","rates":{"USD":1.5}}', ['/rates/USD: the base itself is 1, not 1.5']],
  ])('%s gets a message that names the member', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
  })

  test('that is not JSON is reported', () => {
    expect(problemsOf('{"base":')).toEqual([expect.stringMatching(/^line 1, not JSON: /)])
  })

  test('every invalid row is reported with its location', () => {
    const bad = { AAA: '', BBB: '0', CCC: '-1', DDD: '1e3', EEE: '1.123456789', FFF: '01', GGG: ' 1' }
    expect(problemsOf(JSON.stringify({ base: 'USD', rates: { EUR: '0.92', ...bad } }))).toEqual(
      Object.entries(bad).map(
        ([code, text]) => `/rates/${code}: ${text} is not a positive decimal with at most 8 decimals`,
      ),
    )
  })

  test('a rate above the maximum is reported with the maximum, which is accepted', () => {
    const rates = { EUR: '90071992.54740991', INR: '90071992.54740992', JPY: `1${'0'.repeat(400)}` }
    expect(problemsOf(JSON.stringify({ base: 'USD', rates }))).toEqual([
      '/rates/INR: 90071992.54740992 is more than 90071992.54740991, the largest rate',
      `/rates/JPY: ${rates.JPY} is more than 90071992.54740991, the largest rate`,
    ])
  })

  test('unknown currency codes are reported, including the base', () => {
    expect(
      problemsOf('{"base":"US$","rates":{"EUR":"0.92","EURO":"0.92","XAU":"0.0004","eur":"0.92","":"1"}}'),
    ).toEqual([
      '/base: unknown currency US$',
      '/rates/EURO: unknown currency EURO',
      '/rates/XAU: unknown currency XAU',
      '/rates/eur: unknown currency eur',
      '/rates/: unknown currency ',
    ])
  })

  test('a base with a rate other than 1 is reported', () => {
    expect(problemsOf('{"base":"USD","rates":{"USD":"2"}}')).toEqual(['/rates/USD: the base itself is 1, not 2'])
  })
})

describe('the rate of a conversion', () => {
  test('cannot be fetched if the source fails, and the cause is logged', () => {
    const cause = new Error('connection refused')
    const refused = failureOf(() =>
      rateBetween(
        () => {
          throw cause
        },
        USD,
        EUR,
      ),
    )
    expect(refused).toMatchObject({ failure: { code: 'rate_failed' }, cause })
  })
})
