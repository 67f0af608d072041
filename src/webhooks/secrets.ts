import type { Query } from '../db/database.ts'
import type { Webhook } from './queries.ts'

/** Encrypts secrets at rest with the key of the voucher codes. */
interface SecretCipher {
  encrypt: (plain: string, associatedData: string) => Buffer
  /** Undefined if the key or the associated data does not match. */
  decrypt: (sealed: Uint8Array, associatedData: string) => string | undefined
}

type Owned = Pick<Webhook, 'id' | 'clientId'>

/** A secret is bound to its webhook: moved to another one, it cannot be decrypted. */
export const associatedDataOfSecret = ({ id, clientId }: Owned): string => `webhook ${clientId} ${id}`

export class Secrets {
  constructor(readonly cipherOf: (query: Query) => SecretCipher) {}

  encrypt(query: Query, webhook: Owned, secret: string): Buffer {
    return this.cipherOf(query).encrypt(secret, associatedDataOfSecret(webhook))
  }

  /** The secrets that sign at a time, the new one first. @throws Error if the key decrypts none of them */
  of(query: Query, webhook: Webhook, nowMs: number): string[] {
    const cipher = this.cipherOf(query)
    const { previousSecret, previousUntilMs } = webhook
    const isShared = previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs
    const sealed = isShared ? [webhook.secret, previousSecret] : [webhook.secret]
    const opened = sealed.flatMap((each) => cipher.decrypt(each, associatedDataOfSecret(webhook)) ?? [])
    if (opened.length === 0) throw new Error(`the secret of ${webhook.id} cannot be decrypted`)
    return opened
  }
}
