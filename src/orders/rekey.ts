import { passOnKeys } from '../audit/audit.ts'
import type { Tx } from '../db/database.ts'
import { reencryptResponse, storedResponses } from '../idempotency/queries.ts'
import { everyWebhook, updateWebhook } from '../webhooks/queries.ts'
import { associatedDataOfSecret } from '../webhooks/secrets.ts'
import { associatedDataInOrder, associatedDataInStock, type Cipher } from './cipher.ts'
import { findAnyOrder } from './queries.ts'
import { everyCode, everyVoucher, updateMark, updateStock, updateVoucher } from './stock-queries.ts'

export interface Reencrypted {
  resealed: number
  /** The number of codes that cannot be decrypted. They stay as they are, and are not for sale. */
  damaged: number
}

/** Encrypts everything with another key, in the transaction that makes it the key of the database. */
export const reencrypt = (tx: Tx, old: Cipher, next: Cipher, nowMs: number): Reencrypted => {
  const counts: Reencrypted = { resealed: 0, damaged: 0 }
  passOnKeys(tx, old, next)
  for (const row of everyCode(tx)) {
    const code = old.decryptCode(row.sealed, associatedDataInStock(row))
    const fingerprint = code && next.fingerprint(code.cardNumber)
    if (!code || fingerprint === undefined) updateStock(tx, row.id, { damagedAtMs: row.damagedAtMs ?? nowMs })
    else
      updateStock(tx, row.id, {
        fingerprint,
        sealed: next.encryptCode(code, associatedDataInStock({ ...row, fingerprint })),
      })
    counts[code ? 'resealed' : 'damaged'] += 1
  }
  for (const row of everyVoucher(tx)) {
    const order = findAnyOrder(tx, row.orderId)
    const associatedData = order && associatedDataInOrder(order, row)
    const code = associatedData === undefined ? undefined : old.decryptCode(row.sealed, associatedData)
    if (code && associatedData !== undefined) updateVoucher(tx, row.id, next.encryptCode(code, associatedData))
    counts[code ? 'resealed' : 'damaged'] += 1
  }
  for (const stored of storedResponses(tx)) {
    const json = stored.isEncrypted ? old.decrypt(Buffer.from(stored.body, 'base64'), stored.associatedData) : undefined
    if (json === undefined) continue // one that cannot be decrypted expires after 24 hours
    reencryptResponse(tx, stored, next.encrypt(json, stored.associatedData).toString('base64'))
    counts.resealed += 1
  }
  for (const webhook of everyWebhook(tx)) {
    const associatedData = associatedDataOfSecret(webhook)
    // A secret that cannot be decrypted is lost: its client rotates it.
    const reencrypted = (encrypted: Buffer): Buffer => {
      const secret = old.decrypt(encrypted, associatedData)
      return secret === undefined ? encrypted : next.encrypt(secret, associatedData)
    }
    const { secret, previousSecret } = webhook
    updateWebhook(tx, webhook, {
      secret: reencrypted(secret),
      previousSecret: previousSecret && reencrypted(previousSecret),
    })
    counts.resealed += 1
  }
  updateMark(tx, next.mark)
  return counts
}
