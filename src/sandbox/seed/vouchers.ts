import { neverExpires } from '../../catalog/product.ts'
import { DAY_MS } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { IdSource } from '../../kernel/ids.ts'
import { sha256BytesOf } from '../../kernel/sha256.ts'
import { Cipher } from '../../orders/cipher.ts'
import { INSUFFICIENT_STOCK } from '../../orders/contract.ts'
import type { SuppliedVoucher, VoucherSupply } from '../../orders/supply.ts'
import type { World } from '../../work/world.ts'
import { giveBackTaken, setTaken, takenOf } from './queries.ts'

const CODE_LENGTH = 16
const PIN_LENGTH = 4
const VALIDITY_MS = 365 * DAY_MS

/** Generates voucher codes, as many as the catalog has in stock; they start with TEST (contract C12). */
export const generatedSupply = (
  validityOf: (world: World, productId: number) => string | undefined,
): VoucherSupply => ({
  covers: (query, _world, { id, stock }, _denominationMinor, quantity) =>
    stock === null || quantity <= stock - takenOf(query, id),
  take: (tx, _world, { quantity }, { id, stock }) => {
    if (stock === null) return
    const taken = takenOf(tx, id) + quantity
    if (taken > stock) throw new DomainError(INSUFFICIENT_STOCK)
    setTaken(tx, id, taken)
  },
  deliver: (_tx, world, { placedAtMs, productId }, quantity) =>
    Array.from({ length: quantity }, () => generatedVoucher(world.ids, placedAtMs, validityOf(world, productId))),
  giveBack: (tx, { productId, quantity, deliveredQuantity }) => {
    giveBackTaken(tx, productId, quantity - deliveredQuantity)
  },
})

const generatedVoucher = (ids: IdSource, placedAtMs: number, validity: string | undefined): SuppliedVoucher => {
  const cardNumber = `TEST${ids.letters(CODE_LENGTH - 4).toUpperCase()}`
  const pinCode = ids.letters(PIN_LENGTH).toUpperCase()
  const claimUrl = `https://claim.example/${cardNumber}`
  const expiresAtMs = neverExpires(validity) ? null : placedAtMs + VALIDITY_MS
  return { code: { cardNumber, pinCode, claimUrl }, expiresAtMs, stockId: null }
}

/**
 * The key of sandboxes in memory. It is public and the same in every process, so that every process can load a snapshot.
 * It protects only generated codes.
 */
export const SNAPSHOT_KEY = sha256BytesOf('voucher.key sandbox')

/** The cipher of a sandbox in memory. A given key decrypts what a data folder has encrypted. */
export const cipherInMemory = (envKey: Uint8Array | undefined): Cipher =>
  new Cipher(SNAPSHOT_KEY, envKey === undefined ? [] : [envKey])
