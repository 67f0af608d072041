import { currencyOf, type Product, type Rates } from './goods.ts'

/** The prices of purchases and payouts (contract C5, C9, C13), in whole minor units of any size. */

const PAR = { over: 1n, under: 1n }
/** Beyond this, not every decimal survives a double (decision 6). */
const LARGEST = 999_999_999_999_999n
const CONVERSION_BASIS_POINTS = 50n
const PAYOUT_FEE_BASIS_POINTS = 150n

/** The reason for a missing price. */
export type Trouble = { trouble: 'no rate'; from: string; to: string } | { trouble: 'too large' | 'too small' }

/** Half away from zero; nothing here is negative. */
const divided = (over: bigint, under: bigint): bigint => (over * 2n + under) / (under * 2n)
const power = (decimals: number): bigint => 10n ** BigInt(decimals)
const shareIn = (amount: bigint, basisPoints: bigint): bigint => divided(amount * basisPoints, 10_000n)
const basisPointsOf = (percent: number): bigint => BigInt(Math.round(percent * 100))

/** The share of an amount for some of its pieces. */
export const partOf = (amount: bigint, pieces: number, all: number): bigint =>
  divided(amount * BigInt(pieces), BigInt(all))

export const decimalsOf = (code: string): number => currencyOf(code).precision

/** The minor units of a number, or undefined when it has more decimals than its currency. */
export const minorOf = (major: number, code: string): bigint | undefined => {
  const exact = scaled(String(major), decimalsOf(code))
  return exact.rest === 0n ? exact.units : undefined
}

/** A minor amount as the number that JSON holds. */
export const majorOf = (minor: bigint, code: string): number => Number(decimal(minor, decimalsOf(code)))

const decimal = (units: bigint, decimals: number): string => {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  return `${sign}${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}0`
}

const scaled = (text: string, decimals: number): { units: bigint; rest: bigint } => {
  const [mantissa = '0', exponent = '0'] = text.split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const shift = decimals + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  if (shift >= 0) return { units: digits * 10n ** BigInt(shift), rest: 0n }
  return { units: digits / 10n ** BigInt(-shift), rest: digits % 10n ** BigInt(-shift) }
}

/** Units of one currency for one of another, as the quotient of the two rates that were given. */
interface Quotient {
  over: bigint
  under: bigint
}

/** Undefined without a rate. */
const rateOf = (rates: Rates, from: string, to: string): Quotient | undefined => {
  const [under, over] = [rates.get(from), rates.get(to)].map((text) => text && scaled(text, 8).units)
  return over && under ? { over, under } : undefined
}

const SIGNIFICANT_DIGITS = 12

/** A quotient with twelve significant digits, as the number that JSON holds. */
const published = ({ over, under }: Quotient): number => {
  const whole = String(over / under)
  let decimals = whole === '0' ? SIGNIFICANT_DIGITS : SIGNIFICANT_DIGITS - whole.length
  if (whole === '0') while ((over * power(decimals - SIGNIFICANT_DIGITS + 1)) / under === 0n) decimals += 1
  if (decimals < 0) return Number(`${divided(over, under * power(-decimals))}e${-decimals}`)
  return Number(`${divided(over * power(decimals), under)}e-${decimals}`)
}

const converted = (amount: bigint, from: string, to: string, rate: Quotient): bigint =>
  divided(amount * rate.over * power(decimalsOf(to)), rate.under * power(decimalsOf(from)))

/** An amount in another currency at the rate of the catalog. */
export const inCurrency = (rates: Rates, amount: bigint, from: string, to: string): bigint | undefined => {
  if (from === to) return amount
  const rate = rateOf(rates, from, to)
  return rate === undefined ? undefined : converted(amount, from, to, rate)
}

/** The discount of the best band that a denomination fits, in basis points; undefined when it is not offered. */
export const offerOf = (product: Product, denomination: number, agreedPercent: number): bigint | undefined => {
  if (minorOf(denomination, product.currency) === undefined) return undefined
  const fitting = product.denominations.filter(
    ({ min_value, max_value }) => min_value <= denomination && denomination <= max_value,
  )
  if (fitting.length === 0) return undefined
  return basisPointsOf(Math.max(agreedPercent, ...fitting.map(({ discount }) => discount)))
}

/** A charge result as the wire has it, and what the wallet pays. */
export interface Price {
  wire: Record<string, unknown>
  payable: bigint
}

/** The eight steps of contract C9. */
export const priceOf = (
  rates: Rates,
  product: Product,
  denomination: number,
  quantity: number,
  discount: bigint,
  walletCurrency: string,
  quantityMax: number,
): Price | Trouble => {
  const source = product.currency
  const rate = source === walletCurrency ? PAR : rateOf(rates, source, walletCurrency)
  if (rate === undefined) return { trouble: 'no rate', from: source, to: walletCurrency }
  const list = (minorOf(denomination, source) ?? 0n) * BigInt(quantity)
  const off = shareIn(list, discount)
  const total = list - off
  const net = source === walletCurrency ? total : converted(total, source, walletCurrency, rate)
  const gst = shareIn(net, basisPointsOf(product.gst_percent))
  const fee = handlingFee(product, net, walletCurrency, rate)
  const conversion = source === walletCurrency ? undefined : shareIn(net, CONVERSION_BASIS_POINTS)
  const payable = net + gst + fee + (conversion ?? 0n)
  if ([list, net, payable].some((amount) => amount > LARGEST)) return { trouble: 'too large' }
  if (payable === 0n) return { trouble: 'too small' }
  return {
    payable,
    wire: {
      non_discounted_total: majorOf(list, source),
      discount_amount: majorOf(off, source),
      total_amount: majorOf(total, source),
      discount: Number(discount) / 100,
      gst_amount: majorOf(gst, walletCurrency),
      total_payable: majorOf(payable, walletCurrency),
      max_quantity: quantityMax,
      net_amount: majorOf(net, walletCurrency),
      handling_fee_amount: majorOf(fee, walletCurrency),
      charges_details: {
        source_currency: source,
        destination_currency: walletCurrency,
        forex_rate: conversion === undefined ? null : published(rate),
        conversion_fee: conversion === undefined ? null : majorOf(conversion, walletCurrency),
      },
    },
  }
}

/** The fixed part at the rate and the share of net over one denominator, rounded once. */
const handlingFee = (product: Product, net: bigint, walletCurrency: string, { over, under }: Quotient): bigint => {
  const below = power(decimalsOf(product.currency)) * under
  const fixed = (minorOf(product.handling_fee.fixed, product.currency) ?? 0n) * over * power(decimalsOf(walletCurrency))
  return divided(fixed * 10_000n + net * basisPointsOf(product.handling_fee.percent) * below, below * 10_000n)
}

/** The discount of a purchase, in the product's currency. */
export const discountOf = (product: Product, denomination: number, quantity: number, discount: bigint): number =>
  majorOf(shareIn((minorOf(denomination, product.currency) ?? 0n) * BigInt(quantity), discount), product.currency)

/** The cost of a payout: fees in its own currency, the rest in the wallet's. */
export interface PayoutPrice {
  fees: bigint
  paid: bigint
  /** The refund of a late return. */
  paidAmount: bigint
}

export const payoutPrice = (
  rates: Rates,
  amount: bigint,
  currency: string,
  walletCurrency: string,
): PayoutPrice | Trouble => {
  const share = shareIn(amount, PAYOUT_FEE_BASIS_POINTS)
  const fees = share === 0n ? 1n : share
  const net = inCurrency(rates, amount + fees, currency, walletCurrency)
  const paidAmount = inCurrency(rates, amount, currency, walletCurrency)
  if (net === undefined || paidAmount === undefined) return { trouble: 'no rate', from: currency, to: walletCurrency }
  const paid = net + (currency === walletCurrency ? 0n : shareIn(net, CONVERSION_BASIS_POINTS))
  if ([amount + fees, net, paid].some((each) => each > LARGEST)) return { trouble: 'too large' }
  if (net === 0n) return { trouble: 'too small' }
  // At least the smallest unit of the wallet's payment is for the amount, so that a late return refunds something.
  return { fees, paid, paidAmount: paidAmount === 0n ? 1n : paidAmount }
}
