import { type Static, Type } from '@sinclair/typebox'
import { controlOperation } from '../control/operation.ts'

/** The values that behave specially in the sandbox (contract C15). */

export type TestValues = Static<typeof TestValues>
const TestValues = Type.Object(
  {
    products: Type.Array(
      Type.Object({ case: Type.String(), product_id: Type.Integer(), about: Type.String() }, { title: 'TestProduct' }),
    ),
    payouts: Type.Array(
      Type.Object({ outcome: Type.String(), email: Type.String(), about: Type.String() }, { title: 'TestPayee' }),
    ),
    amounts: Type.Array(
      Type.Object({ case: Type.String(), amount: Type.Number(), about: Type.String() }, { title: 'TestAmount' }),
    ),
  },
  { title: 'TestValues' },
)

const EXAMPLE: TestValues = {
  products: [{ case: 'sold_out', product_id: 8, about: 'Not available; orders: 400 "Insufficient stock"' }],
  payouts: [{ outcome: 'failed', email: 'failed@payouts.example', about: 'Fails after 5 s, and is refunded in full' }],
  amounts: [{ case: 'insufficient_balance', amount: 200_000, about: '400 "Insufficient wallet balance"' }],
}

export const getTestValues = controlOperation('test_values')({
  id: 'getTestValues',
  summary: 'See what behaves specially',
  description: 'Products by behaviour, payees by the outcome of their payouts, and amounts of payouts from wallet 1.',
  success: { status: 200, description: 'The test values', schema: TestValues, example: EXAMPLE },
})
