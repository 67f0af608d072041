import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { secureRandomness } from '../kernel/ids.ts'

/** What a voucher is worth its money for: kept sealed, and opened for its owner alone (contract C12). */
export interface VoucherCode {
  cardNumber: string
  pinCode: string | null
  claimUrl: string | null
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The length of the key, in bytes. */
export const SEAL_KEY_BYTES = 32

/** Seals codes with AES-256-GCM: a nonce, the tag, then the sealed JSON. */
export class Seal {
  constructor(
    private readonly key: Uint8Array,
    /** Opens what was sealed with these as well; nothing is sealed with them. */
    private readonly opens: readonly Uint8Array[] = [],
  ) {
    for (const { byteLength } of [key, ...opens]) {
      if (byteLength !== SEAL_KEY_BYTES) throw new RangeError(`the voucher key has ${SEAL_KEY_BYTES} bytes`)
    }
  }

  /** Tells this key from another one, and nothing more about it. */
  get mark(): string {
    return createHmac('sha256', this.key).update('the mark of a voucher key').digest('hex')
  }

  close(code: VoucherCode): Buffer {
    return this.closeText(JSON.stringify(code))
  }

  closeText(plain: string): Buffer {
    const nonce = secureRandomness.bytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.key, nonce)
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), text])
  }

  /** @throws Error when the key is another one, or a byte has changed */
  open(sealed: Uint8Array): VoucherCode {
    return JSON.parse(this.openText(sealed)) as VoucherCode
  }

  /** @throws Error when the key is another one, or a byte has changed */
  openText(sealed: Uint8Array): string {
    for (const key of this.opens) {
      try {
        return openWith(key, sealed)
      } catch {
        // Sealed with another key, most often with the own one.
      }
    }
    return openWith(this.key, sealed)
  }

  /** Tells two codes apart without opening them: the same code has the same fingerprint under this key. */
  fingerprint(productId: number, cardNumber: string): string {
    return createHmac('sha256', this.key).update(`${productId} ${cardNumber}`).digest('hex')
  }
}

const openWith = (key: Uint8Array, sealed: Uint8Array): string => {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  return text.toString('utf8')
}
