import { type Failure, notFound } from '../kernel/failure.ts'

export const ORDER_NOT_FOUND = notFound('Order')

export const INSUFFICIENT_STOCK: Failure = {
  code: 'insufficient_stock',
  kind: 'BAD_REQUEST',
  message: 'Insufficient stock',
}

export const DUPLICATE_CLIENT_REFERENCE: Failure = {
  code: 'duplicate_order_reference',
  kind: 'BAD_REQUEST',
  message: 'Duplicate client_reference',
}

export const orderNotCancellable = (status: string): Failure => ({
  code: 'order_not_cancellable',
  kind: 'BAD_REQUEST',
  message: `Order cannot be cancelled in status ${status}`,
})
