import type { Product } from '../catalog/product.ts'
import type { Query, Tx } from '../db/database.ts'
import { DomainError } from '../kernel/failure.ts'
import { isInDryRun } from '../work/dry-run.ts'
import type { World } from '../work/world.ts'
import { associatedDataInStock, type VoucherCode } from './cipher.ts'
import { INSUFFICIENT_STOCK } from './contract.ts'
import {
  areFree,
  freeCodes,
  freeSpoiled,
  freeUndelivered,
  markDamaged,
  reserveCode,
  type StockRow,
  waitingCodes,
} from './stock-queries.ts'
import type { Order } from './tables.ts'
import type { CipherSource } from './voucher-key.ts'

export interface SuppliedVoucher {
  code: VoucherCode
  expiresAtMs: number | null
  /** The id of its code in the stock; null without a stock. */
  stockId: number | null
}

/** The source of vouchers (contract C12). */
export interface VoucherSupply {
  /** True if this quantity is left for sale. */
  covers: (query: Query, world: World, product: Product, denominationMinor: number, quantity: number) => boolean
  /** Reserves vouchers for a new order, and returns them if they already have codes. @throws DomainError insufficient_stock */
  take: (tx: Tx, world: World, order: Order, product: Product) => SuppliedVoucher[] | undefined
  /** Returns the next reserved vouchers. @throws DomainError insufficient_stock */
  deliver: (tx: Tx, world: World, order: Order, quantity: number) => SuppliedVoucher[]
  /** Returns reserved vouchers to the stock. */
  giveBack: (tx: Tx, order: Order) => void
}

interface StockOptions {
  ciphers: CipherSource
  onDamaged: (code: { stockId: number; productId: number }) => void
}

/** The stock of live mode: imported codes, oldest first, each delivered once and none after its expiry. */
export const importedSupply = (options: StockOptions): VoucherSupply => ({
  covers: (query, world, { id: productId }, denominationMinor, quantity) =>
    areFree(query, { productId, denominationMinor }, world.clock.nowMs(), quantity),
  take: (tx, world, order) => reserveCodes(tx, world, options, order, order.quantity),
  deliver: (tx, world, order, quantity) => {
    const nowMs = world.clock.nowMs()
    const waiting = openCodes(tx, world, options, waitingCodes(tx, order, nowMs, quantity), quantity).sound
    if (waiting.length === quantity) return waiting
    const others = reserveCodes(tx, world, options, order, quantity - waiting.length)
    freeSpoiled(tx, order, nowMs)
    return [...waiting, ...others]
  },
  giveBack: freeUndelivered,
})

/** The number of further codes that are read at once after one that cannot be opened: there can be thousands of them. */
const BEHIND_DAMAGED = 250

/** @throws DomainError insufficient_stock */
const reserveCodes = (tx: Tx, world: World, options: StockOptions, order: Order, quantity: number): StockVoucher[] => {
  const nowMs = world.clock.nowMs()
  const passed: number[] = []
  for (let limit = quantity; ; limit = quantity + BEHIND_DAMAGED) {
    const free = freeCodes(tx, order, nowMs, limit)
    const { sound, damaged } = openCodes(tx, world, options, free, quantity)
    passed.push(...damaged)
    if (sound.length === quantity) {
      for (const { stockId: id } of sound) reserveCode(tx, { id, orderId: order.id })
      return sound
    }
    if (free.length < limit) {
      // The failure rolls the marks back, so they are written again separately. If that fails, they are found again.
      if (passed.length > 0 && !isInDryRun(world)) {
        world.db.write((after) => markDamaged(after, passed, nowMs)).catch(() => undefined)
      }
      throw new DomainError(INSUFFICIENT_STOCK)
    }
  }
}

type StockVoucher = SuppliedVoucher & { stockId: number }

/** Opens no more codes than the quantity. A code that cannot be opened is marked and never sold. */
const openCodes = (tx: Tx, world: World, { ciphers, onDamaged }: StockOptions, rows: StockRow[], quantity: number) => {
  const cipher = ciphers(tx)
  const sound: StockVoucher[] = []
  const damaged: StockRow[] = []
  for (const row of rows) {
    if (sound.length === quantity) break
    const code = cipher.decryptCode(row.sealed, associatedDataInStock(row))
    if (code) sound.push({ code, expiresAtMs: row.expiresAtMs, stockId: row.id })
    else damaged.push(row)
  }
  const ids = damaged.map(({ id }) => id)
  if (ids.length > 0) markDamaged(tx, ids, world.clock.nowMs())
  if (!isInDryRun(world)) for (const { id: stockId, productId } of damaged) onDamaged({ stockId, productId })
  return { sound, damaged: ids }
}
