import type { Query } from '../db/database.ts'
import type { Webhook } from './queries.ts'

/** What encrypts secrets at rest: the key of the voucher codes. */
interface SecretSeal {
  closeText: (plain: string, place: string) => Buffer
  /** Undefined if the key or the place is another one. */
  openText: (sealed: Uint8Array, place: string) => string | undefined
}

type Owned = Pick<Webhook, 'id' | 'clientId'>

/** A secret is bound to its webhook: moved to another one, it does not open. */
export const placeOfSecret = ({ id, clientId }: Owned): string => `webhook ${clientId} ${id}`

export class Secrets {
  constructor(private readonly sealOf: (query: Query) => SecretSeal) {}

  seal(query: Query, webhook: Owned, secret: string): Buffer {
    return this.sealOf(query).closeText(secret, placeOfSecret(webhook))
  }

  /** Those that sign at a time, the new one first. @throws Error if none opens, because its key is another one */
  of(query: Query, webhook: Webhook, nowMs: number): string[] {
    const seal = this.sealOf(query)
    const { previousSecret, previousUntilMs } = webhook
    const isShared = previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs
    const sealed = isShared ? [webhook.secret, previousSecret] : [webhook.secret]
    const opened = sealed.flatMap((each) => seal.openText(each, placeOfSecret(webhook)) ?? [])
    if (opened.length === 0) throw new Error(`the secret of ${webhook.id} cannot be opened`)
    return opened
  }
}
