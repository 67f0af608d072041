import { Elysia } from 'elysia'
import type { Tx } from '../../db/database.ts'
import { DomainError, found, invalid, notFound, violated } from '../../kernel/failure.ts'
import { sizeFault, toMajor, toMinor } from '../../kernel/money.ts'
import { deliver, FAILED_REASON, failOrder, repaceOrders } from '../../orders/delivery.ts'
import { findAnyOrder, type Order } from '../../orders/queries.ts'
import { REFUNDED_REMARKS, refundVouchers } from '../../orders/refund.ts'
import { advance, applyEvent, repacePayouts } from '../../payouts/progress.ts'
import { findAnyPayout, type Payout } from '../../payouts/queries.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { findEnabledClient } from '../../sessions/queries.ts'
import { fund } from '../../wallets/ledger.ts'
import { setThreshold } from '../../wallets/publish.ts'
import { findAnyWallet, openWallet } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { getWorld } from '../worlds/operations.ts'
import { pace } from '../worlds/pace.ts'
import { keepPace } from '../worlds/queries.ts'
import { markWritten } from '../worlds/written.ts'
import * as operations from './operator-operations.ts'

/** A world that is about to be written, after all work that is due in it. @throws DomainError world_not_found */
export const presentWorld = async (parts: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = await caughtUpWorld(parts, name)
  markWritten(world)
  return world
}

/** A world after all work that is due in it. @throws DomainError world_not_found */
export const caughtUpWorld = async ({ worlds, due }: Pick<Parts, 'worlds' | 'due'>, name: string): Promise<World> => {
  const world = getWorld(worlds, name)
  await due.catchUp(world)
  return world
}

export const paceRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-pace' })
    .get('/pace', ({ query }) => getWorld(parts.worlds, query.world).of(pace), operations.getPace)
    .put(
      '/pace',
      async ({ query, body }) => {
        const world = await presentWorld(parts, query.world)
        const changed = Object.assign(world.of(pace), body)
        await world.db.write((tx) => {
          keepPace(tx, changed)
          repacePayouts(tx, parts.paying, world)
          repaceOrders(tx, parts.ordering.byClock, world)
        })
        return changed
      },
      operations.setPace,
    )

export const walletRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-wallets' })
    .post(
      '/wallets',
      async ({ query, body, set }) => {
        const { currency: code, type = 'PREPAID', credit_limit: creditLimit = 0 } = body
        const { client_id: clientId = SANDBOX_CLIENT_IDS.sandbox } = body
        const world = await presentWorld(parts, query.world)
        const currency = parts.reference.findCurrencyByCode(code)
        if (!currency) throw violated('currency', 'enum', operations.CURRENCY_PROBLEM)
        const creditLimitMinor = minorOf('credit_limit', creditLimit, currency)
        if (type === 'PREPAID' && creditLimitMinor > 0) {
          throw violated('credit_limit', 'max', 'must be 0 for a PREPAID wallet')
        }
        if (!findEnabledClient(world.db.query, clientId)) throw violated('client_id', 'enum', operations.CLIENT_PROBLEM)
        const opened = { clientId, currencyId: currency.id, type, creditLimitMinor }
        const { id } = await world.db.write((tx) => openWallet(tx, opened, world.clock.nowMs()))
        world.forgetDerived()
        set.headers.Location = `/api/v1/wallets/${id}`
        return { id, currency: currency.currency, amount: 0 }
      },
      operations.openWallet,
    )
    .post(
      '/wallets/:id/fund',
      async ({ params: { id }, query, body: { amount, remarks = null } }) => {
        const world = await presentWorld(parts, query.world)
        const wanted = findAnyWallet(world.db.query, id)
        const fault = sizeFault(amount, wanted ? parts.reference.getCurrency(wanted.currencyId).precision : 0)
        if (fault) throw new DomainError(invalid([{ field: 'amount', ...fault }]))
        const wallet = found(wanted, notFound('Wallet'))
        const currency = parts.reference.getCurrency(wallet.currencyId)
        const amountMinor = minorOf('amount', amount, currency)
        const cause = { remarks, nowMs: world.clock.nowMs() }
        const context = { world, reference: parts.reference }
        const funded = await world.db.write((tx) => fund(tx, context, wallet, amountMinor, cause))
        return { id, currency: currency.currency, amount: toMajor(funded.balanceAfterMinor, currency.precision) }
      },
      operations.fundWallet,
    )
    .patch(
      '/wallets/:id',
      async ({ params: { id }, query, body: { threshold } }) => {
        const world = await presentWorld(parts, query.world)
        return updateThreshold(world, parts.reference, id, threshold)
      },
      operations.updateWallet,
    )

/** @throws DomainError not_found, validation */
const updateThreshold = async (world: World, reference: Reference, id: number, threshold: number | undefined) => {
  const updated = await world.db.write((tx) => {
    const wallet = found(findAnyWallet(tx, id), notFound('Wallet'))
    const currency = reference.getCurrency(wallet.currencyId)
    const thresholdMinor = threshold === undefined ? null : minorOf('threshold', threshold, currency)
    return setThreshold(tx, { world, reference }, wallet, thresholdMinor)
  })
  const { currency, precision } = reference.getCurrency(updated.currencyId)
  const { amountMinor, thresholdMinor } = updated
  return {
    id,
    currency,
    amount: toMajor(amountMinor, precision),
    threshold: thresholdMinor === null ? null : toMajor(thresholdMinor, precision),
  }
}

/** @throws DomainError validation */
const minorOf = (field: string, amount: number, { currency, precision }: Currency): number => {
  const minor = toMinor(amount, precision)
  if (minor === undefined) throw violated(field, 'format', `must have at most the ${precision} decimals of ${currency}`)
  return minor
}

export const payoutRoutes = ({ paying, ...parts }: Parts) => {
  /** @throws DomainError world_not_found or not_found */
  const onPayout = async (name: string, id: string, move: (tx: Tx, payout: Payout, world: World) => Payout) => {
    const world = await presentWorld(parts, name)
    const { status } = await world.db.write((tx) => move(tx, found(findAnyPayout(tx, id), notFound('Payout')), world))
    return { id, status }
  }
  return new Elysia({ name: 'sandbox-payouts' })
    .post(
      '/payouts/:id/advance',
      ({ params, query, body: { to } }) =>
        onPayout(query.world, params.id, (tx, payout, world) =>
          advance(tx, paying, world, payout, to, byOperator(world)),
        ),
      operations.advancePayout,
    )
    .post(
      '/payouts/:id/fail',
      ({ params, query, body: { failure_code: failureCode, failure_reason: failureReason } }) =>
        onPayout(query.world, params.id, (tx, payout, world) =>
          applyEvent(tx, paying, world, payout, 'failed', { ...byOperator(world), failureCode, failureReason }),
        ),
      operations.failPayout,
    )
    .post(
      '/payouts/:id/return',
      ({ params, query, body: { failure_code: code, failure_reason: reason } }) =>
        onPayout(query.world, params.id, (tx, payout, world) => {
          const message = [code, reason].filter((part) => part !== undefined).join(': ') || undefined
          return applyEvent(tx, paying, world, payout, 'returned', { ...byOperator(world), message })
        }),
      operations.returnPayout,
    )
}

const byOperator = ({ clock }: World) => ({ actorType: 'operator', nowMs: clock.nowMs() }) as const

export const orderRoutes = ({ ordering, ...parts }: Parts) => {
  /** @throws DomainError world_not_found or not_found */
  const onOrder = async (name: string, id: number, move: (tx: Tx, order: Order, world: World) => Order) => {
    const world = await presentWorld(parts, name)
    const { status } = await world.db.write((tx) => move(tx, found(findAnyOrder(tx, id), notFound('Order')), world))
    return { id, status }
  }
  return new Elysia({ name: 'sandbox-orders' })
    .post(
      '/orders/:id/deliver',
      ({ params, query, body }) =>
        onOrder(query.world, params.id, (tx, order, world) =>
          deliver(tx, world, ordering, order, body.quantity ?? order.quantity, world.clock.nowMs()),
        ),
      operations.deliverOrder,
    )
    .post(
      '/orders/:id/fail',
      ({ params, query, body: { failure_reason: reason = FAILED_REASON } }) =>
        onOrder(query.world, params.id, (tx, order, world) =>
          failOrder(tx, world, ordering, order, reason, world.clock.nowMs()),
        ),
      operations.failOrder,
    )
    .post(
      '/orders/:id/refund',
      ({ params, query, body: { vouchers, remarks = REFUNDED_REMARKS } }) =>
        onOrder(query.world, params.id, (tx, order, world) => {
          const context = { world, reference: ordering.reference }
          return refundVouchers(tx, context, order, vouchers, remarks, world.clock.nowMs())
        }),
      operations.refundOrder,
    )
}
