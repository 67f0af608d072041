import { agreedDiscounts, type Catalog } from '../catalog/catalog.ts'
import { PRODUCT_NOT_FOUND } from '../catalog/contract.ts'
import { findOffer, type Product, quantityMaxFor } from '../catalog/product.ts'
import type { Query, Tx } from '../db/database.ts'
import { DomainError, foundOr } from '../kernel/failure.ts'
import type { Rate } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import type { Session } from '../sessions/sessions.ts'
import { WALLET_NOT_FOUND } from '../wallets/contract.ts'
import { findPayingWallet, findWallet, type Wallet } from '../wallets/queries.ts'
import {
  DENOMINATION_NOT_OFFERED,
  PAYING_WALLET_NOT_FOUND,
  quantityExceeded,
  RATE_FAILED,
  rateMissing,
} from './contract.ts'
import { type Price, priceOf } from './price.ts'
import type { RateSource, WorldRates } from './rates.ts'

export interface Pricing {
  catalog: Catalog
  reference: Reference
  rates: WorldRates
  /** The fee for paying in another currency, in basis points, unless the client has its own (contract C9). */
  conversionBasisPoints: number
}

export interface Purchase {
  productId: number
  /** Major units of the product's currency. */
  denomination: number
  quantity: number
  walletId: number | undefined
}

/** The present price for a client, and the data from which it was calculated. */
export interface Quote {
  product: Product
  wallet: Pick<Wallet, 'id' | 'currencyId'>
  quantityMax: number
  denominationMinor: number
  price: Price
}

/** The quote of an order, with the wallet as it is in the transaction. */
type OrderQuote = Omit<Quote, 'wallet'> & { wallet: Wallet }

/**
 * Prices a purchase, with failures in the order of contract C9.
 * @throws DomainError not_found, denomination_not_offered, quantity_exceeded, paying_wallet_not_found, rate_missing,
 *   rate_failed, amount_too_large or amount_too_small
 */
export const quote = (query: Query, pricing: Pricing, session: Session, purchase: Purchase): Quote =>
  priced(query, pricing, session, purchase, offered(pricing.catalog, session, purchase))

/**
 * The quote of an order. A held price settles only the price: everything else is checked again (contract C12).
 * @throws DomainError as {@link quote}
 */
export const quoteForOrder = (
  tx: Tx,
  pricing: Pricing,
  session: Session,
  purchase: Purchase,
  quoted: Quote | undefined,
): OrderQuote => {
  const allowed = offered(pricing.catalog, session, purchase)
  // A product whose currency has changed has no price in the old one.
  if (quoted?.product.currency.id !== allowed.product.currency.id)
    return priced(tx, pricing, session, purchase, allowed)
  const wallet = foundOr(findWallet(tx, session.client.id, quoted.wallet.id), WALLET_NOT_FOUND)
  return { ...quoted, wallet, product: allowed.product }
}

/** @throws DomainError not_found, denomination_not_offered or quantity_exceeded */
const offered = (catalog: Catalog, { world, client }: Session, purchase: Purchase) => {
  const product = foundOr(catalog.in(world).find(purchase.productId), PRODUCT_NOT_FOUND)
  const agreed = agreedDiscounts(world, client.id).get(product.id) ?? 0
  const offer = findOffer(product, purchase.denomination, agreed)
  if (!offer) throw new DomainError(DENOMINATION_NOT_OFFERED)
  const quantityMax = quantityMaxFor(product, client.quantityMax)
  if (purchase.quantity > quantityMax) throw new DomainError(quantityExceeded(quantityMax))
  return { product, offer, quantityMax }
}

/** @throws DomainError paying_wallet_not_found, rate_missing, rate_failed, amount_too_large or amount_too_small */
const priced = (
  query: Query,
  pricing: Pricing,
  { world, client }: Session,
  purchase: Purchase,
  { product, offer, quantityMax }: ReturnType<typeof offered>,
): OrderQuote => {
  const wallet =
    purchase.walletId === undefined
      ? findPayingWallet(query, client.id, product.currency.id)
      : findWallet(query, client.id, purchase.walletId)
  if (!wallet) throw new DomainError(PAYING_WALLET_NOT_FOUND)
  const destination = pricing.reference.getCurrency(wallet.currencyId)
  const { currency: source, gstBasisPoints, feeFixedMinor, feeBasisPoints } = product
  const price = priceOf({
    ...{ ...offer, quantity: purchase.quantity, gstBasisPoints, feeFixedMinor, feeBasisPoints },
    ...{ source, destination, rate: rateBetween(pricing.rates(world), source, destination) },
    conversionBasisPoints: client.conversionFeeBasisPoints ?? pricing.conversionBasisPoints,
  })
  return { product, wallet, quantityMax, denominationMinor: offer.denominationMinor, price }
}

/** Undefined if the currency is the same. @throws DomainError rate_missing or rate_failed */
export const rateBetween = (rates: RateSource, source: Currency, destination: Currency): Rate | undefined => {
  if (source.id === destination.id) return undefined
  const [from, to] = [source.currency, destination.currency]
  let rate: Rate | undefined
  try {
    rate = rates(from, to)
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    throw new DomainError(RATE_FAILED, { cause })
  }
  if (rate === undefined) throw new DomainError(rateMissing(from, to))
  return rate
}
