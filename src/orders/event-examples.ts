import { type Static, Type } from '@sinclair/typebox'
import { nullable, Timestamp } from '../http/schemas.ts'
import { ORDER_EXAMPLE, OrderSchema } from './operations.ts'
import type { OrderChange } from './publish.ts'

/** An order as its events show it: vouchers without codes (contract C16). */
export const OrderEventSchema = Type.Object(
  {
    ...OrderSchema.properties,
    vouchers: Type.Array(
      Type.Object(
        { voucher_reference_number: Type.String(), expires_at: nullable(Timestamp) },
        { title: 'VoucherWithoutCodes' },
      ),
    ),
  },
  { title: 'OrderEventData' },
)

const PENDING: Static<typeof OrderEventSchema> = {
  ...ORDER_EXAMPLE,
  status: 'PENDING',
  vouchers: [],
  delivered_at: null,
}
const vouchers = ORDER_EXAMPLE.vouchers.map(({ voucher_reference_number, expires_at }) => ({
  voucher_reference_number,
  expires_at,
}))
const FAILED = { ...PENDING, status: 'FAILED', failed_at: PENDING.placed_at, failure_reason: 'Out of stock' } as const

export const ORDER_EVENT_EXAMPLES: Record<OrderChange, Static<typeof OrderEventSchema>> = {
  created: PENDING,
  processing: { ...PENDING, status: 'PROCESSING' },
  delivered: { ...ORDER_EXAMPLE, vouchers },
  partially_delivered: { ...PENDING, status: 'PARTIALLY_DELIVERED', vouchers: vouchers.slice(0, 1) },
  failed: FAILED,
  cancelled: { ...PENDING, status: 'CANCELLED', cancelled_at: PENDING.placed_at },
  refunded: FAILED,
}
