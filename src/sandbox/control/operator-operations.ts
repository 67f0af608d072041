import { type Static, Type } from '@sinclair/typebox'
import { invalidId } from '../../http/failures.ts'
import { idPath } from '../../http/parameters.ts'
import { Id, nullable, oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { notFound, transitionRefused, violation } from '../../kernel/failure.ts'
import type { OrderStatus } from '../../orders/queries.ts'
import { refundRefused } from '../../orders/refund.ts'
import { ADVANCE_TARGETS } from '../../payouts/progress.ts'
import type { PayoutStatus } from '../../payouts/queries.ts'
import { PACES } from '../worlds/pace.ts'
import { worldOperation } from './operation.ts'

const Pace = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })

const paceSuccess = (example: Static<typeof Pace>) =>
  ({ status: 200, description: 'The pace', schema: Pace, example }) as const

const WalletState = Type.Object(
  { id: Type.Integer(), currency: Type.String(), amount: Type.Number() },
  { title: 'WalletState' },
)

export const CLIENT_PROBLEM = 'must be the id of a client of this world'
export const CURRENCY_PROBLEM = 'must be the ISO 4217 code of a circulating currency'

const PAYOUT_ID = 'pyt_0mjvbk3w000000b8g4l0r3ya'
const PayoutPath = Type.Object({
  id: Type.String({ description: 'The payout identifier, as a response gave it', example: PAYOUT_ID }),
})
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })

const payoutSuccess = (status: PayoutStatus) => {
  const example = { id: PAYOUT_ID, status }
  return { status: 200, description: 'The payout as it is now', schema: PayoutState, example } as const
}

const payoutErrors = (from: PayoutStatus, to: string) => ({
  not_found: notFound('Payout'),
  transition_refused: transitionRefused(from, to),
})

const OrderState = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })

const orderSuccess = (status: OrderStatus) =>
  ({ status: 200, description: 'The order as it is now', schema: OrderState, example: { id: 1, status } }) as const

const orderErrors = (to: OrderStatus) => ({
  invalid_id: invalidId('order'),
  not_found: notFound('Order'),
  transition_refused: transitionRefused('DELIVERED', to),
})

const TOO_SHORT = 'must be at least 1 character long'

export const getPace = worldOperation('pace')({
  id: 'getPace',
  summary: 'See whether the clock moves payouts and orders',
  description: 'Automatic, or manual with the operations of this group.',
  success: paceSuccess({ payouts: 'auto', orders: 'auto' }),
})

export const setPace = worldOperation('pace')({
  id: 'setPace',
  summary: 'Set whether the clock moves payouts and orders',
  description: 'With the pace manual, payouts and orders stay as they are until operations of this group move them.',
  body: Type.Object(
    { payouts: Type.Optional(oneOf(PACES)), orders: Type.Optional(oneOf(PACES)) },
    { title: 'PaceRequest' },
  ),
  bodyExample: { payouts: 'manual' },
  success: paceSuccess({ payouts: 'manual', orders: 'auto' }),
  errors: { validation: violation('payouts', 'enum', `must be one of ${PACES.join(', ')}`) },
})

export const openWallet = worldOperation('wallet_open')({
  id: 'openWallet',
  summary: 'Open a wallet for a client of a world',
  description: 'Empty at first, and prepaid by default.',
  body: Type.Object(
    {
      currency: Text({ description: 'ISO 4217' }),
      client_id: Type.Optional({ ...Id, description: 'The client that owns it; by default sandbox' }),
      type: Type.Optional(oneOf<'PREPAID' | 'POSTPAID'>(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
      credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
    },
    { title: 'SandboxWalletRequest' },
  ),
  bodyExample: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 },
  success: {
    status: 201,
    description: 'The wallet, empty',
    schema: WalletState,
    example: { id: 6, currency: 'KWD', amount: 0 },
  },
  errors: { validation: violation('currency', 'enum', CURRENCY_PROBLEM) },
})

export const fundWallet = worldOperation('wallet_fund')({
  id: 'fundWallet',
  summary: 'Fund a wallet',
  description: 'The amount is booked as a transaction, like a transfer of money.',
  params: idPath('wallet'),
  body: Type.Object(
    {
      amount: Type.Number({ description: 'More than 0, and at most 1,000,000,000' }),
      remarks: Type.Optional(Text({ maxLength: 1_000 })),
    },
    { title: 'FundRequest' },
  ),
  bodyExample: { amount: 250, remarks: 'Top-up' },
  success: {
    status: 200,
    description: 'The wallet with its new amount',
    schema: WalletState,
    example: { id: 1, currency: 'USD', amount: 100_250 },
  },
  errors: {
    validation: violation('amount', 'required', 'is required'),
    invalid_id: invalidId('wallet'),
    not_found: notFound('Wallet'),
  },
})

export const updateWallet = worldOperation('wallet_update')({
  id: 'updateWallet',
  summary: 'Set the threshold of a wallet',
  description: 'There is an event wallet.low once the amount is below it, and another one only after it has recovered.',
  params: idPath('wallet'),
  body: Type.Object(
    {
      threshold: Type.Optional(
        Type.Number({
          minimum: -1_000_000_000,
          maximum: 1_000_000_000,
          description: 'In major units; null, or left out, for none',
        }),
      ),
    },
    { title: 'WalletUpdate' },
  ),
  bodyExample: { threshold: 500 },
  success: {
    status: 200,
    description: 'The wallet with its threshold',
    schema: Type.Object(
      { ...WalletState.properties, threshold: nullable(Type.Number()) },
      { title: 'WalletThreshold' },
    ),
    example: { id: 1, currency: 'USD', amount: 100_000, threshold: 500 },
  },
  errors: {
    validation: violation('threshold', 'number', 'must be a number'),
    invalid_id: invalidId('wallet'),
    not_found: notFound('Wallet'),
  },
})

export const advancePayout = worldOperation('payout_advance')({
  id: 'advancePayout',
  summary: 'Move a payout on: a step, or as far as a status',
  description: 'Passes through every status on the way, each with its event and its ledger entries.',
  params: PayoutPath,
  body: Type.Object({ to: Type.Optional(oneOf(ADVANCE_TARGETS)) }, { title: 'AdvanceRequest' }),
  bodyExample: { to: 'settling' },
  bodyOptional: true,
  success: payoutSuccess('settling'),
  errors: {
    validation: violation('to', 'enum', `must be one of ${ADVANCE_TARGETS.join(', ')}`),
    ...payoutErrors('completed', 'settling'),
  },
})

export const failPayout = worldOperation('payout_fail')({
  id: 'failPayout',
  summary: 'Fail a payout that is processing or settling',
  description: 'The money is refunded to the wallet, as when a bank refuses the payout.',
  params: PayoutPath,
  body: Type.Object(
    {
      failure_code: Type.Optional(Text({ minLength: 1, maxLength: 100 })),
      failure_reason: Type.Optional(Text({ minLength: 1, maxLength: 1_000 })),
    },
    { title: 'PayoutFailureRequest' },
  ),
  bodyExample: { failure_code: 'account_closed' },
  bodyOptional: true,
  success: payoutSuccess('failed'),
  errors: { validation: violation('failure_code', 'min', TOO_SHORT), ...payoutErrors('completed', 'failed') },
})

export const returnPayout = worldOperation('payout_return')({
  id: 'returnPayout',
  summary: 'Return a completed payout',
  description: 'The wallet is credited with the amount, without the fees. Earlier events stay as they are.',
  params: PayoutPath,
  body: Type.Object(
    {
      failure_code: Type.Optional(Text({ minLength: 1, maxLength: 100, description: 'Comes before the reason' })),
      failure_reason: Type.Optional(Text({ minLength: 1, maxLength: 1_000, description: 'The message of the event' })),
    },
    { title: 'PayoutReturnRequest' },
  ),
  bodyExample: { failure_reason: 'The account was closed' },
  bodyOptional: true,
  success: payoutSuccess('completed'),
  errors: { validation: violation('failure_reason', 'min', TOO_SHORT), ...payoutErrors('created', 'returned') },
})

export const deliverOrder = worldOperation('order_deliver')({
  id: 'deliverOrder',
  summary: 'Deliver some vouchers of an order, or all',
  description: 'The vouchers are made on the spot, whatever the pace of the world.',
  params: idPath('order'),
  body: Type.Object({ quantity: Type.Optional(Type.Integer({ minimum: 1 })) }, { title: 'DeliveryRequest' }),
  bodyExample: { quantity: 1 },
  bodyOptional: true,
  success: orderSuccess('PARTIALLY_DELIVERED'),
  errors: { validation: violation('quantity', 'min', 'must be at least 1'), ...orderErrors('DELIVERED') },
})

export const failOrder = worldOperation('order_fail')({
  id: 'failOrder',
  summary: 'Fail an order, or what is left of it',
  description: 'The wallet is refunded for the vouchers that were not delivered.',
  params: idPath('order'),
  body: Type.Object(
    { failure_reason: Type.Optional(Text({ minLength: 1, maxLength: 1_000 })) },
    { title: 'OrderFailureRequest' },
  ),
  bodyExample: { failure_reason: 'Out of stock' },
  bodyOptional: true,
  success: orderSuccess('FAILED'),
  errors: { validation: violation('failure_reason', 'min', TOO_SHORT), ...orderErrors('FAILED') },
})

export const refundOrder = worldOperation('order_refund')({
  id: 'refundOrder',
  summary: 'Refund a delivered order, or some of its vouchers',
  description:
    'The wallet is credited with what it paid for them. The order keeps its status; refunded_amount says what came back.',
  params: idPath('order'),
  body: Type.Object(
    {
      vouchers: Type.Optional(
        Type.Array(Text({ maxLength: 100 }), {
          minItems: 1,
          maxItems: 10_000,
          description: 'The voucher_reference_number of each; by default all that are not refunded',
        }),
      ),
      remarks: Type.Optional(Text({ minLength: 1, maxLength: 1_000, description: 'The remarks of the transaction' })),
    },
    { title: 'OrderRefundRequest' },
  ),
  bodyExample: { vouchers: ['1-1'], remarks: 'Wrong brand' },
  bodyOptional: true,
  success: orderSuccess('DELIVERED'),
  errors: {
    validation: violation('remarks', 'min', TOO_SHORT),
    invalid_id: invalidId('order'),
    not_found: notFound('Order'),
    refused: refundRefused('Order 1 is already refunded'),
  },
})
