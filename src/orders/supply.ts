import type { Product } from '../catalog/product.ts'
import type { Query, Tx } from '../db/database.ts'
import { DomainError } from '../kernel/failure.ts'
import { isInDryRun } from '../worlds/dry-run.ts'
import type { World } from '../worlds/world.ts'
import { INSUFFICIENT_STOCK } from './contract.ts'
import { placeInStock, type Seal, type VoucherCode } from './seal.ts'
import {
  areFree,
  freeCodes,
  freeSpoiled,
  freeUndelivered,
  markDamaged,
  type StockRow,
  updateStock,
  waitingCodes,
} from './stock-queries.ts'
import type { Order } from './tables.ts'
import type { SealSource } from './voucher-key.ts'

export interface SuppliedVoucher {
  code: VoucherCode
  expiresAtMs: number | null
  /** Its code in the stock; null when there is no stock. */
  stockId: number | null
}

/** Where vouchers come from (contract C12). */
export interface VoucherSupply {
  /** Whether this many are left for sale. */
  covers: (query: Query, world: World, product: Product, denominationMinor: number, quantity: number) => boolean
  /** Reserves vouchers for a new order. @throws DomainError insufficient_stock */
  take: (tx: Tx, world: World, order: Order, product: Product) => void
  /** Returns the next reserved vouchers. @throws DomainError insufficient_stock */
  deliver: (tx: Tx, world: World, order: Order, quantity: number) => SuppliedVoucher[]
  /** Returns reserved vouchers to the stock. */
  giveBack: (tx: Tx, order: Order) => void
}

interface StockOptions {
  seals: SealSource
  onDamaged: (code: { stockId: number; productId: number }) => void
}

/** The stock of live mode: imported codes, oldest first, each delivered once and none after its expiry. */
export const importedSupply = (options: StockOptions): VoucherSupply => ({
  covers: (query, world, { id: productId }, denominationMinor, quantity) =>
    areFree(query, { productId, denominationMinor }, world.clock.nowMs(), quantity),
  take: (tx, world, order) => reserveCodes(tx, world, options, order, order.quantity),
  deliver: (tx, world, order, quantity) => {
    const waiting = waitingFor(tx, world, options, order, quantity)
    if (waiting.length === quantity) return waiting
    reserveCodes(tx, world, options, order, quantity - waiting.length)
    freeSpoiled(tx, order, world.clock.nowMs())
    return waitingFor(tx, world, options, order, quantity)
  },
  giveBack: freeUndelivered,
})

/** Codes that are read at once behind one that cannot be opened: where there is one, there can be thousands. */
const BEHIND_DAMAGED = 250

/** @throws DomainError insufficient_stock */
const reserveCodes = (tx: Tx, world: World, options: StockOptions, order: Order, quantity: number): void => {
  const nowMs = world.clock.nowMs()
  const seal = options.seals(tx)
  const passed: number[] = []
  for (let limit = quantity; ; limit = quantity + BEHIND_DAMAGED) {
    const free = freeCodes(tx, order, nowMs, limit)
    const sound: StockRow[] = []
    const damaged: StockRow[] = []
    for (const row of free) {
      if (sound.length === quantity) break
      if (codeOf(seal, row)) sound.push(row)
      else damaged.push(row)
    }
    reportDamage(tx, world, options, damaged)
    passed.push(...damaged.map(({ id }) => id))
    if (sound.length === quantity) {
      for (const { id } of sound) updateStock(tx, id, { orderId: order.id })
      return
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

const waitingFor = (tx: Tx, world: World, options: StockOptions, order: Order, quantity: number): SuppliedVoucher[] => {
  const rows = waitingCodes(tx, order, world.clock.nowMs(), quantity)
  const seal = options.seals(tx)
  const opened = rows.map((row) => ({ row, code: codeOf(seal, row) }))
  reportDamage(
    tx,
    world,
    options,
    opened.flatMap(({ row, code }) => (code ? [] : [row])),
  )
  return opened.flatMap(({ row, code }) => (code ? [{ code, expiresAtMs: row.expiresAtMs, stockId: row.id }] : []))
}

const codeOf = (seal: Seal, row: StockRow): VoucherCode | undefined => seal.open(row.sealed, placeInStock(row))

/** A code that cannot be opened is never sold. */
const reportDamage = (tx: Tx, world: World, { onDamaged }: StockOptions, damaged: readonly StockRow[]): void => {
  if (damaged.length === 0) return
  const ids = damaged.map(({ id }) => id)
  markDamaged(tx, ids, world.clock.nowMs())
  if (isInDryRun(world)) return
  for (const { id: stockId, productId } of damaged) onDamaged({ stockId, productId })
}
