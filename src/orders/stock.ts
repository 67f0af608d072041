import { type Static, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'

import { findProductRecord, type ProductRecord } from '../catalog/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { type Fault, faultsIn, unwritable, withoutByteOrderMark } from '../http/document.ts'
import { parseTimestamp } from '../kernel/clock.ts'
import { toMinor } from '../kernel/money.ts'
import { FileFault } from '../kernel/problems.ts'
import { inTurns } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { associatedDataInStock, type Cipher, type VoucherCode } from './cipher.ts'
import { insertStock, isImported, publishStock, removeUnpublished, type StockRow } from './stock-queries.ts'

/** The stock of live mode: codes that were bought elsewhere, encrypted when they are imported, each handed out once (contract C12). */

const CodeEntry = Type.Object(
  {
    product_id: Type.Integer({ minimum: 1 }),
    denomination: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }),
    card_number: Type.String({ minLength: 1, maxLength: 500 }),
    pin_code: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()])),
    claim_url: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 2_000 }), Type.Null()])),
    expires_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { additionalProperties: false },
)

export type EncryptedCode = Omit<StockRow, 'id' | 'orderId' | 'damagedAtMs'> & { place: string }

interface ReadingCodes {
  query: Query
  reference: Reference
  cipher: Cipher
  nowMs: number
  onRows?: (done: number) => void
}

/** Checks and ciphers the codes of a file, in parts: JSON lines or one JSON array. @throws FileFault with every bad row */
export function* readCodes(
  text: string,
  { query, reference, cipher, nowMs, onRows }: ReadingCodes,
): Generator<void, EncryptedCode[]> {
  const isEntry = TypeCompiler.Compile(CodeEntry)
  const problems: string[] = []
  const products = new Map<number, ProductRecord | undefined>()
  const codes: EncryptedCode[] = []
  const seen = new Map<string, string>()
  let count = 0
  for (const entry of parse(withoutByteOrderMark(text))) {
    const { place } = entry
    if (++count % ROWS_PER_PART === 0) {
      onRows?.(count)
      yield
    }
    const wrong = (what: string) => problems.push(`${place}: ${what}`)
    const value = checkedEntry(isEntry, entry)
    if (typeof value === 'string') {
      wrong(value)
      continue
    }
    const product = products.getOrInsertComputed(value.product_id, (id) => findProductRecord(query, id))
    const denominationMinor = product && offeredMinor(product, value, reference)
    const expiresAtMs = typeof value.expires_at === 'string' ? parseTimestamp(value.expires_at) : null
    const fingerprint = cipher.fingerprint(value.card_number)
    if (fingerprint === undefined) {
      wrong('card_number: must hold more than spaces and dashes')
      continue
    }
    const earlier = seen.get(fingerprint)
    seen.set(fingerprint, place)
    if (!product) wrong(`product_id: no product has the id ${value.product_id}`)
    else if (denominationMinor === undefined) wrong(`denomination: product ${value.product_id} does not offer it`)
    else if (expiresAtMs === undefined) wrong('expires_at: is not an RFC 3339 time')
    else if (expiresAtMs !== null && expiresAtMs <= nowMs) wrong('expires_at: is in the past')
    else if (earlier !== undefined) wrong(`card_number: the same as at ${earlier}`)
    else
      codes.push({
        place,
        productId: value.product_id,
        denominationMinor,
        fingerprint,
        sealed: cipher.encryptCode(
          codeOf(value),
          associatedDataInStock({ productId: value.product_id, denominationMinor, fingerprint }),
        ),
        expiresAtMs,
      })
  }
  if (problems.length > 0) throw new FileFault('codes', problems)
  return codes
}

interface Importing {
  query: Query
  write: <T>(unit: (tx: Tx) => T) => Promise<T>
  onRows: (done: number) => void
  /** Called in the transaction that puts the codes up for sale. */
  onPublish: (tx: Tx) => void
}

/**
 * Adds codes to the stock in small transactions, so that others write in between, and puts them up for sale in the last one (decision 31).
 * Only one import at a time may work on a folder. @throws FileFault with all codes that the stock has; it then adds nothing
 */
export const importCodes = async (
  codes: readonly EncryptedCode[],
  { query, write, onRows, onPublish }: Importing,
): Promise<void> => {
  await write(removeUnpublished)
  await inTurns(requireNew(query, codes))
  for (let start = 0; start < codes.length; start += ROWS_PER_UNIT) {
    onRows(start)
    const rows = codes.slice(start, start + ROWS_PER_UNIT)
    await write((tx) => {
      for (const { place: _, ...row } of rows) insertStock(tx, { id: null, orderId: null, damagedAtMs: null, ...row })
    })
  }
  await write((tx) => {
    publishStock(tx)
    onPublish(tx)
  })
}

function* requireNew(query: Query, codes: readonly EncryptedCode[]): Generator<void, void> {
  const problems: string[] = []
  for (const [index, { place, fingerprint }] of codes.entries()) {
    if (isImported(query, fingerprint)) problems.push(`${place}: card_number: was imported before`)
    if (index % ROWS_PER_PART === 0) yield
  }
  if (problems.length > 0) throw new FileFault('codes', problems)
}

/** A transaction with this many rows takes some 10 ms. */
const ROWS_PER_UNIT = 250
/** The number of rows that are read in one turn of the event loop, which takes some milliseconds. */
const ROWS_PER_PART = 100

/** The value of a row, or the problem with its form. */
const checkedEntry = (isEntry: TypeCheck<typeof CodeEntry>, entry: Entry): Static<typeof CodeEntry> | string => {
  if ('problem' in entry) return entry.problem
  const { value } = entry
  if (!isEntry.Check(value)) return wordsOf(faultsIn(isEntry, value)) ?? 'is not of the form that is expected'
  return wordsOf(unwritable(value)) ?? value
}

const wordsOf = ([fault]: readonly Fault[]): string | undefined =>
  fault && `${fault.path.slice(1) || 'the row'}: ${fault.what}`

const codeOf = ({ card_number, pin_code, claim_url }: Static<typeof CodeEntry>): VoucherCode => ({
  cardNumber: card_number,
  pinCode: pin_code ?? null,
  claimUrl: claim_url ?? null,
})

const offeredMinor = (
  { row, bands }: ProductRecord,
  { denomination }: Static<typeof CodeEntry>,
  reference: Reference,
): number | undefined => {
  const minor = toMinor(denomination, reference.getCurrency(row.currencyId).precision)
  const isOffered =
    minor !== undefined && bands.some(({ minMinor, maxMinor }) => minor >= minMinor && minor <= maxMinor)
  return isOffered ? minor : undefined
}

/** A row of a file with its place: `line 3` of JSON lines, `/2` of an array. */
type Entry = { place: string } & ({ value: unknown } | { problem: string })

function* parse(text: string): Generator<Entry> {
  if (text.trimStart().startsWith('[')) {
    const list = read(text, 'the file')
    if ('value' in list && Array.isArray(list.value))
      yield* list.value.map((value: unknown, index) => ({ place: `/${index}`, value }))
    else yield list
    return
  }
  let number = 0
  for (const line of text.split('\n')) {
    number += 1
    if (line.trim() !== '') yield read(line, `line ${number}`)
  }
}

/** The parser's own message would quote the row, and a code with it. */
const read = (json: string, place: string): Entry => {
  try {
    return { place, value: JSON.parse(json) as unknown }
  } catch {
    return { place, problem: 'is not JSON' }
  }
}
