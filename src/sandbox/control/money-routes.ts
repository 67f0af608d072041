import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { readOptionalObject } from '../../http/body.ts'
import { CREATED_HEADERS, documented } from '../../http/operation.ts'
import { pathId } from '../../http/query.ts'
import { idPath, oneOf } from '../../http/schemas.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError, type Failure, found, type Violation, violated } from '../../kernel/failure.ts'
import { sizeFault, toMajor, toMinor } from '../../kernel/money.ts'
import { deliver, failOrder, findOrder, type Order, type Ordering, repaceOrders } from '../../orders/orders.ts'
import {
  ADVANCE_TARGETS,
  advance,
  findPayout,
  happen,
  type Paying,
  type Payout,
  repacePayouts,
} from '../../payouts/payouts.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { fund } from '../../wallets/ledger.ts'
import { findWallet, openWallet } from '../../wallets/wallets.ts'
import type { DueWork } from '../../worlds/due.ts'
import { PACES, pace } from '../../worlds/pace.ts'
import { keepPace } from '../../worlds/state.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { bodyRefusals, controlRefusals, readControl, WorldQuery, worldOf } from './control.ts'

/** What an operator does in live mode, at the touch of a test (contract C15). Errors leave in the structured shape. */

const WalletBody = Type.Object(
  {
    currency: Type.String({ description: 'ISO 4217' }),
    type: Type.Optional(oneOf(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
    credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  },
  { title: 'SandboxWalletRequest' },
)
const FundBody = Type.Object(
  {
    amount: Type.Number({ description: 'More than 0, and at most 1,000,000,000' }),
    remarks: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { title: 'FundRequest' },
)
const PaceBody = Type.Object(
  {
    payouts: Type.Optional(oneOf(PACES)),
    orders: Type.Optional(oneOf(PACES)),
  },
  { title: 'PaceRequest' },
)
const AdvanceBody = Type.Object({ to: Type.Optional(oneOf(ADVANCE_TARGETS)) }, { title: 'AdvanceRequest' })
const FailBody = Type.Object(
  {
    failure_code: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    failure_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  },
  { title: 'PayoutFailureRequest' },
)
const DeliverBody = Type.Object({ quantity: Type.Optional(Type.Integer({ minimum: 1 })) }, { title: 'DeliveryRequest' })
const OrderFailBody = Type.Object(
  { failure_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })) },
  { title: 'OrderFailureRequest' },
)

const checks = {
  wallet: bodyCheck(WalletBody),
  fund: bodyCheck(FundBody),
  pace: bodyCheck(PaceBody),
  advance: bodyCheck(AdvanceBody),
  fail: bodyCheck(FailBody),
  deliver: bodyCheck(DeliverBody),
  orderFail: bodyCheck(OrderFailBody),
}

const IdOnly = Type.Object({ id: Type.Integer(), status: Type.String() }, { title: 'OrderState' })
const PayoutState = Type.Object({ id: Type.String(), status: Type.String() }, { title: 'PayoutState' })
const WalletState = Type.Object(
  { id: Type.Integer(), currency: Type.String(), amount: Type.Number() },
  { title: 'WalletState' },
)
const PaceSchema = Type.Object({ payouts: oneOf(PACES), orders: oneOf(PACES) }, { title: 'Pace' })
const WalletPath = idPath('wallet')
const OrderPath = idPath('order')
const PayoutPath = Type.Object({
  id: Type.String({ description: 'The payout identifier', example: 'pyt_0mjvbk3w000000b8g4l0r3ya' }),
})

const CURRENCY_PROBLEM = 'must be the ISO 4217 code of a circulating currency'
const required = (field: string): Violation => ({ field, rule: 'required', problem: 'is required' })
const tooShort = (field: string): Violation => ({ field, rule: 'min', problem: 'must be at least 1 character long' })

const payoutRefusals = (room: string, from: string, to: string): Record<string, Failure> => ({
  [`${room}.not_found`]: { code: 'not_found', resource: 'payout' },
  [`${room}.transition_refused`]: { code: 'transition_refused', from, to },
})
const orderRefusals = (room: string, to: string): Record<string, Failure> => ({
  [`${room}.invalid_id`]: { code: 'invalid_id', resource: 'order' },
  [`${room}.not_found`]: { code: 'not_found', resource: 'order' },
  [`${room}.transition_refused`]: { code: 'transition_refused', from: 'DELIVERED', to },
})

export interface MoneyRoutesOptions {
  worlds: Worlds
  reference: Reference
  ordering: Ordering
  paying: Paying
  /** What has fallen due comes before anything that an operator does. */
  due: DueWork
}

export const moneyRoutes = ({ worlds, reference, ordering, paying, due }: MoneyRoutesOptions) => {
  const { supply, byClock } = ordering
  const presentWorldOf = async (request: Request): Promise<World> => {
    const world = worldOf(worlds, request)
    await due.catchUp(world)
    return world
  }

  return new Elysia({ name: 'sandbox-money' })
    .get(
      '/pace',
      ({ request }) => worldOf(worlds, request).of(pace),
      documented({
        id: 'getPace',
        tag: 'Sandbox',
        summary: 'See whether the clock moves payouts and orders',
        description: 'Automatic, or by hand with the operations of this group.',
        public: true,
        query: WorldQuery,
        success: {
          status: 200,
          description: 'The pace',
          schema: PaceSchema,
          example: { payouts: 'auto', orders: 'auto' },
        },
        refusals: controlRefusals('pace'),
      }),
    )
    .put(
      '/pace',
      async ({ request }) => {
        const world = await presentWorldOf(request)
        const wanted = await readControl(request, PaceBody, checks.pace)
        Object.assign(world.of(pace), wanted)
        await world.db.write((tx) => {
          keepPace(tx, world.of(pace))
          repacePayouts(tx, paying, world)
          repaceOrders(tx, byClock, world)
        })
        return world.of(pace)
      },
      documented({
        id: 'setPace',
        tag: 'Sandbox',
        summary: 'Let the clock move payouts and orders, or nobody',
        description: 'By hand, a payout or order stays where it is until it is told to go on.',
        public: true,
        query: WorldQuery,
        body: { schema: PaceBody, example: { payouts: 'manual' } },
        success: {
          status: 200,
          description: 'The pace',
          schema: PaceSchema,
          example: { payouts: 'manual', orders: 'auto' },
        },
        refusals: bodyRefusals('pace', {
          field: 'payouts',
          rule: 'enum',
          problem: `must be one of ${PACES.join(', ')}`,
        }),
      }),
    )
    .post(
      '/wallets',
      async ({ request, set }) => {
        const world = await presentWorldOf(request)
        const body = await readControl(request, WalletBody, checks.wallet)
        const currency = reference.findCurrencyByCode(body.currency)
        if (!currency) throw violated('currency', 'enum', CURRENCY_PROBLEM)
        const creditLimitMinor = minorOf('credit_limit', body.credit_limit ?? 0, currency)
        const { type = 'PREPAID' } = body
        if (type === 'PREPAID' && creditLimitMinor > 0)
          throw violated('credit_limit', 'max', 'must be 0 for a PREPAID wallet')
        const wallet = await world.db.write((tx) =>
          openWallet(
            tx,
            { clientId: SANDBOX_CLIENT_IDS.sandbox, currencyId: currency.id, type, creditLimitMinor },
            world.clock.nowMs(),
          ),
        )
        world.forgetDerived()
        set.status = 201
        set.headers.Location = `/api/v1/wallets/${wallet.id}`
        return { id: wallet.id, currency: currency.currency, amount: 0 }
      },
      documented({
        id: 'openWallet',
        tag: 'Sandbox',
        summary: 'Open a wallet for the sandbox client of a world',
        description: 'Empty at first, and prepaid unless told otherwise.',
        public: true,
        query: WorldQuery,
        body: { schema: WalletBody, example: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 } },
        success: {
          status: 201,
          description: 'The wallet, empty',
          schema: WalletState,
          example: { id: 6, currency: 'KWD', amount: 0 },
          headers: CREATED_HEADERS,
        },
        refusals: bodyRefusals('wallet_open', { field: 'currency', rule: 'enum', problem: CURRENCY_PROBLEM }),
      }),
    )
    .post(
      '/wallets/:id/fund',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const id = pathId(params.id, 'wallet')
        const { amount, remarks } = await readControl(request, FundBody, checks.fund)
        const wanted = ofEither((clientId) => findWallet(world, clientId, id))
        const fault = sizeFault(amount, wanted ? reference.getCurrency(wanted.currencyId).precision : 0)
        if (fault) throw new DomainError({ code: 'validation', violations: [{ field: 'amount', ...fault }] })
        const wallet = found(wanted, 'wallet')
        const currency = reference.getCurrency(wallet.currencyId)
        const amountMinor = minorOf('amount', amount, currency)
        const funded = await world.db.write((tx) => fund(tx, wallet, amountMinor, remarks ?? null, world.clock.nowMs()))
        return { id, currency: currency.currency, amount: toMajor(funded.balanceAfterMinor, currency.precision) }
      },
      documented({
        id: 'fundWallet',
        tag: 'Sandbox',
        summary: 'Fund a wallet',
        description: 'The amount is booked as a transaction, as if money had been sent.',
        public: true,
        path: WalletPath,
        query: WorldQuery,
        body: { schema: FundBody, example: { amount: 250, remarks: 'Top-up' } },
        success: {
          status: 200,
          description: 'The wallet with its new amount',
          schema: WalletState,
          example: { id: 1, currency: 'USD', amount: 100_250 },
        },
        refusals: {
          ...bodyRefusals('wallet_fund', required('amount')),
          'wallet_fund.invalid_id': { code: 'invalid_id', resource: 'wallet' },
          'wallet_fund.not_found': { code: 'not_found', resource: 'wallet' },
        },
      }),
    )
    .post(
      '/payouts/:id/advance',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const { to } = await readControl(request, AdvanceBody, checks.advance, readOptionalObject)
        return onPayout(world, params.id, (tx, payout) =>
          advance(tx, paying, world, payout, to, { actorType: 'operator', nowMs: world.clock.nowMs() }),
        )
      },
      documented({
        id: 'advancePayout',
        tag: 'Sandbox',
        summary: 'Move a payout on: a step, or as far as a status',
        description: 'Through every status on the way, each with its event and its bookings.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        body: { schema: AdvanceBody, optional: true, example: { to: 'settling' } },
        success: payoutSuccess('settling'),
        refusals: {
          ...bodyRefusals('payout_advance', {
            field: 'to',
            rule: 'enum',
            problem: `must be one of ${ADVANCE_TARGETS.join(', ')}`,
          }),
          ...payoutRefusals('payout_advance', 'completed', 'settling'),
        },
      }),
    )
    .post(
      '/payouts/:id/fail',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const { failure_code: failureCode, failure_reason: failureReason } = await readControl(
          request,
          FailBody,
          checks.fail,
          readOptionalObject,
        )
        const happening = { actorType: 'operator', nowMs: world.clock.nowMs(), failureCode, failureReason } as const
        return onPayout(world, params.id, (tx, payout) => happen(tx, paying, world, payout, 'failed', happening))
      },
      documented({
        id: 'failPayout',
        tag: 'Sandbox',
        summary: 'Fail a payout that is processing or settling',
        description: 'The money goes back to the wallet, as when a bank refuses it.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        body: { schema: FailBody, optional: true, example: { failure_code: 'account_closed' } },
        success: payoutSuccess('failed'),
        refusals: {
          ...bodyRefusals('payout_fail', tooShort('failure_code')),
          ...payoutRefusals('payout_fail', 'completed', 'failed'),
        },
      }),
    )
    .post(
      '/payouts/:id/return',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const happening = { actorType: 'operator', nowMs: world.clock.nowMs() } as const
        return onPayout(world, params.id, (tx, payout) => happen(tx, paying, world, payout, 'returned', happening))
      },
      documented({
        id: 'returnPayout',
        tag: 'Sandbox',
        summary: 'Have a completed payout returned, late',
        description: 'The wallet is credited with the amount, without the fees. What has happened stays as it was.',
        public: true,
        path: PayoutPath,
        query: WorldQuery,
        success: payoutSuccess('completed'),
        refusals: { ...controlRefusals('payout_return'), ...payoutRefusals('payout_return', 'created', 'returned') },
      }),
    )
    .post(
      '/orders/:id/deliver',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const id = pathId(params.id, 'order')
        const { quantity } = await readControl(request, DeliverBody, checks.deliver, readOptionalObject)
        return onOrder(world, id, (tx, order) =>
          deliver(tx, world, ordering, order, quantity ?? order.quantity, world.clock.nowMs()),
        )
      },
      documented({
        id: 'deliverOrder',
        tag: 'Sandbox',
        summary: 'Deliver vouchers of an order: so many, or all',
        description: 'The vouchers are made on the spot, whatever the pace of the world.',
        public: true,
        path: OrderPath,
        query: WorldQuery,
        body: { schema: DeliverBody, optional: true, example: { quantity: 1 } },
        success: orderSuccess('PARTIALLY_DELIVERED'),
        refusals: {
          ...bodyRefusals('order_deliver', { field: 'quantity', rule: 'min', problem: 'must be at least 1' }),
          ...orderRefusals('order_deliver', 'DELIVERED'),
        },
      }),
    )
    .post(
      '/orders/:id/fail',
      async ({ params, request }) => {
        const world = await presentWorldOf(request)
        const id = pathId(params.id, 'order')
        const { failure_reason: reason = 'The order could not be delivered' } = await readControl(
          request,
          OrderFailBody,
          checks.orderFail,
          readOptionalObject,
        )
        return onOrder(world, id, (tx, order) => failOrder(tx, world, supply, order, reason, world.clock.nowMs()))
      },
      documented({
        id: 'failOrder',
        tag: 'Sandbox',
        summary: 'Fail an order, or what is left of it',
        description: 'The wallet gets back what it paid for the vouchers that were not delivered.',
        public: true,
        path: OrderPath,
        query: WorldQuery,
        body: { schema: OrderFailBody, optional: true, example: { failure_reason: 'Out of stock' } },
        success: orderSuccess('FAILED'),
        refusals: {
          ...bodyRefusals('order_fail', tooShort('failure_reason')),
          ...orderRefusals('order_fail', 'FAILED'),
        },
      }),
    )
}

const payoutSuccess = (status: string) =>
  ({
    status: 200,
    description: 'The payout as it is now',
    schema: PayoutState,
    example: { id: 'pyt_0mjvbk3w000000b8g4l0r3ya', status },
  }) as const

const orderSuccess = (status: string) =>
  ({ status: 200, description: 'The order as it is now', schema: IdOnly, example: { id: 1, status } }) as const

const onPayout = async (world: World, id: string, move: (tx: Tx, payout: Payout) => Payout) => {
  const moved = await world.db.write((tx) =>
    move(
      tx,
      found(
        ofEither((clientId) => findPayout(tx, clientId, id)),
        'payout',
      ),
    ),
  )
  return { id: moved.id, status: moved.status }
}

const onOrder = async (world: World, id: number, move: (tx: Tx, order: Order) => Order) => {
  const moved = await world.db.write((tx) =>
    move(
      tx,
      found(
        ofEither((clientId) => findOrder(tx, clientId, id)),
        'order',
      ),
    ),
  )
  return { id: moved.id, status: moved.status }
}

/** A record of either client of a world. */
const ofEither = <T>(find: (clientId: number) => T | undefined): T | undefined =>
  find(SANDBOX_CLIENT_IDS.sandbox) ?? find(SANDBOX_CLIENT_IDS.limited)

const minorOf = (field: string, amount: number, { currency, precision }: Currency): number => {
  const minor = toMinor(amount, precision)
  if (minor === undefined) throw violated(field, 'format', `must have at most the ${precision} decimals of ${currency}`)
  return minor
}
