import { and, asc, count, eq, isNull, sql } from 'drizzle-orm'
import type { Product } from '../catalog/product.ts'
import type { Transaction } from '../db/database.ts'
import { DAY_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import type { World } from '../worlds/world.ts'
import type { Seal } from './seal.ts'
import { type Order, stockTaken, voucherStock } from './tables.ts'

/** A voucher that is about to be delivered. */
export interface SuppliedVoucher {
  sealed: Buffer
  expiresAtMs: number | null
}

/** Where vouchers come from (contract C12). */
export interface VoucherSupply {
  /** How many could still be sold; null when there is no end of them. */
  left: (tx: Transaction, product: Product, denominationMinor: number) => number | null
  /** Sets vouchers aside for an order that is being placed. @throws DomainError insufficient_stock */
  take: (tx: Transaction, order: Order, product: Product) => void
  /** Hands out the next vouchers that were set aside. */
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
  left: (tx, { id, stock }) => (stock === null ? null : Math.max(0, stock - takenOf(tx, id))),
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

/** Live mode hands out imported codes, each exactly once, the first imported first. */
export const importedSupply: VoucherSupply = {
  left: (tx, { id }, denominationMinor) =>
    tx.select({ count: count() }).from(voucherStock).where(freeOf(id, denominationMinor)).get()?.count ?? 0,
  take: (tx, { id: orderId, productId, denominationMinor, quantity }) => {
    const free = tx
      .select({ id: voucherStock.id })
      .from(voucherStock)
      .where(freeOf(productId, denominationMinor))
      .orderBy(asc(voucherStock.id))
      .limit(quantity)
      .all()
    if (free.length < quantity) throw new DomainError({ code: 'insufficient_stock' })
    for (const { id } of free) tx.update(voucherStock).set({ orderId }).where(eq(voucherStock.id, id)).run()
  },
  deliver: (tx, _world, { id, deliveredQuantity }, quantity) =>
    tx
      .select({ sealed: voucherStock.sealed, expiresAtMs: voucherStock.expiresAtMs })
      .from(voucherStock)
      .where(eq(voucherStock.orderId, id))
      .orderBy(asc(voucherStock.id))
      .limit(quantity)
      .offset(deliveredQuantity)
      .all(),
  giveBack: (tx, { id, deliveredQuantity }) => {
    const kept = tx
      .select({ id: voucherStock.id })
      .from(voucherStock)
      .where(eq(voucherStock.orderId, id))
      .orderBy(asc(voucherStock.id))
      .limit(Number.MAX_SAFE_INTEGER)
      .offset(deliveredQuantity)
      .all()
    for (const row of kept) tx.update(voucherStock).set({ orderId: null }).where(eq(voucherStock.id, row.id)).run()
  },
}

const freeOf = (productId: number, denominationMinor: number) =>
  and(
    eq(voucherStock.productId, productId),
    eq(voucherStock.denominationMinor, denominationMinor),
    isNull(voucherStock.orderId),
  )
