import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { secureRandomness } from '../kernel/ids.ts'
import type { Order, Voucher, voucherStock } from './tables.ts'

/** Stored sealed, and opened only for its owner (contract C12). */
export interface VoucherCode {
  cardNumber: string
  pinCode: string | null
  claimUrl: string | null
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const SEAL_KEY_BYTES = 32
/** Starts everything that is sealed, before the name of the key. */
const FORMAT = Buffer.from('scrip2')
const KEY_NAME_BYTES = 4
const PREFIX_BYTES = FORMAT.byteLength + KEY_NAME_BYTES

/** Spaces and dashes in a card number, which do not count. */
const NOT_COUNTED = /[\s\p{Pd}]/gu

/** Seals codes with AES-256-GCM as prefix, nonce, tag and sealed JSON. The place is authenticated with them. */
export class Seal {
  readonly #prefix: Buffer
  readonly #opening: readonly { key: Uint8Array; prefix: Buffer }[]

  constructor(
    private readonly key: Uint8Array,
    /** Keys that only open. */
    others: readonly Uint8Array[] = [],
  ) {
    for (const { byteLength } of [key, ...others]) {
      if (byteLength !== SEAL_KEY_BYTES) throw new RangeError(`the voucher key has ${SEAL_KEY_BYTES} bytes`)
    }
    this.#prefix = prefixOf(key)
    this.#opening = [key, ...others].map((each) => ({ key: each, prefix: prefixOf(each) }))
  }

  /** Identifies the key and reveals nothing else about it. */
  get mark(): string {
    return markOfKey(this.key)
  }

  /** The key of the audit's rows (contract C17). */
  get auditKey(): Buffer {
    return createHmac('sha256', this.key).update('the key of the audit').digest()
  }

  close(code: VoucherCode, place: string): Buffer {
    return this.closeText(JSON.stringify(code), place)
  }

  closeText(plain: string, place: string): Buffer {
    const nonce = secureRandomness.bytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(place))
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return Buffer.concat([this.#prefix, nonce, cipher.getAuthTag(), text])
  }

  /** Undefined if the key or the place is another one, or a byte has changed. */
  open(sealed: Uint8Array, place: string): VoucherCode | undefined {
    const text = this.openText(sealed, place)
    return text === undefined ? undefined : (JSON.parse(text) as VoucherCode)
  }

  openText(sealed: Uint8Array, place: string): string | undefined {
    const known = this.#opening.find(({ prefix }) => prefix.equals(sealed.subarray(0, PREFIX_BYTES)))
    return known && openWith(known.key, sealed.subarray(PREFIX_BYTES), place)
  }

  /** Identifies a card number regardless of case, spaces and dashes; undefined if it consists of nothing else. */
  fingerprint(cardNumber: string): string | undefined {
    const counted = cardNumber.normalize('NFKC').replace(NOT_COUNTED, '').toLowerCase()
    return counted === '' ? undefined : createHmac('sha256', this.key).update(`card ${counted}`).digest('hex')
  }
}

const markOfKey = (key: Uint8Array): string =>
  createHmac('sha256', key).update('the mark of a voucher key').digest('hex')

const prefixOf = (key: Uint8Array): Buffer =>
  Buffer.concat([FORMAT, Buffer.from(markOfKey(key), 'hex').subarray(0, KEY_NAME_BYTES)])

const openWith = (key: Uint8Array, sealed: Uint8Array, place: string): string | undefined => {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(place))
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    return text.toString('utf8')
  } catch {
    return undefined
  }
}

type StockPlace = Pick<typeof voucherStock.$inferSelect, 'productId' | 'denominationMinor' | 'fingerprint'>

export const placeInStock = ({ productId, denominationMinor, fingerprint }: StockPlace): string =>
  `stock ${productId} ${denominationMinor} ${fingerprint}`

export const placeInOrder = ({ clientId }: Pick<Order, 'clientId'>, voucher: Pick<Voucher, 'orderId' | 'reference'>) =>
  `voucher ${clientId} ${voucher.orderId} ${voucher.reference}`
