import type { Order, Voucher, voucherStock } from './tables.ts'

/** What a code is sealed for: whoever moves it to another row, order or client moves something that does not open. */

type StockPlace = Pick<typeof voucherStock.$inferSelect, 'productId' | 'denominationMinor' | 'fingerprint'>

export const placeInStock = ({ productId, denominationMinor, fingerprint }: StockPlace): string =>
  `stock ${productId} ${denominationMinor} ${fingerprint}`

export const placeInOrder = ({ clientId }: Pick<Order, 'clientId'>, voucher: Pick<Voucher, 'orderId' | 'reference'>) =>
  `voucher ${clientId} ${voucher.orderId} ${voucher.reference}`
