import { DataFault } from '../db/data-folder.ts'
import type { Query, Tx } from '../db/database.ts'
import { resealAnswer, type SealedAnswer, sealedAnswers } from '../idempotency/queries.ts'
import { placeInOrder, placeInStock } from './places.ts'
import { PREFIX_BYTES, Seal } from './seal.ts'
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

/**
 * Seals everything anew with the key that seals now: what another key has sealed, and what an earlier release has, for no
 * place. In small units, so that a server goes on beside it, and resumed where it was broken off.
 */

/** How many rows one unit of work seals. */
const UNIT = 200

/** Runs a unit of work in a transaction of its own. */
type Write = <T>(work: (tx: Tx) => T) => Promise<T>

export interface Resealing {
  query: Query
  seal: Seal
  write: Write
  nowMs: number
  /** Hears how many rows are done. */
  onRows?: (done: number) => void
}

/** What became of the rows that were not sealed as they are now. */
export interface Resealed {
  resealed: number
  /** They cannot be opened: they stay as they are, and are not for sale. */
  damaged: number
  /** Codes of the stock whose card number is that of an earlier one: those that are left are not for sale. */
  twice: number
}

type Outcome = keyof Resealed

export const reseal = async (context: Resealing): Promise<Resealed> => {
  const counts: Resealed = { resealed: 0, damaged: 0, twice: 0 }
  await resealRows(
    context,
    counts,
    (after: number) => staleStock(context.query, context.seal, after, UNIT),
    resealStock,
    0,
    ({ id }) => id,
  )
  await resealRows(
    context,
    counts,
    (after: number) => staleVouchers(context.query, context.seal, after, UNIT),
    resealVoucher,
    0,
    ({ id }) => id,
  )
  const first = { clientId: 0, key: '' }
  await resealRows(
    context,
    counts,
    (after) => sealedAnswers(context.query, after, UNIT),
    resealKept,
    first,
    (row) => row,
  )
  return counts
}

/** The rows of one table, a unit of work after the other. */
const resealRows = async <Row, Place>(
  context: Resealing,
  counts: Resealed,
  next: (after: Place) => Row[],
  resealRow: (tx: Tx, context: Resealing, row: Row) => Outcome | undefined,
  start: Place,
  placeOf: (row: Row) => Place,
): Promise<void> => {
  let after = start
  for (let rows = next(after); ; rows = next(after)) {
    const last = rows.at(-1)
    if (last === undefined) return
    const outcomes = await context.write((tx) => rows.map((row) => resealRow(tx, context, row)))
    for (const outcome of outcomes) if (outcome) counts[outcome] += 1
    context.onRows?.(counts.resealed)
    after = placeOf(last)
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

/** An answer that is sealed as it should be, or cannot be opened, is left to its 24 hours. */
const resealKept = (tx: Tx, { seal }: Resealing, kept: SealedAnswer): Outcome | undefined => {
  const sealed = Buffer.from(kept.body, 'base64')
  if (seal.prefix.equals(sealed.subarray(0, PREFIX_BYTES))) return undefined
  const json = seal.openText(sealed, kept.place)
  if (json === undefined) return undefined
  resealAnswer(tx, kept, seal.closeText(json, kept.place).toString('base64'))
  return 'resealed'
}

/**
 * From this transaction on everything is sealed with a new key; answers whether anything is left to be sealed anew.
 *
 * @throws DataFault when a run to another key was broken off
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
  'The codes are being sealed with another new key, in a run that was broken off: give that one to finish it.'
