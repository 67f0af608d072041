import { badRequest, notFound } from '../kernel/failure.ts'

export const ORDER_NOT_FOUND = notFound('Order')

export const INSUFFICIENT_STOCK = badRequest('insufficient_stock', 'Insufficient stock')

export const DUPLICATE_CLIENT_REFERENCE = badRequest('duplicate_order_reference', 'Duplicate client_reference')

export const orderNotCancellable = (status: string) =>
  badRequest('order_not_cancellable', `Order cannot be cancelled in status ${status}`)
