import type { Query } from '../db/database.ts'
import { everyWebhook } from '../webhooks/queries.ts'
import { associatedDataOfSecret } from '../webhooks/secrets.ts'
import { associatedDataInOrder, associatedDataInStock, type Cipher } from './cipher.ts'
import { everyCode, everyOwnedVoucher } from './stock-queries.ts'

/** The codes and secrets that their key does not decrypt, for `scrip verify`. A code that is known to be damaged is left out. */
export const undecryptableIn = (query: Query, cipher: Cipher): string[] => {
  const faults: string[] = []
  const check = (sealed: Uint8Array | null, associatedData: string, name: string): void => {
    if (sealed && cipher.decrypt(sealed, associatedData) === undefined) faults.push(`${name} cannot be decrypted`)
  }
  for (const code of everyCode(query))
    if (code.damagedAtMs === null) check(code.sealed, associatedDataInStock(code), `code ${code.id} of the stock`)
  for (const voucher of everyOwnedVoucher(query))
    check(voucher.sealed, associatedDataInOrder(voucher, voucher), `voucher ${voucher.reference}`)
  for (const webhook of everyWebhook(query)) {
    const associatedData = associatedDataOfSecret(webhook)
    for (const secret of [webhook.secret, webhook.previousSecret])
      check(secret, associatedData, `the secret of webhook ${webhook.id}`)
  }
  return faults
}
