import type { Order, Voucher, voucherStock } from './tables.ts'

/** A code is sealed for its place: moved to another row, order or client, it does not open. */

type StockPlace = Pick<typeof voucherStock.$inferSelect, 'productId' | 'denominationMinor' | 'fingerprint'>

export const placeInStock = ({ productId, denominationMinor, fingerprint }: StockPlace): string =>
  `stock ${productId} ${denominationMinor} ${fingerprint}`

export const placeInOrder = ({ clientId }: Pick<Order, 'clientId'>, voucher: Pick<Voucher, 'orderId' | 'reference'>) =>
  `voucher ${clientId} ${voucher.orderId} ${voucher.reference}`
