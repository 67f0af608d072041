import { passOnKeys } from '../audit/audit.ts'
import type { Tx } from '../db/database.ts'
import { resealResponse, storedResponses } from '../idempotency/queries.ts'
import { everyWebhook, updateWebhook } from '../webhooks/queries.ts'
import { placeOfSecret } from '../webhooks/secrets.ts'
import { findAnyOrder } from './queries.ts'
import { placeInOrder, placeInStock, type Seal } from './seal.ts'
import { everyCode, everyVoucher, updateMark, updateStock, updateVoucher } from './stock-queries.ts'

/** What became of what the old key had sealed. */
export interface Resealed {
  resealed: number
  /** They cannot be opened: they stay as they are, and are not for sale. */
  damaged: number
}

/** Seals everything with another key, in the transaction that makes it the key of the database. */
export const reseal = (tx: Tx, old: Seal, next: Seal, nowMs: number): Resealed => {
  const counts: Resealed = { resealed: 0, damaged: 0 }
  passOnKeys(tx, old, next)
  for (const row of everyCode(tx)) {
    const code = old.open(row.sealed, placeInStock(row))
    const fingerprint = code && next.fingerprint(code.cardNumber)
    if (!code || fingerprint === undefined) updateStock(tx, row.id, { damagedAtMs: row.damagedAtMs ?? nowMs })
    else updateStock(tx, row.id, { fingerprint, sealed: next.close(code, placeInStock({ ...row, fingerprint })) })
    counts[code ? 'resealed' : 'damaged'] += 1
  }
  for (const row of everyVoucher(tx)) {
    const order = findAnyOrder(tx, row.orderId)
    const place = order && placeInOrder(order, row)
    const code = place === undefined ? undefined : old.open(row.sealed, place)
    if (code && place !== undefined) updateVoucher(tx, row.id, next.close(code, place))
    counts[code ? 'resealed' : 'damaged'] += 1
  }
  for (const stored of storedResponses(tx)) {
    const json = stored.isSealed ? old.openText(Buffer.from(stored.body, 'base64'), stored.place) : undefined
    if (json === undefined) continue // one that cannot be opened expires after 24 hours
    resealResponse(tx, stored, next.closeText(json, stored.place).toString('base64'))
    counts.resealed += 1
  }
  for (const webhook of everyWebhook(tx)) {
    const place = placeOfSecret(webhook)
    // One that cannot be opened is as good as lost: its client rotates it.
    const resealed = (sealed: Buffer): Buffer => {
      const secret = old.openText(sealed, place)
      return secret === undefined ? sealed : next.closeText(secret, place)
    }
    const { secret, previousSecret } = webhook
    updateWebhook(tx, webhook, { secret: resealed(secret), previousSecret: previousSecret && resealed(previousSecret) })
    counts.resealed += 1
  }
  updateMark(tx, next.mark)
  return counts
}
