import { DataFault, keep, moveKept, readKept } from '../db/data-folder.ts'
import type { Database, Query } from '../db/database.ts'
import { freshSecret } from '../kernel/ids.ts'
import { parseKey } from '../kernel/keys.ts'
import { SEAL_KEY_BYTES, Seal } from './seal.ts'
import { insertMark, markOf, nextMarkOf, sealingMark } from './stock-queries.ts'

/** The key that seals voucher codes: given by the operator, or kept in a file of the data folder (contract C12). */
const KEY_FILE = 'voucher.key'
/** The key that takes its place, while codes are being sealed anew. */
const NEXT_KEY_FILE = 'voucher.key.next'

/** Where a unit of work finds the seal that holds at this moment. */
export type SealSource = (query: Query) => Seal

/**
 * The seal of a database. The first key that a database is opened with is its key until it is rekeyed: a mark of it is
 * kept, so that another one is found out before it seals or opens anything.
 *
 * @param others keys that open codes as well, and never seal
 * @throws DataFault when the key is missing, damaged or another one
 */
export const openSeal = (
  database: Database,
  dataDir: string,
  given: Uint8Array | undefined,
  others: readonly Uint8Array[] = [],
): Seal =>
  database.fill((tx) => {
    if (markOf(tx) === undefined) {
      const key = given ?? kept(dataDir, KEY_FILE) ?? madeIn(dataDir)
      insertMark(tx, markFrom(key))
    }
    return sealAsMarked(tx, keysOf(dataDir, given), others)
  })

/**
 * The seals of live mode. A unit of work looks at the marks itself, so that nothing is sealed with a key that is being
 * replaced.
 *
 * @throws DataFault as {@link openSeal}
 */
export const liveSeals = (database: Database, dataDir: string, given: Uint8Array | undefined): SealSource => {
  let known = openSeal(database, dataDir, given)
  let { mark } = known
  return (query) => {
    const current = sealingMark(query)
    if (current === mark || current === undefined) return known
    known = sealAsMarked(query, keysOf(dataDir, given), [])
    mark = known.mark
    return known
  }
}

/** The keys that are at hand, the one that is given or kept for good first. */
export const keysOf = (dataDir: string | undefined, given: Uint8Array | undefined, next?: Uint8Array): Uint8Array[] => {
  const files = dataDir === undefined ? [] : [given ? undefined : kept(dataDir, KEY_FILE), kept(dataDir, NEXT_KEY_FILE)]
  return [given, ...files, next].filter((key) => key !== undefined)
}

/** @throws DataFault when one of the keys that the marks tell of is not at hand */
export const sealAsMarked = (query: Query, keys: readonly Uint8Array[], others: readonly Uint8Array[]): Seal => {
  const [mark, next] = [markOf(query), nextMarkOf(query)]
  const keyOf = (wanted: string | undefined) => keys.find((key) => markFrom(key) === wanted)
  const key = keyOf(mark)
  if (!key) throw new DataFault(keys.length === 0 ? `${KEY_FILE} is missing. ${WRONG_KEY}` : WRONG_KEY)
  if (next === undefined) return new Seal(key, others)
  const nextKey = keyOf(next)
  if (!nextKey) throw new DataFault(UNFINISHED)
  return new Seal(nextKey, [key, ...others])
}

/**
 * Whether the keys that are given or kept in a folder are those of a database: undefined when there is none yet.
 *
 * @throws DataFault when a kept one is damaged
 */
export const areKeysOf = (
  query: Query,
  dataDir: string | undefined,
  given: Uint8Array | undefined,
): boolean | undefined => {
  const keys = keysOf(dataDir, given)
  if (keys.length === 0) return undefined
  return [markOf(query), nextMarkOf(query)].every(
    (mark) => mark === undefined || keys.some((key) => markFrom(key) === mark),
  )
}

const WRONG_KEY =
  'The voucher key is not the one that sealed the codes of this database. Set that one with ' +
  `SCRIP_VOUCHER_KEY, SCRIP_VOUCHER_KEY_FILE or the file ${KEY_FILE} of the data folder.`
const UNFINISHED =
  'The codes are being sealed with another key, which is missing. Run scrip vouchers rekey again, with the old and the new key.'

const markFrom = (key: Uint8Array): string => new Seal(key).mark

const kept = (dataDir: string, file: string): Uint8Array | undefined => {
  const text = readKept(dataDir, file)?.toString('utf8')
  if (text === undefined) return undefined
  const key = parseKey(text, SEAL_KEY_BYTES)
  if (!key) throw new DataFault(`${file} is no key: ${SEAL_KEY_BYTES} bytes as hexadecimal digits or base64.`)
  return key
}

const madeIn = (dataDir: string): Uint8Array => {
  const key = freshSecret(SEAL_KEY_BYTES)
  keepAs(dataDir, KEY_FILE, key)
  return key
}

const keepAs = (dataDir: string, file: string, key: Uint8Array): void =>
  keep(dataDir, file, `${Buffer.from(key).toString('hex')}\n`)

/**
 * The key that takes the place of a folder's own: the one that an earlier run has left, one that is given, or a fresh one.
 *
 * @throws DataFault when another one is given than was left
 */
export const nextKeyIn = (dataDir: string, given: Uint8Array | undefined): Uint8Array => {
  const left = kept(dataDir, NEXT_KEY_FILE)
  if (left && given && markFrom(left) !== markFrom(given)) {
    throw new DataFault(
      `${NEXT_KEY_FILE} holds the new key of a run that was broken off: finish that without another key.`,
    )
  }
  const key = left ?? given ?? freshSecret(SEAL_KEY_BYTES)
  if (!left) keepAs(dataDir, NEXT_KEY_FILE, key)
  return key
}

/** Puts the new key of a folder in the place of the old one, and answers under what name that one is kept. */
export const promoteKey = (dataDir: string, time: string): string => {
  const before = `${KEY_FILE}.before-${time.replaceAll(':', '-')}`
  const old = readKept(dataDir, KEY_FILE)
  if (old) keep(dataDir, before, old)
  moveKept(dataDir, NEXT_KEY_FILE, KEY_FILE)
  return before
}
