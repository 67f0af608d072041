import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { findOffer, type Product } from '../catalog/product.ts'
import { productsById } from '../catalog/queries.ts'
import type { Query, Tx } from '../db/database.ts'
import { faultsIn, withoutByteOrderMark } from '../http/document.ts'
import { parseTimestamp } from '../kernel/clock.ts'
import { jsonIn } from '../kernel/json.ts'
import { FileFault } from '../kernel/problems.ts'
import { doPart } from '../kernel/turns.ts'
import type { Reference } from '../reference/reference.ts'
import { associatedDataInStock, type Cipher, seenOf, type VoucherCode } from './cipher.ts'
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

interface Importing {
  query: Query
  reference: Reference
  cipher: Cipher
  nowMs: number
  write: <T>(unit: (tx: Tx) => T) => Promise<T>
  /** A total of 0 means that the total is not known. */
  onProgress: (what: string, done: number, total: number) => void
  /** Called in the transaction that puts the codes up for sale. */
  onPublish: (tx: Tx, count: number) => void
}

/** This many rows are checked, written or removed at once, which takes some 5 ms: with 250, others wait three times as long. */
const ROWS_PER_UNIT = 100

/**
 * Adds the codes of a file to the stock: JSON lines, or one JSON array. All are checked before the first is written. They are written in small
 * transactions, so that others write in between, and the last one puts them up for sale (decision 31). Returns their number. Only one import
 * at a time may work on a folder. @throws FileFault with every bad row; it then adds nothing
 */
export const importCodes = async (file: string, importing: Importing): Promise<number> => {
  const { cipher, write, onProgress, onPublish } = importing
  while (await doPart(() => write((tx) => removeUnpublished(tx, ROWS_PER_UNIT))))
    onProgress('removing the codes of an interrupted import', 0, 0)
  const read = codeReader(importing)
  const count = await check(file, read, importing)
  let done = 0
  for (const rows of unitsOf(rowsIn(file), ROWS_PER_UNIT)) {
    const insert = (tx: Tx) => {
      for (const [place, sent] of rows) insertStock(tx, encrypted(read(sent), place, cipher))
    }
    await doPart(() => write(insert))
    done += rows.length
    onProgress('writing codes', done, count)
  }
  await write((tx) => {
    publishStock(tx)
    onPublish(tx, count)
  })
  return count
}

type ReadCode = ReturnType<typeof codeReader>

/** Returns the number of codes. @throws FileFault with every bad row, and every code that the file or the stock has already */
const check = async (file: string, read: ReadCode, { query, onProgress }: Importing): Promise<number> => {
  const problems: string[] = []
  const places = new Map<string, string>()
  const problemOf = (code: FileCode | string, place: string): string | undefined => {
    if (typeof code === 'string') return code
    const earlier = places.get(code.fingerprint)
    if (earlier !== undefined) return `card_number: the same as at ${earlier}`
    places.set(code.fingerprint, place)
    return isImported(query, code.fingerprint) ? 'card_number: was imported before' : undefined
  }
  for (const rows of unitsOf(rowsIn(file), ROWS_PER_UNIT)) {
    await doPart(() => {
      for (const [place, sent] of rows) {
        const problem = problemOf(read(sent), place)
        if (problem !== undefined) problems.push(`${place}: ${problem}`)
      }
    })
    onProgress(`checking codes: ${places.size}`, 0, 0)
  }
  if (problems.length > 0) throw new FileFault('codes', problems)
  return places.size
}

interface FileCode extends Pick<StockRow, 'productId' | 'denominationMinor' | 'fingerprint' | 'expiresAtMs'> {
  code: VoucherCode
}

/** Reads the rows of a file: each is a code, or the words for what is wrong with it. */
const codeReader = ({ query, reference, cipher, nowMs }: Importing) => {
  const form = TypeCompiler.Compile(CodeEntry)
  const products = new Map<number, Product | undefined>()
  return (sent: unknown): FileCode | string => {
    if (sent === undefined) return 'is not JSON'
    const [fault] = faultsIn(form, sent)
    if (fault) return `${fault.path.slice(1) || 'the row'}: ${fault.what}`
    const { product_id: productId, denomination, card_number: cardNumber, ...others } = sent as Static<typeof CodeEntry>
    const { pin_code: pinCode = null, claim_url: claimUrl = null, expires_at: expiresAt } = others
    const product = products.getOrInsertComputed(productId, (id) => productsById(query, reference, [id])[0])
    if (!product) return `product_id: no product has the id ${productId}`
    const denominationMinor = findOffer(product, denomination, 0)?.denominationMinor
    if (denominationMinor === undefined) return `denomination: product ${productId} does not offer it`
    const expiresAtMs = typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : null
    if (expiresAtMs === undefined) return 'expires_at: is not an RFC 3339 time'
    if (expiresAtMs !== null && expiresAtMs <= nowMs) return 'expires_at: is in the past'
    const fingerprint = cipher.fingerprint(cardNumber)
    if (fingerprint === undefined) return 'card_number: must contain more than spaces and dashes'
    const code = {
      cardNumber: seenOf(cardNumber),
      pinCode: pinCode && seenOf(pinCode),
      claimUrl: claimUrl && seenOf(claimUrl),
    }
    if (code.pinCode === '') return 'pin_code: must contain a visible character'
    if (code.claimUrl === '') return 'claim_url: must contain a visible character'
    return { productId, denominationMinor, fingerprint, expiresAtMs, code }
  }
}

/** @throws FileFault for a row that a check has refused */
const encrypted = (code: FileCode | string, place: string, cipher: Cipher) => {
  if (typeof code === 'string') throw new FileFault('codes', [`${place}: ${code}`])
  const { code: plain, ...row } = code
  const sealed = cipher.encryptCode(plain, associatedDataInStock(row))
  return { ...row, sealed, id: null, orderId: null, damagedAtMs: null }
}

type Row = [place: string, sent: unknown]

/** The rows of a file with their places: `line 3` of JSON lines, `/2` of an array. One that is not JSON is undefined: no message quotes it. */
function* rowsIn(file: string): Generator<Row> {
  const text = withoutByteOrderMark(file)
  if (/^\s*\[/.test(text)) {
    const list = jsonIn(text)
    yield* Array.isArray(list) ? list.map((sent, index): Row => [`/${index}`, sent]) : [['the file', undefined] as Row]
    return
  }
  for (let start = 0, number = 1; start < text.length; number += 1) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end === -1 ? undefined : end)
    if (line.trim() !== '') yield [`line ${number}`, jsonIn(line)]
    start = end === -1 ? text.length : end + 1
  }
}

function* unitsOf<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let unit: Item[] = []
  for (const item of items) {
    if (unit.push(item) < size) continue
    yield unit
    unit = []
  }
  if (unit.length > 0) yield unit
}
