import { PRODUCT_NOT_FOUND } from '../catalog/errors.ts'
import { quoteErrors } from '../charges/errors.ts'
import { BODY_UNREADABLE, FEATURE_DISABLED, invalidId } from '../http/failures.ts'
import { KEY_MALFORMED, KEY_REUSED } from '../idempotency/errors.ts'
import { badRequest, type Failure, notFound, violation } from '../kernel/failure.ts'
import { INSUFFICIENT_BALANCE } from '../wallets/errors.ts'

export const ORDER_NOT_FOUND = notFound('Order')

export const INSUFFICIENT_STOCK = badRequest('insufficient_stock', 'Insufficient stock')

export const DUPLICATE_CLIENT_REFERENCE = badRequest('duplicate_order_reference', 'Duplicate client_reference')

export const orderNotCancellable = (status: string) =>
  badRequest('order_not_cancellable', `Order cannot be cancelled in status ${status}`)

const FEATURE: Record<string, Failure> = { 'orders.feature_disabled': FEATURE_DISABLED }
export const ORDER_LOOKUP_ERRORS: Record<string, Failure> = {
  ...FEATURE,
  'orders.invalid_id': invalidId('order'),
  'orders.not_found': ORDER_NOT_FOUND,
}

export const LIST_ORDERS_ERRORS = {
  ...FEATURE,
  'orders.list_validation': violation('limit', 'max', 'must be at most 100'),
}

export const PLACE_ORDER_ERRORS = {
  ...FEATURE,
  'orders.body_unreadable': BODY_UNREADABLE,
  'orders.validation': violation('quantity', 'required', 'is required'),
  'orders.idempotency_key_malformed': KEY_MALFORMED,
  'orders.idempotency_key_reused': KEY_REUSED,
  'orders.product_not_found': PRODUCT_NOT_FOUND,
  ...quoteErrors('orders'),
  'orders.duplicate_reference': DUPLICATE_CLIENT_REFERENCE,
  'orders.insufficient_balance': INSUFFICIENT_BALANCE,
  'orders.insufficient_stock': INSUFFICIENT_STOCK,
}

export const CANCEL_ORDER_ERRORS = {
  ...ORDER_LOOKUP_ERRORS,
  'orders.not_cancellable': orderNotCancellable('DELIVERED'),
}
