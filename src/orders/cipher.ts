import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { secureRandomness } from '../kernel/ids.ts'
import type { Order, Voucher, voucherStock } from './tables.ts'

/** A voucher code, stored encrypted and decrypted only for its owner (contract C12). */
export interface VoucherCode {
  cardNumber: string
  pinCode: string | null
  claimUrl: string | null
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const VOUCHER_KEY_BYTES = 32
/** The start of every ciphertext, before the name of the key. */
const FORMAT = Buffer.from('scrip2')
const KEY_NAME_BYTES = 4
const PREFIX_BYTES = FORMAT.byteLength + KEY_NAME_BYTES

/** Signs that nobody sees: format characters, code points that are ignored by default, and controls other than spaces. */
const UNSEEN = /[\p{Cf}\p{DI}]|(?!\s)\p{Cc}/gu

/** A text without the signs that nobody sees, which would make two codes of one. */
export const seenOf = (text: string): string => text.replace(UNSEEN, '')

/** Spaces and dashes in a card number, which are ignored, with the blank of Braille and the minus sign. */
const NOT_COUNTED = /[\s\u2800\p{Pd}\u2212]/gu

/** Encrypts codes with AES-256-GCM as prefix, nonce, tag and ciphertext of the JSON. The associated data binds them to their owner. */
export class Cipher {
  readonly #prefix: Buffer
  readonly #decrypting: readonly { key: Uint8Array; prefix: Buffer }[]

  constructor(
    private readonly key: Uint8Array,
    /** Keys that only decrypt. */
    others: readonly Uint8Array[] = [],
  ) {
    for (const { byteLength } of [key, ...others]) {
      if (byteLength !== VOUCHER_KEY_BYTES) throw new RangeError(`the voucher key has ${VOUCHER_KEY_BYTES} bytes`)
    }
    this.#prefix = prefixOf(key)
    this.#decrypting = [key, ...others].map((each) => ({ key: each, prefix: prefixOf(each) }))
  }

  /** Identifies the key and reveals nothing else about it. */
  get mark(): string {
    return markOfKey(this.key)
  }

  /** The key of the audit's rows (contract C17). */
  get auditKey(): Buffer {
    return createHmac('sha256', this.key).update('the key of the audit').digest()
  }

  encryptCode(code: VoucherCode, associatedData: string): Buffer {
    return this.encrypt(JSON.stringify(code), associatedData)
  }

  encrypt(plain: string, associatedData: string): Buffer {
    const nonce = secureRandomness.bytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(associatedData))
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return Buffer.concat([this.#prefix, nonce, cipher.getAuthTag(), text])
  }

  /** Undefined if the key or the associated data does not match, or a byte has changed. */
  decryptCode(encrypted: Uint8Array, associatedData: string): VoucherCode | undefined {
    const text = this.decrypt(encrypted, associatedData)
    return text === undefined ? undefined : (JSON.parse(text) as VoucherCode)
  }

  decrypt(encrypted: Uint8Array, associatedData: string): string | undefined {
    const known = this.#decrypting.find(({ prefix }) => prefix.equals(encrypted.subarray(0, PREFIX_BYTES)))
    return known && decryptWith(known.key, encrypted.subarray(PREFIX_BYTES), associatedData)
  }

  /** Identifies a card number regardless of case, spaces, dashes and unseen signs; undefined if it consists of nothing else. */
  fingerprint(cardNumber: string): string | undefined {
    const shown = seenOf(seenOf(cardNumber).normalize('NFKC'))
    const counted = shown.replace(NOT_COUNTED, '').toLowerCase().normalize('NFKC')
    return counted === '' ? undefined : createHmac('sha256', this.key).update(`card ${counted}`).digest('hex')
  }
}

const markOfKey = (key: Uint8Array): string =>
  createHmac('sha256', key).update('the mark of a voucher key').digest('hex')

const prefixOf = (key: Uint8Array): Buffer =>
  Buffer.concat([FORMAT, Buffer.from(markOfKey(key), 'hex').subarray(0, KEY_NAME_BYTES)])

const decryptWith = (key: Uint8Array, encrypted: Uint8Array, associatedData: string): string | undefined => {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, NONCE_BYTES)).setAAD(
      Buffer.from(associatedData),
    )
    decipher.setAuthTag(encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    return text.toString('utf8')
  } catch {
    return undefined
  }
}

type CodeInStock = Pick<typeof voucherStock.$inferSelect, 'productId' | 'denominationMinor' | 'fingerprint'>

export const associatedDataInStock = ({ productId, denominationMinor, fingerprint }: CodeInStock): string =>
  `stock ${productId} ${denominationMinor} ${fingerprint}`

export const associatedDataInOrder = (
  { clientId }: Pick<Order, 'clientId'>,
  voucher: Pick<Voucher, 'orderId' | 'reference'>,
) => `voucher ${clientId} ${voucher.orderId} ${voucher.reference}`
