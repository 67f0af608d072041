import { createHash } from 'node:crypto'
import { DataFault, keep, readKept } from '../db/data-folder.ts'
import type { Database, Transaction } from '../db/database.ts'
import { freshSecret } from '../kernel/ids.ts'
import { parseKey } from '../kernel/keys.ts'
import { SEAL_KEY_BYTES, Seal } from './seal.ts'
import { voucherKey } from './tables.ts'

/** The key that seals voucher codes: given by the operator, or kept in a file of the data folder (contract C12). */
const KEY_FILE = 'voucher.key'

/**
 * What seals the codes of sandboxes in memory, the same in every process, so that what a snapshot holds can be read
 * wherever it is loaded. The codes are made up.
 */
const SANDBOX_KEY = createHash('sha256').update('voucher.key sandbox').digest()

/** The seal of a sandbox in memory; a key that is given opens what a data folder has sealed. */
export const sandboxSeal = (given: Uint8Array | undefined): Seal =>
  new Seal(SANDBOX_KEY, given === undefined ? [] : [given])

/**
 * The seal of a database. The first key that a database is opened with is its key for good: a mark of it is kept, so
 * that another one is found out before it seals or opens anything.
 *
 * @throws DataFault when the key is missing, damaged or another one
 */
export const openSeal = (
  { query }: Database,
  dataDir: string,
  given: Uint8Array | undefined,
  mode: 'sandbox' | 'live' = 'live',
): Seal =>
  query.transaction(
    (tx) => {
      const known = markOf(tx)
      const key = given ?? keptKey(dataDir) ?? freshKey(dataDir, known === undefined)
      // A folder may have begun with the snapshot of a sandbox in memory.
      const seal = new Seal(key, mode === 'sandbox' ? [SANDBOX_KEY] : [])
      if (known === undefined) tx.insert(voucherKey).values({ id: 1, mark: seal.mark }).run()
      else if (known !== seal.mark) throw new DataFault(WRONG_KEY)
      return seal
    },
    { behavior: 'immediate' },
  )

/**
 * Whether the key that is given or kept in a folder is the one of a database: undefined when there is none yet.
 *
 * @throws DataFault when the kept one is damaged
 */
export const isKeyOf = (
  mark: string,
  dataDir: string | undefined,
  given: Uint8Array | undefined,
): boolean | undefined => {
  const key = given ?? (dataDir === undefined ? undefined : keptKey(dataDir))
  return key && new Seal(key).mark === mark
}

/** The mark of the key that a database was sealed with, or undefined before the first. */
export const markOf = (tx: Transaction): string | undefined => tx.select().from(voucherKey).limit(1).get()?.mark

const WRONG_KEY =
  'The voucher key is not the one that sealed the codes of this database. Give that one, in ' +
  `SCRIP_VOUCHER_KEY, in the file that SCRIP_VOUCHER_KEY_FILE names, or as ${KEY_FILE} in the data folder.`

const keptKey = (dataDir: string): Uint8Array | undefined => {
  const text = readKept(dataDir, KEY_FILE)?.toString('utf8')
  if (text === undefined) return undefined
  const key = parseKey(text, SEAL_KEY_BYTES)
  if (!key) throw new DataFault(`${KEY_FILE} is no key: ${SEAL_KEY_BYTES} bytes as hexadecimal digits or base64.`)
  return key
}

const freshKey = (dataDir: string, isNew: boolean): Uint8Array => {
  if (!isNew) throw new DataFault(`${KEY_FILE} is missing. ${WRONG_KEY}`)
  const key = freshSecret(SEAL_KEY_BYTES)
  keep(dataDir, KEY_FILE, `${Buffer.from(key).toString('hex')}\n`)
  return key
}
