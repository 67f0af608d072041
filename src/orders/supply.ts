import { and, asc, count, eq, isNull, not, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Product } from '../catalog/product.ts'
import type { Transaction } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import type { Seal } from './seal.ts'
import { type Order, stockTaken, voucherStock, vouchers } from './tables.ts'

/** A voucher that is about to be delivered. */
export interface SuppliedVoucher {
  sealed: Buffer
  expiresAtMs: number | null
}

/** Where vouchers come from (contract C12). */
export interface VoucherSupply {
  /** How many could still be sold; null when there is no end of them. */
  left: (tx: Transaction, world: World, product: Product, denominationMinor: number) => number | null
  /** Sets vouchers aside for an order that is being placed. @throws DomainError insufficient_stock */
  take: (tx: Transaction, order: Order, product: Product) => void
  /** Hands out the next vouchers that were set aside. @throws DomainError insufficient_stock */
  deliver: (tx: Transaction, world: World, order: Order, quantity: number) => SuppliedVoucher[]
  /** Takes back what was set aside and will not be delivered. */
  giveBack: (tx: Transaction, order: Order) => void
}

const CODE_LENGTH = 16
const PIN_LENGTH = 4
/** Made-up codes are good for a year. */
const SANDBOX_VALIDITY_MS = 365 * DAY_MS

/** The sandbox makes codes up, as many as the catalog counts; they start with TEST. */
export const sandboxSupply = (seal: Seal): VoucherSupply => ({
  left: (tx, _world, { id, stock }) => (stock === null ? null : Math.max(0, stock - takenOf(tx, id))),
  take: (tx, { quantity }, { id, stock }) => {
    if (stock === null) return
    const taken = takenOf(tx, id) + quantity
    if (taken > stock) throw new DomainError({ code: 'insufficient_stock' })
    tx.insert(stockTaken)
      .values({ productId: id, quantity: taken })
      .onConflictDoUpdate({ target: stockTaken.productId, set: { quantity: taken } })
      .run()
  },
  deliver: (_tx, world, { placedAtMs }, quantity) =>
    Array.from({ length: quantity }, () => {
      const cardNumber = `TEST${world.ids.letters(CODE_LENGTH - 4).toUpperCase()}`
      const pinCode = world.ids.letters(PIN_LENGTH).toUpperCase()
      const claimUrl = `https://claim.example/${cardNumber}`
      return { sealed: seal.close({ cardNumber, pinCode, claimUrl }), expiresAtMs: placedAtMs + SANDBOX_VALIDITY_MS }
    }),
  giveBack: (tx, { productId, quantity, deliveredQuantity }) => {
    tx.update(stockTaken)
      .set({ quantity: sql`${stockTaken.quantity} - ${quantity - deliveredQuantity}` })
      .where(eq(stockTaken.productId, productId))
      .run()
  },
})

const takenOf = (tx: Transaction, productId: number): number =>
  tx.select().from(stockTaken).where(eq(stockTaken.productId, productId)).limit(1).get()?.quantity ?? 0

/** Live mode hands out imported codes, each exactly once, the first imported first, and none that has expired. */
export const importedSupply: VoucherSupply = {
  left: (tx, world, { id: productId }, denominationMinor) =>
    tx
      .select({ count: count() })
      .from(voucherStock)
      .where(freeOf({ productId, denominationMinor }, world.clock.nowMs()))
      .get()?.count ?? 0,
  take: (tx, order) => setAside(tx, order, order.quantity, order.placedAtMs),
  deliver: (tx, world, order, quantity) => {
    const nowMs = world.clock.nowMs()
    const good = () =>
      tx
        .select({ sealed: voucherStock.sealed, expiresAtMs: voucherStock.expiresAtMs })
        .from(voucherStock)
        .where(and(waitingFor(tx, order), unexpired(nowMs)))
        .orderBy(asc(voucherStock.id))
        .limit(quantity)
        .all()
    const waiting = good()
    if (waiting.length === quantity) return waiting
    replaceExpired(tx, order, quantity - waiting.length, nowMs)
    return good()
  },
  giveBack: (tx, order) => {
    tx.update(voucherStock).set({ orderId: null }).where(waitingFor(tx, order)).run()
  },
}

/** @throws DomainError insufficient_stock */
const setAside = (tx: Transaction, order: Order, quantity: number, nowMs: number): void => {
  const free = tx
    .select({ id: voucherStock.id })
    .from(voucherStock)
    .where(freeOf(order, nowMs))
    .orderBy(asc(voucherStock.id))
    .limit(quantity)
    .all()
  if (free.length < quantity) throw new DomainError({ code: 'insufficient_stock' })
  for (const { id } of free) tx.update(voucherStock).set({ orderId: order.id }).where(eq(voucherStock.id, id)).run()
}

/** Codes that expired while their order waited give way to others. @throws DomainError insufficient_stock */
const replaceExpired = (tx: Transaction, order: Order, quantity: number, nowMs: number): void => {
  setAside(tx, order, quantity, nowMs)
  const expired = tx
    .select({ id: voucherStock.id })
    .from(voucherStock)
    .where(and(waitingFor(tx, order), not(unexpired(nowMs))))
    .orderBy(asc(voucherStock.id))
    .limit(quantity)
    .all()
  for (const { id } of expired) tx.update(voucherStock).set({ orderId: null }).where(eq(voucherStock.id, id)).run()
}

/** Codes that were set aside for an order and not delivered yet. */
const waitingFor = (tx: Transaction, { id }: Order) =>
  and(
    eq(voucherStock.orderId, id),
    notInArray(
      voucherStock.sealed,
      tx.select({ sealed: vouchers.sealed }).from(vouchers).where(eq(vouchers.orderId, id)),
    ),
  )

/** Codes that may be sold. */
const freeOf = ({ productId, denominationMinor }: Pick<Order, 'productId' | 'denominationMinor'>, nowMs: number) =>
  and(
    eq(voucherStock.productId, productId),
    eq(voucherStock.denominationMinor, denominationMinor),
    isNull(voucherStock.orderId),
    unexpired(nowMs),
  )

const unexpired = (nowMs: number): SQL => sql`coalesce(${voucherStock.expiresAtMs} > ${nowMs}, TRUE)`
