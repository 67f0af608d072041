import { DataFault } from '../db/data-folder.ts'
import type { Query, Tx } from '../db/database.ts'
import { resealResponse, type SealedResponse, storedResponses } from '../idempotency/queries.ts'
import { updateWebhook, type Webhook, webhooksAfter } from '../webhooks/queries.ts'
import { placeOfSecret } from '../webhooks/secrets.ts'
import { PREFIX_BYTES, placeInOrder, placeInStock, Seal } from './seal.ts'
import {
  insertNextMark,
  isFingerprintTaken,
  markOf,
  nextMarkOf,
  type StockRow,
  staleStock,
  staleVouchers,
  updateStock,
  updateVoucher,
} from './stock-queries.ts'

/** Reseals with the current key what an earlier key has sealed. Runs in small units beside a server, and can be resumed. */

const UNIT = 200

type Write = <T>(work: (tx: Tx) => T) => Promise<T>

interface Resealing {
  query: Query
  seal: Seal
  write: Write
  nowMs: number
  onRows?: (done: number) => void
}

/** What became of the rows that were not sealed with the current key. */
export interface Resealed {
  resealed: number
  /** They cannot be opened: they stay as they are, and are not for sale. */
  damaged: number
  /** Stock codes with the card number of an earlier one: they are not for sale. */
  twice: number
}

type Outcome = keyof Resealed

export const reseal = async (context: Resealing): Promise<Resealed> => {
  const { query, seal } = context
  const counts: Resealed = { resealed: 0, damaged: 0, twice: 0 }
  await resealRows(context, counts, (last) => staleStock(query, seal, last?.id ?? 0, UNIT), resealStock)
  await resealRows(context, counts, (last) => staleVouchers(query, seal, last?.id ?? 0, UNIT), resealVoucher)
  await resealRows(context, counts, (last) => storedResponses(query, last ?? BEFORE_FIRST, UNIT), resealStored)
  await resealRows(context, counts, (last) => webhooksAfter(query, last?.id ?? '', UNIT), resealSecrets)
  return counts
}

const BEFORE_FIRST = { clientId: 0, key: '' }

/** Reseals the rows of one table, one unit of work after the other. */
const resealRows = async <Row>(
  context: Resealing,
  counts: Resealed,
  after: (last?: Row) => Row[],
  resealRow: (tx: Tx, context: Resealing, row: Row) => Outcome | undefined,
): Promise<void> => {
  for (let rows = after(); rows.length > 0; rows = after(rows.at(-1))) {
    const outcomes = await context.write((tx) => rows.map((row) => resealRow(tx, context, row)))
    for (const outcome of outcomes) if (outcome) counts[outcome] += 1
    context.onRows?.(counts.resealed)
  }
}

const resealStock = (tx: Tx, { seal, nowMs }: Resealing, row: StockRow): Outcome => {
  const code = seal.open(row.sealed, placeInStock(row))
  const digest = code && seal.fingerprint(code.cardNumber)
  if (!code || digest === undefined) {
    updateStock(tx, row.id, { damagedAtMs: row.damagedAtMs ?? nowMs })
    return 'damaged'
  }
  const isTwice = isFingerprintTaken(tx, digest, row.id)
  const fingerprint = isTwice ? `${digest} ${row.id}` : digest
  updateStock(tx, row.id, {
    fingerprint,
    sealed: seal.close(code, placeInStock({ ...row, fingerprint })),
    damagedAtMs: isTwice ? (row.damagedAtMs ?? nowMs) : row.damagedAtMs,
  })
  return isTwice ? 'twice' : 'resealed'
}

const resealVoucher = (tx: Tx, { seal }: Resealing, row: ReturnType<typeof staleVouchers>[number]): Outcome => {
  const place = placeInOrder(row, row)
  const code = seal.open(row.sealed, place)
  if (!code) return 'damaged'
  updateVoucher(tx, row.id, seal.close(code, place))
  return 'resealed'
}

/** A stored response that cannot be opened is left to expire after 24 hours, and one without codes is not sealed. */
const resealStored = (tx: Tx, { seal }: Resealing, stored: SealedResponse): Outcome | undefined => {
  const sealed = Buffer.from(stored.body, 'base64')
  if (seal.prefix.equals(sealed.subarray(0, PREFIX_BYTES))) return undefined
  const json = seal.openText(sealed, stored.place)
  if (json === undefined) return undefined
  resealResponse(tx, stored, seal.closeText(json, stored.place).toString('base64'))
  return 'resealed'
}

/** The secrets of a webhook. One that cannot be opened is as good as lost: its client rotates it. */
const resealSecrets = (tx: Tx, { seal }: Resealing, webhook: Webhook): Outcome | undefined => {
  const isStale = (sealed: Buffer | null) => sealed !== null && !seal.prefix.equals(sealed.subarray(0, PREFIX_BYTES))
  if (!isStale(webhook.secret) && !isStale(webhook.previousSecret)) return undefined
  const place = placeOfSecret(webhook)
  const resealed = (sealed: Buffer) => {
    const secret = seal.openText(sealed, place)
    return secret === undefined ? sealed : seal.closeText(secret, place)
  }
  updateWebhook(tx, webhook, {
    secret: resealed(webhook.secret),
    previousSecret: webhook.previousSecret && resealed(webhook.previousSecret),
  })
  return 'resealed'
}

/**
 * From this transaction on, the new key seals. Returns whether anything is left to reseal.
 * @throws DataFault if a rekeying with another key was interrupted
 */
export const beginRekey = (tx: Tx, next: Uint8Array): boolean => {
  const { mark } = new Seal(next)
  const underway = nextMarkOf(tx)
  if (underway !== undefined && underway !== mark) throw new DataFault(OTHER_KEY)
  if (underway === undefined && markOf(tx) === mark) return false
  if (underway === undefined) insertNextMark(tx, mark)
  return true
}

const OTHER_KEY =
  'the codes are being sealed with another new key, by a run that was interrupted\nGive that key to finish it.'
